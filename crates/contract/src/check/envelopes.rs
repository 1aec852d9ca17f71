//! Rules of the envelope declarations (executor-contract.md 7.4).

use gates::finding::Finding;
use gates::json::pointer;

use super::same_set;
use crate::model::{Contract, Envelope, EnvelopeKind, FieldType};

pub(super) fn check(contract: &Contract) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (field, kind) in &contract.usage_accounting.participant_fields {
        if FieldType::of(kind).is_none() {
            let at = pointer(["usage_accounting", "participant_fields", field]);
            findings.push(Finding::new("E-01", at, "no known type"));
        }
    }
    for kind in EnvelopeKind::ALL {
        let declaration = Declaration { contract, kind: kind.word(), envelope: contract.envelopes.get(kind) };
        declaration.check(&mut findings);
    }
    findings
}

/// The declaration of one kind.
#[derive(Clone, Copy)]
struct Declaration<'a> {
    contract: &'a Contract,
    kind: &'a str,
    envelope: &'a Envelope,
}

impl Declaration<'_> {
    fn check(self, findings: &mut Vec<Finding>) {
        let envelope = self.envelope;
        let mut wrong = |rule: &'static str, key: &str, detail: String| {
            findings.push(Finding::new(rule, pointer(["envelopes", self.kind, key]), detail));
        };
        if let Some(kind) = &envelope.token_counter_value_type
            && FieldType::of(kind).is_none()
        {
            wrong("E-01", "token_counter_value_type", "no known type".to_owned());
        }
        for field in envelope.required.iter().filter(|field| envelope.common_optional.has(field)) {
            wrong("E-02", "common_optional", format!("{field} is also required"));
        }
        let named = || envelope.required.iter().chain(envelope.common_optional.iter());
        if !same_set(named().map(String::as_str), envelope.field_types.keys().map(String::as_str)) {
            wrong("E-03", "field_types", "its keys are not the declared fields".to_owned());
        }
        for field in envelope.closed_value_fields() {
            if !envelope.names(field) {
                wrong("E-04", "closed_value_fields", format!("{field} is not declared"));
            }
            if self.contract.vocabularies.list(&format!("{field}_values")).is_none() {
                wrong("E-04", "closed_value_fields", format!("there is no vocabulary {field}_values"));
            }
        }
        for field in envelope.nonnegative_fields().iter().filter(|field| !envelope.names(field)) {
            wrong("E-05", "nonnegative_fields", format!("{field} is not declared"));
        }
        for field in envelope.ordered_epoch_pair.iter().flatten() {
            if !envelope.names(field) || !envelope.nonnegative_fields().iter().any(|own| **own == **field) {
                wrong("E-06", "ordered_epoch_pair", format!("{field} is not declared, or may be negative"));
            }
        }
        if let Some(field) = &envelope.token_counter_field
            && !envelope.names(field)
        {
            wrong("E-07", "token_counter_field", format!("{field} is not declared"));
        }
        for (field, statuses) in envelope.lane_status_fields() {
            if !envelope.names(field) {
                wrong("E-08", "lane_status_fields", format!("{field} is not declared"));
            }
            let known = &self.contract.vocabularies.qualification_status_values;
            for status in statuses.iter().filter(|status| !known.has(status)) {
                wrong("E-08", "lane_status_fields", format!("{status} is no status"));
            }
        }
        for (field, kind) in &envelope.field_types {
            if FieldType::of(kind).is_none() {
                wrong("E-09", "field_types", format!("{field} has no known type"));
            }
        }
    }
}
