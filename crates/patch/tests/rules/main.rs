//! One test per rule identifier: inputs on which it fires, and neighbours on which it does not.

#[path = "../support/mod.rs"]
mod support;

mod counts;
mod files;
mod grammar;
mod hardening;
mod paths;
mod worktree;

use std::collections::BTreeSet;

use patch::Rule;

/// Makes a test for each rule: every text of `fires` is refused by it, no text of `silent` is.
macro_rules! text_rules {
    ($($test:ident $id:literal { fires $fires:expr; silent $silent:expr; })*) => {
        $(#[test]
        fn $test() {
            let repository = crate::support::Repository::new();
            for text in $fires {
                crate::support::assert_fires(&repository.check(text), $id);
            }
            for text in $silent {
                crate::support::assert_silent(&repository.check(text), $id);
            }
        })*
        pub(crate) const TESTED: &[&str] = &[$($id,)*];
    };
}
pub(crate) use text_rules;

/// Rules that no input reaches while the stages before them stand; tests beside their code call them directly, and the
/// type of operations has no other value.
const DEFENSIVE: [&str; 3] = ["strip_level_underflow", "empty_path", "unknown_operation"];

#[test]
fn every_rule_has_its_test() {
    let mut tested: Vec<&str> = DEFENSIVE.to_vec();
    for part in
        [counts::TESTED, files::TESTED, grammar::TESTED, hardening::TESTED, paths::TESTED, worktree::TESTED]
    {
        tested.extend_from_slice(part);
    }
    let unique: BTreeSet<&str> = tested.iter().copied().collect();
    assert_eq!(unique.len(), tested.len(), "a rule is tested twice");
    let policy = support::embedded();
    let classes: Vec<String> =
        policy.policy.paths.denied_patterns.iter().map(|class| format!("denied_path:{}", class.id)).collect();
    let simple = Rule::ALL.iter().map(|rule| rule.id()).filter(|id| *id != "denied_path");
    let all: BTreeSet<&str> = simple.chain(classes.iter().map(String::as_str)).collect();
    assert_eq!(unique, all);
    // 77 of the kit, 27 of the hardening, and two settled later.
    assert_eq!(all.len(), 106);
}

#[test]
fn the_base_of_all_variations_is_accepted() {
    let repository = support::Repository::new();
    support::assert_accepted(&repository.check(support::GOOD));
    support::assert_accepted(&repository.check(support::BARE));
    support::assert_accepted(&repository.check(support::add("src/new.txt")));
}
