//! The lists in the documentation are complete.

mod support;

use std::fs;
use std::path::{Path, PathBuf};

use record::failure::FailureCode;
use record::outcome::Note;
use record::words::ReasonCode;
use support::Lead;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_path_buf()
}

fn text(name: &str) -> String {
    fs::read_to_string(repository().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The words in the first column of a table.
fn first_column(markdown: &str) -> Vec<&str> {
    markdown.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect()
}

#[test]
fn every_failure_code_is_documented_with_its_exit_code() {
    let page = text("docs/integration.md");
    let documented = first_column(&page);
    for code in FailureCode::ALL {
        assert!(documented.contains(&code.as_str()), "{code} is not in docs/integration.md");
    }
}

#[test]
fn every_outcome_is_documented() {
    let outcomes = text("docs/outcomes.md");
    let documented = first_column(&outcomes);
    for code in ReasonCode::ALL {
        assert!(documented.contains(&code.as_str()), "{code} is not in docs/outcomes.md");
    }
    for note in Note::ALL {
        assert!(outcomes.contains(&format!("`{note}`")), "{note} is not in docs/outcomes.md");
    }
}

#[test]
fn every_command_and_flag_is_documented() {
    let commands = text("docs/commands.md");
    let lead = Lead::new();
    let help = lead.run(["help"]).stdout;
    let (_, listed) = help.split_once("Commands:\n").unwrap();
    for line in listed.lines().take_while(|line| !line.is_empty()) {
        let Some(word) =
            line.strip_prefix("  ").and_then(|line| line.split(' ').next()).filter(|word| !word.is_empty())
        else {
            continue;
        };
        assert!(commands.contains(&format!("[`{word}`]")), "{word} is not in docs/commands.md");
        for flag in lead.run(["help", word]).stdout.split_whitespace().filter(|flag| flag.starts_with("--")) {
            let flag = flag.trim_end_matches([',', ':', ';', '.', ')']);
            assert!(commands.contains(flag), "{word} {flag} is not in docs/commands.md");
        }
    }
}
