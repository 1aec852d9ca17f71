//! No input makes the router panic, and none passes that its types or rules refuse.

mod support;

use gates::central::CentralGate;
use gates::embedded::{CENTRAL_GATE_FILE, EVIDENCE_FILE};
use gates::evidence::Evidence;
use gates::executable::ExecutableGate;
use gates::json::parse;
use proptest::prelude::*;
use support::{Files, embedded_files, names};
use testkit::documents::{any_json, mutate};

const WORDS: [&str; 2] = ["provisional", "blocked"];

fn typed_model_refuses(name: &str, bytes: &[u8]) -> bool {
    parse(bytes).is_err()
        || parse(bytes).is_ok_and(|value| match name {
            CENTRAL_GATE_FILE => CentralGate::read(&value).is_err(),
            EVIDENCE_FILE => Evidence::read(&value).is_err(),
            _ => ExecutableGate::read(&value).is_err(),
        })
}

fn judged(files: &Files, name: &str) -> Result<(), TestCaseError> {
    let answer = files.ask(&["check", "--json"]);
    prop_assert!(answer.code == 0 || answer.code == 65, "{answer:?}");
    prop_assert!(!(answer.code == 0 && typed_model_refuses(name, files.bytes(name))));
    prop_assert!(parse(answer.stdout.as_bytes()).is_ok());
    prop_assert_eq!(answer.stderr.lines().count(), usize::from(answer.code != 0));
    Ok(())
}

proptest! {
    #[test]
    fn mutated_files(index in 0..8_usize, steps in prop::collection::vec(0..64_usize, 1..8), new in any_json(&WORDS)) {
        let name = names()[index];
        let mut files = embedded_files();
        let mut document = files.json(name);
        mutate(&mut document, &steps, new);
        files.put(name, document.pretty().into_bytes());
        judged(&files, name)?;
    }

    #[test]
    fn damaged_bytes(index in 0..8_usize, at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let name = names()[index];
        let mut files = embedded_files();
        let mut bytes = files.bytes(name).to_vec();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        files.put(name, bytes);
        judged(&files, name)?;
    }

    #[test]
    fn anything_at_all(index in 0..8_usize, value in any_json(&WORDS)) {
        let name = names()[index];
        let mut files = embedded_files();
        files.put(name, value.pretty().into_bytes());
        judged(&files, name)?;
    }

    #[test]
    fn parsing_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..256)) {
        let _ = parse(&bytes);
    }
}
