//! The documents say what the code does.

mod support;

use std::collections::BTreeMap;
use std::path::Path;

use patch::Rule;

fn document(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
    std::fs::read_to_string(path).expect("a document")
}

#[test]
fn every_rule_is_documented_with_its_sentence() {
    let text = document("patch-grammar.md");
    let mut rows: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in text.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<String> =
            line.trim_matches('|').split(" | ").map(|cell| cell.trim().replace("\\|", "|")).collect();
        assert_eq!(cells.len(), 4, "{line}");
        assert!(cells.iter().all(|cell| !cell.is_empty()), "{line}");
        let earlier = rows.insert(cells[0].trim_matches('`').to_owned(), cells);
        assert!(earlier.is_none(), "{line} is there twice");
    }
    for rule in Rule::ALL {
        let row = rows.remove(rule.id()).unwrap_or_else(|| panic!("{} has no row", rule.id()));
        assert_eq!(row[3], rule.ask(), "{}", rule.id());
    }
    assert!(rows.is_empty(), "rows without a rule: {rows:?}");
}

#[test]
fn each_rule_asks_one_sentence() {
    for rule in Rule::ALL {
        let ask = rule.ask();
        assert!(ask.ends_with('.') && ask.starts_with(char::is_uppercase), "{}", rule.id());
        assert!(!ask.trim_end_matches('.').contains(". "), "{}", rule.id());
    }
}

#[test]
fn the_embedded_policy_keeps_the_strict_rules() {
    let embedded = support::embedded();
    let strict = patch::LoadedPolicy::parse(embedded.json(), "strict".to_owned()).expect("a strict policy");
    assert_eq!(strict.policy.limits.named(), embedded.policy.limits.named());
    let limits = [1_048_576, 20_000, 50, 255, 200, 500, 4000, 20_000];
    assert_eq!(embedded.policy.limits.named().map(|(_, value)| value), limits);
    let operations = &embedded.policy.operations;
    assert_eq!(
        [&operations.add, &operations.modify, &operations.delete, &operations.rename, &operations.copy],
        ["allowed", "allowed", "denied-by-default", "denied", "denied"]
    );
    assert_eq!(embedded.policy.file_modes.new_file_allowed, ["100644"]);
    assert_eq!(embedded.policy.file_modes.existing_file_allowed, ["100644", "100755"]);
    assert_eq!(embedded.policy.paths.denied_patterns.len(), 15);
}
