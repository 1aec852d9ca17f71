//! Step 11 with a family: claims of identity and usage that the family can make (executor-contract.md 8.3).

use gates::json::{Json, Object};

use super::participants::FIELD as PARTICIPANTS;
use super::{Problem, is_true, list, number, text};
use crate::model::{Envelope, Family};

const CONTENT_MODEL: &str = "effective_content_model";
const RUNTIME_MODEL: &str = "runtime_model";
const TARGET_PRESENT: &str = "target_usage_participant_present";
const USAGE_REPORTED: &str = "usage_reported";
const COST: &str = "provider_cost_usd";
/// The identity of families that know who wrote the content.
const MUST_EQUAL: &str = "must-equal-requested";
/// The grade of usage that reports nothing.
const NO_USAGE: &str = "none";

pub(super) fn problems(envelope: &Envelope, family: &Family, fields: &Object, problems: &mut Vec<Problem>) {
    let claims = Claims { envelope, family, fields };
    claims.models(problems);
    claims.usage(problems);
    claims.attestation(problems);
}

#[derive(Clone, Copy)]
struct Claims<'a> {
    envelope: &'a Envelope,
    family: &'a Family,
    fields: &'a Object,
}

impl Claims<'_> {
    fn models(self, problems: &mut Vec<Problem>) {
        let Self { family, fields, .. } = self;
        let mut claim = |field: &str, words: &str| problems.push(Problem::of(field, words));
        if text(fields, "requested_model").is_some_and(|model| model != &*family.model) {
            claim("requested_model", "requested_model");
        }
        if let Some(model) = text(fields, RUNTIME_MODEL) {
            match family.identity.runtime_model.as_deref() {
                None => claim(RUNTIME_MODEL, "runtime_model_is_not_declared_by_this_family"),
                Some(declared) if !self.is_runtime_model(model, declared) => {
                    claim(RUNTIME_MODEL, "runtime_model")
                }
                Some(_) => {}
            }
        }
        if let Some(content) = fields.get(CONTENT_MODEL).filter(|value| **value != Json::Null) {
            if &*family.identity.effective_content_identity == MUST_EQUAL {
                if *content != Json::from(&*family.model) {
                    claim(CONTENT_MODEL, "effective_content_model");
                }
            } else {
                claim(CONTENT_MODEL, "effective_content_model_is_not_reportable_by_this_family");
            }
            if let Some(billed) = &family.identity.usage_participant_model
                && *billed != family.model
                && *content == Json::from(&**billed)
            {
                claim(CONTENT_MODEL, "usage_identity_reported_as_content_identity");
            }
        }
    }

    fn is_runtime_model(self, model: &str, declared: &str) -> bool {
        match (self.family.runtime_model_prefix(), text(self.fields, "effort")) {
            (Some(prefix), Some(effort)) => model.strip_prefix(prefix) == Some(effort),
            (Some(prefix), None) => model.starts_with(prefix),
            (None, _) => model == declared,
        }
    }

    fn usage(self, problems: &mut Vec<Problem>) {
        let Self { family, fields, .. } = self;
        let identity = &family.identity;
        let participants = list(fields, PARTICIPANTS);
        let mut claim = |field: &str, words: &str| problems.push(Problem::of(field, words));

        let target = identity.usage_participant_model.as_deref().map(Json::from);
        if let Some(present) = fields.get(TARGET_PRESENT) {
            let seen = target.is_some()
                && participants.iter().any(|participant| participant.get("model") == target.as_ref());
            if *present != Json::Bool(seen) {
                claim(TARGET_PRESENT, "target_usage_participant_present");
            }
        }
        if identity.usage_participant_canonical_model && is_true(fields, TARGET_PRESENT) {
            let provider = identity.usage_participant_provider.as_deref().map(Json::from);
            let canonical = participants.iter().any(|participant| {
                participant.get("model") == target.as_ref()
                    && participant.get("canonical_model") == target.as_ref()
                    && participant.get("provider") == provider.as_ref()
            });
            if !canonical {
                claim(PARTICIPANTS, "usage_participant_canonical_identity");
            }
        }
        let counters_field = self.envelope.token_counter_field.as_deref().unwrap_or_default();
        let counted = fields.get(counters_field).and_then(Json::as_object).is_some_and(|counters| {
            counters.values().any(|count| count.as_f64().is_some_and(|count| count > 0.0))
        });
        if &*identity.usage_participation == NO_USAGE {
            if !participants.is_empty() {
                claim(PARTICIPANTS, "usage_participants_from_a_family_that_reports_no_usage");
            }
            if counted {
                claim(counters_field, "nonzero_tokens_from_a_family_that_reports_no_usage");
            }
            if number(fields, COST).is_some_and(|cost| cost > 0.0) {
                claim(COST, "nonzero_cost_from_a_family_that_reports_no_usage");
            }
        }
        if fields.get(USAGE_REPORTED) == Some(&Json::Bool(false)) {
            if !participants.is_empty() {
                claim(PARTICIPANTS, "usage_participants_with_usage_reported_false");
            }
            if counted {
                claim(counters_field, "nonzero_tokens_with_usage_reported_false");
            }
        }
    }

    fn attestation(self, problems: &mut Vec<Problem>) {
        let Self { family, fields, .. } = self;
        let Some(field) = family.identity.identity_attested_field.as_deref() else { return };
        if !is_true(fields, field) {
            return;
        }
        if &*family.identity.effective_content_identity == MUST_EQUAL
            && text(fields, CONTENT_MODEL) != Some(&*family.model)
        {
            problems.push(Problem::of(field, "identity_attested_without_an_effective_content_model"));
        }
        if family.identity.usage_participant_canonical_model && !is_true(fields, TARGET_PRESENT) {
            problems.push(Problem::of(field, "identity_attested_without_usage_participation"));
        }
    }
}
