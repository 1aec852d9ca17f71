//! Rules of structure that the types can not hold (executor-contract.md 7.1).

use gates::finding::Finding;
use gates::json::pointer;

use super::executable::CONTROLS;
use super::same_set;
use crate::model::{Contract, Envelope, LanePatchPolicy};

pub(super) fn check(contract: &Contract) -> Vec<Finding> {
    let mut findings = Vec::new();
    for code in contract.exit_codes.keys() {
        if code.is_empty() || !code.bytes().all(|byte| byte.is_ascii_digit()) {
            findings.push(Finding::new("S-04", pointer(["exit_codes", code]), "not a decimal number"));
        }
    }
    envelopes(contract, &mut findings);
    usage(contract, &mut findings);
    controls(contract, &mut findings);
    for (family, _, name, lane) in contract.lanes() {
        let Some(block) = lane.patch_policy.as_ref().and_then(|block| block.as_object()) else { continue };
        for key in block.keys().filter(|key| !LanePatchPolicy::KEYS.contains(&key.as_str())) {
            let at = pointer(["families", family, "lanes", name, "patch_policy", key]);
            findings.push(Finding::new("S-11", at, "unknown key"));
        }
    }
    findings
}

fn envelopes(contract: &Contract, findings: &mut Vec<Finding>) {
    let mut demand = |kind: &str, key: &str, met: bool| {
        if !met {
            let detail = format!("a {kind} declaration needs it");
            findings.push(Finding::new("S-05", pointer(["envelopes", kind, key]), detail));
        }
    };
    let envelopes = &contract.envelopes;
    demand("status", "lane_status_fields", envelopes.status.lane_status_fields().next().is_some());
    demand("result", "ordered_epoch_pair", envelopes.result.ordered_epoch_pair.is_some());
    demand("result", "token_counter_value_type", envelopes.result.token_counter_value_type.is_some());
    demand("diagnostic", "reason_pattern", envelopes.diagnostic.reason_pattern.is_some());
    demand("diagnostic", "secrecy", envelopes.diagnostic.secrecy.is_some());
    let counted = |envelope: &Envelope| envelope.token_counter_field.is_some();
    let typed = |envelope: &Envelope| envelope.token_counter_value_type.is_some();
    demand("result", "token_counter_field", counted(&envelopes.result));
    for (kind, envelope) in [("status", &envelopes.status), ("diagnostic", &envelopes.diagnostic)] {
        demand(kind, "token_counter_field", counted(envelope) || !typed(envelope));
    }
}

fn usage(contract: &Contract, findings: &mut Vec<Finding>) {
    let usage = &contract.usage_accounting;
    for (key, names) in [
        ("required_participant_fields", &*usage.required_participant_fields),
        ("nonnegative_participant_fields", &*usage.nonnegative_participant_fields),
    ] {
        for name in names.iter().filter(|name| !usage.participant_fields.contains_key(*name)) {
            let at = pointer(["usage_accounting", key]);
            findings.push(Finding::new("S-06", at, format!("{name} is no participant field")));
        }
    }
}

fn controls(contract: &Contract, findings: &mut Vec<Finding>) {
    let controls = &contract.executable_gate_controls;
    let mut wrong = |key: &str, detail: &str| {
        findings.push(Finding::new("S-09", pointer(["executable_gate_controls", key]), detail));
    };
    let required = || controls.required_fields.iter().map(String::as_str);
    if !same_set(required(), CONTROLS) {
        wrong("required_fields", "not the ten controls that can be compared");
    }
    if !same_set(required(), controls.cross_checked_against.keys().map(String::as_str)) {
        wrong("cross_checked_against", "its keys are not the required fields");
    }
    if required().any(|field| controls.descriptive_fields.has(field)) {
        wrong("descriptive_fields", "a field is also required");
    }
    let isolation = || controls.isolation_cross_checked_against.keys();
    if isolation().next().is_none() {
        wrong("isolation_cross_checked_against", "empty");
    }
    if isolation().any(|field| !controls.descriptive_fields.has(field)) {
        wrong("isolation_cross_checked_against", "a field is not descriptive");
    }
    if isolation().any(|field| controls.required_fields.has(field)) {
        wrong("isolation_cross_checked_against", "a field is also required");
    }
}
