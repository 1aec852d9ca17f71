//! Any bytes as an artifact of any kind and family: no panic, and nothing passes without its required fields.

#![no_main]

use std::sync::LazyLock;

use contract::embedded::CONTRACT;
use contract::model::{Contract, EnvelopeKind};
use contract::validate::{Expectation, fields, validate};
use gates::json::parse;
use libfuzzer_sys::fuzz_target;

static EMBEDDED: LazyLock<Contract> =
    LazyLock::new(|| Contract::read(&parse(CONTRACT.as_bytes()).expect("JSON")).expect("a contract"));

fuzz_target!(|data: &[u8]| {
    let Some((&choice, text)) = data.split_first() else { return };
    let contract = &*EMBEDDED;
    let kind = EnvelopeKind::ALL[usize::from(choice) % 3];
    let family = contract.families.values().nth(usize::from(choice) / 3 % 7);
    let Ok(artifact) = parse(text) else { return };
    let Ok(fields) = fields(&artifact) else { return };
    if validate(Expectation { contract, kind, family }, fields).is_ok() {
        assert!(contract.envelopes.get(kind).required.iter().all(|field| fields.contains_key(field)));
    }
});
