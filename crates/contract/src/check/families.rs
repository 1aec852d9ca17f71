//! Rules of the families (executor-contract.md 7.5). The rules of their lanes are in [`lanes`](super::lanes).
//!
//! `F-1a` … `F-1j` are the lettered points of rule F-1; `F-1k` … `F-1r` its points on lanes, in the order of the
//! specification.

use gates::finding::Finding;
use gates::json::pointer;

use super::lanes;
use crate::model::{Contract, EnvelopeKind, Family};

/// The grade of usage that reports nothing.
const NO_USAGE: &str = "none";

pub(super) fn check(contract: &Contract) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (name, family) in &contract.families {
        Member { contract, name, family }.check(&mut findings);
    }
    lanes::check(contract, &mut findings);
    for (index, divergence) in contract.known_divergences.iter().enumerate() {
        let known = contract.families.contains_key(&*divergence.family)
            && EnvelopeKind::of(&divergence.envelope).is_some();
        if !known {
            let at = pointer(["known_divergences", &index.to_string()]);
            findings.push(Finding::new("F-3", at, "unknown family or envelope"));
        }
    }
    findings
}

/// One family.
#[derive(Clone, Copy)]
struct Member<'a> {
    contract: &'a Contract,
    name: &'a str,
    family: &'a Family,
}

impl Member<'_> {
    fn check(self, findings: &mut Vec<Finding>) {
        let Self { contract, family, .. } = self;
        let words = &contract.vocabularies;
        let identity = &family.identity;
        let mut demand = |rule: &'static str, key: &str, met: bool, detail: &str| {
            if !met {
                findings.push(Finding::new(rule, pointer(["families", self.name, key]), detail));
            }
        };
        let emitted: Vec<String> = family.exit_codes_emitted.iter().map(u32::to_string).collect();
        demand(
            "F-1a",
            "exit_codes_emitted",
            emitted.iter().all(|code| contract.exit_codes.contains_key(code))
                && contract.exit_codes.iter().all(|(code, entry)| !entry.universal || emitted.contains(code)),
            "an unknown code, or a universal one is missing",
        );
        demand("F-1b", "transport", words.transport_kinds.has(&family.transport), "not in transport_kinds");
        demand(
            "F-1c",
            "identity",
            identity.requested_model == family.model,
            "requested_model is not the model of the family",
        );
        demand(
            "F-1d",
            "identity",
            words.usage_participation_values.has(&identity.usage_participation)
                && words
                    .effective_content_identity_values
                    .contains_key(&*identity.effective_content_identity),
            "usage_participation or effective_content_identity is not in its vocabulary",
        );
        let participant = (
            identity.usage_participant_model.is_some(),
            identity.usage_participant_provider.is_some(),
            identity.usage_participant_canonical_model,
        );
        let expected = match &*identity.usage_participation {
            "first-party-model-usage" => (true, true, true),
            "model-usage-participants" => (true, false, false),
            _ => (false, false, false),
        };
        demand(
            "F-1e",
            "identity",
            participant == expected,
            "the participant does not fit usage_participation",
        );

        let guaranteed =
            |field: &str| family.envelope_fields.result.as_ref().is_some_and(|own| own.has(field));
        demand(
            "F-1f",
            "identity",
            (&*identity.effective_content_identity == "must-equal-requested")
                == guaranteed("effective_content_model"),
            "effective_content_identity does not fit the fields of a result",
        );
        demand(
            "F-1g",
            "identity",
            identity.identity_attested_field.as_deref().is_none_or(guaranteed),
            "identity_attested_field is no field of every result",
        );
        demand(
            "F-1h",
            "identity",
            identity.usage_participant_model.is_none()
                || guaranteed("usage_participants") && guaranteed("target_usage_participant_present"),
            "a participant is declared, but results do not always list participants",
        );
        let known = contract
            .known_divergences
            .iter()
            .any(|divergence| *divergence.family == *self.name && &*divergence.envelope == "result");
        demand(
            "F-1i",
            "identity",
            &*identity.usage_participation != NO_USAGE || known,
            "no usage, and no known divergence of its results says so",
        );
        for kind in EnvelopeKind::ALL {
            let envelope = contract.envelopes.get(kind);
            let fits = family.envelope_fields.get(kind).is_none_or(|fields| {
                fields.iter().all(|field| envelope.names(field))
                    && envelope.required.iter().all(|field| fields.has(field))
            });
            let detail = format!("{}: an undeclared field, or a required one is missing", kind.word());
            demand("F-1j", "envelope_fields", fits, &detail);
        }
    }
}
