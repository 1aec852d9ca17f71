//! The list of models that were counted (executor-contract.md 8.2).

use gates::json::{Json, Object, pointer};

use super::{Problem, list, text};
use crate::model::{FieldType, UsageAccounting};

/// The field of the list.
pub(super) const FIELD: &str = "usage_participants";
const SOURCE_FIELD: &str = "usage_source";
/// The source that lists participants.
const SOURCE_BY_MODEL: &str = "model_usage";

pub(super) fn problems(usage: &UsageAccounting, fields: &Object, problems: &mut Vec<Problem>) {
    let participants = list(fields, FIELD);
    for (index, participant) in participants.iter().enumerate() {
        one(usage, index, participant, problems);
    }
    if text(fields, SOURCE_FIELD).is_some_and(|source| (source == SOURCE_BY_MODEL) == participants.is_empty())
    {
        problems.push(Problem::of(SOURCE_FIELD, "usage_source_contradicts_the_participant_list"));
    }
}

fn one(usage: &UsageAccounting, index: usize, participant: &Json, problems: &mut Vec<Problem>) {
    let index = index.to_string();
    let mut wrong = |key: Option<&str>, words: String| {
        let at = pointer([FIELD, index.as_str()].into_iter().chain(key));
        problems.push(Problem { words, at, id: None });
    };
    let Some(members) = participant.as_object() else {
        return wrong(None, "participant_is_not_an_object".to_owned());
    };
    if usage.required_participant_fields.iter().any(|field| !members.contains_key(field)) {
        return wrong(None, "participant_missing_required_field".to_owned());
    }
    if let Some(key) = members.keys().find(|key| !usage.participant_fields.contains_key(*key)) {
        wrong(Some(key), "participant_carries_an_undeclared_field".to_owned());
    }
    for (key, kind) in &usage.participant_fields {
        let Some(value) = members.get(key) else { continue };
        if !FieldType::of(kind).is_some_and(|kind| kind.accepts(value)) {
            wrong(Some(key), format!("participant_field_is_not_a_{kind}:{key}"));
        }
    }
    if text(members, "model").is_none_or(str::is_empty) {
        wrong(Some("model"), "participant_model_is_not_a_name".to_owned());
    }
    for key in usage.nonnegative_participant_fields.iter() {
        let Some(value) = members.get(key) else { continue };
        if value.as_f64().is_none_or(|count| count < 0.0) {
            wrong(Some(key), format!("participant_counter_is_not_nonnegative:{key}"));
        }
    }
}
