//! Rules of the vocabularies (executor-contract.md 7.2).

use gates::finding::Finding;
use gates::json::{Json, decode, pointer};

use super::same_set;
use crate::model::{Contract, PermissionClass};

/// The permission classes with what they write and return.
const CLASSES: [(&str, (bool, bool)); 3] =
    [("read-only", (false, false)), ("text-patch", (false, true)), ("worktree-edit", (true, false))];
/// Exit codes that every family uses.
const UNIVERSAL_CODES: [&str; 5] = ["64", "69", "70", "75", "78"];
/// The code of a caller's interruption, which not every family has.
const CANCELLED_CODE: &str = "130";
/// The code that is worth another try.
const RETRYABLE_CODE: &str = "75";
const STATUSES: [&str; 5] = ["disabled", "candidate", "provisional", "qualified", "manual-qualified"];
const SELECTIONS: [&str; 2] = ["blocked", "explicit-only"];
const CAPABILITIES: [&str; 2] = ["denied", "permission-mode-gated"];
const CONTENT_IDENTITIES: [&str; 2] = ["must-equal-requested", "not-reported"];
const USAGE_SOURCES: [&str; 2] = ["model_usage", "provider_aggregate"];
const PARTICIPANT_FIELDS: [&str; 10] = [
    "model",
    "canonical_model",
    "provider",
    "input_tokens",
    "output_tokens",
    "reasoning_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "model_calls",
    "cost_usd",
];

pub(super) fn check(contract: &Contract, central: &Json) -> Vec<Finding> {
    let mut findings = Vec::new();
    classes(contract, &mut findings);
    exit_codes(contract, &mut findings);
    words(contract, &mut findings);
    shared_words(contract, central, &mut findings);
    findings
}

fn pair(class: &PermissionClass) -> (bool, bool) {
    (class.worktree_writes, class.returns_patch)
}

fn classes(contract: &Contract, findings: &mut Vec<Finding>) {
    let classes = &contract.vocabularies.permission_classes;
    let at = "/vocabularies/permission_classes";
    if !same_set(classes.keys().map(String::as_str), CLASSES.map(|(name, _)| name)) {
        findings.push(Finding::new("V-01", at, "not the three permission classes"));
    }
    let pairs: Vec<_> = classes.values().map(pair).collect();
    if pairs.iter().enumerate().any(|(index, one)| pairs[..index].contains(one)) {
        findings.push(Finding::new("V-02", at, "two classes are not mutually exclusive"));
    }
    for (name, expected) in CLASSES {
        if classes.get(name).is_some_and(|class| pair(class) != expected) {
            let at = pointer(["vocabularies", "permission_classes", name]);
            findings.push(Finding::new("V-03", at, "not what this class writes and returns"));
        }
    }
    let governed = &contract.patch_policy.required_for_permission_class;
    let returning: Vec<&str> =
        classes.iter().filter(|(_, class)| class.returns_patch).map(|(name, _)| name.as_str()).collect();
    if returning != [&**governed] {
        let at = "/patch_policy/required_for_permission_class";
        findings.push(Finding::new("V-10", at, "not the one class that returns patches"));
    }
}

fn exit_codes(contract: &Contract, findings: &mut Vec<Finding>) {
    let codes = &contract.exit_codes;
    let expected = UNIVERSAL_CODES.into_iter().chain([CANCELLED_CODE]);
    if !same_set(codes.keys().map(String::as_str), expected) {
        findings.push(Finding::new("V-04", "/exit_codes", "not the six exit codes"));
    }
    let universal = codes.iter().filter(|(_, code)| code.universal).map(|(number, _)| number.as_str());
    if !same_set(universal, UNIVERSAL_CODES) {
        findings.push(Finding::new("V-05", "/exit_codes", "not the five universal codes"));
    }
    if !codes.get(RETRYABLE_CODE).is_some_and(|code| code.retryable) {
        findings.push(Finding::new("V-05", pointer(["exit_codes", RETRYABLE_CODE]), "must be retryable"));
    }
}

fn words(contract: &Contract, findings: &mut Vec<Finding>) {
    let words = &contract.vocabularies;
    let mut demand = |rule: &'static str, key: &str, met: bool| {
        if !met {
            findings.push(Finding::new(
                rule,
                pointer(["vocabularies", key]),
                "not the words of this vocabulary",
            ));
        }
    };
    let list = |names: &'_ [String], expected: &[&str]| {
        same_set(names.iter().map(String::as_str), expected.iter().copied())
    };
    demand("V-06", "qualification_status_values", list(&words.qualification_status_values, &STATUSES));
    demand("V-06", "selection_values", list(&words.selection_values, &SELECTIONS));
    demand(
        "V-07",
        "capability_values",
        same_set(words.capability_values.keys().map(String::as_str), CAPABILITIES),
    );
    demand(
        "V-07",
        "effective_content_identity_values",
        same_set(words.effective_content_identity_values.keys().map(String::as_str), CONTENT_IDENTITIES),
    );
    demand("V-07", "usage_source_values", list(&words.usage_source_values, &USAGE_SOURCES));
    let phases = !words.phase_values.is_empty() && words.phase_values.iter().all(|phase| is_phase(phase));
    demand("V-07", "phase_values", phases);

    let usage = &contract.usage_accounting;
    if !same_set(usage.participant_fields.keys().map(String::as_str), PARTICIPANT_FIELDS) {
        let at = "/usage_accounting/participant_fields";
        findings.push(Finding::new("V-08", at, "not the ten participant fields"));
    }
    if *usage.required_participant_fields != ["model"] {
        let at = "/usage_accounting/required_participant_fields";
        findings.push(Finding::new("V-08", at, "must be model alone"));
    }
}

fn is_phase(word: &str) -> bool {
    word.starts_with(|first: char| first.is_ascii_lowercase())
        && word.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-'))
}

/// The central gate uses the same words.
fn shared_words(contract: &Contract, central: &Json, findings: &mut Vec<Finding>) {
    let words = &contract.vocabularies;
    for (key, own) in
        [("status_values", &words.qualification_status_values), ("selection_values", &words.selection_values)]
    {
        let theirs = central.get(key).unwrap_or(&Json::Null);
        match decode::<Vec<String>>(theirs, &[key]) {
            Ok(theirs) if same_set(own.iter().map(String::as_str), theirs.iter().map(String::as_str)) => {}
            Ok(_) => {
                findings.push(Finding::new("V-09", pointer([key]), "the central gate uses other words"));
            }
            Err(fault) => findings.push(Finding::shape("V-09", fault)),
        }
    }
}
