//! Any bytes as a contract or a gate: no panic, and nothing passes that the types refuse.

#![no_main]

use std::sync::LazyLock;

use contract::check::check;
use contract::embedded::CONTRACT;
use contract::model::Contract;
use gates::central::CentralGate;
use gates::embedded::{CENTRAL_GATE_FILE, EVIDENCE_FILE, file};
use gates::evidence::Evidence;
use gates::executable::ExecutableGate;
use gates::family::FAMILIES;
use gates::json::{Json, parse};
use gates::rules::{self, Gates};
use gates::source::Environment;
use libfuzzer_sys::fuzz_target;

fn embedded(text: Option<&str>) -> Json {
    parse(text.expect("embedded").as_bytes()).expect("JSON")
}

static CENTRAL: LazyLock<Json> = LazyLock::new(|| embedded(file(CENTRAL_GATE_FILE)));
static EVIDENCE: LazyLock<Evidence> =
    LazyLock::new(|| Evidence::read(&embedded(file(EVIDENCE_FILE))).expect("evidence"));

fuzz_target!(|data: &[u8]| {
    let Some((&choice, text)) = data.split_first() else { return };
    let Ok(document) = parse(text) else { return };
    let environment = Environment { variable: &|_| None, installed: None };
    match choice % 4 {
        0 => {
            let passed = check(&document, &CENTRAL, &environment).is_ok();
            assert!(!passed || Contract::read(&document).is_ok());
        }
        1 => drop(check(&embedded(Some(CONTRACT)), &document, &environment)),
        2 => {
            let Ok(central) = CentralGate::read(&document) else { return };
            let executable: Vec<_> = FAMILIES
                .into_iter()
                .filter_map(|family| Some((family, ExecutableGate::read(&embedded(file(family.gate_file))).ok()?)))
                .collect();
            drop(rules::check(Gates { central: &central, evidence: &EVIDENCE, executable: &executable }));
        }
        _ => {
            let Ok(gate) = ExecutableGate::read(&document) else { return };
            let Ok(central) = CentralGate::read(&CENTRAL) else { return };
            let executable = [(FAMILIES[usize::from(choice) / 4 % 6], gate)];
            drop(rules::check(Gates { central: &central, evidence: &EVIDENCE, executable: &executable }));
        }
    }
});
