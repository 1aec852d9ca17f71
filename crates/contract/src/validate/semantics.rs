//! Step 11 without a family: whether the fields can be true together (executor-contract.md 8.2).

use gates::json::{Json, Object, pointer};

use super::{Expectation, Problem, claims, number, participants, sorted, status, text};
use crate::model::{Envelope, EnvelopeKind, FieldType};

/// Times are whole seconds, so that a duration may be longer than their difference by less than one.
const DURATION_TOLERANCE_SECONDS: f64 = 1.0;
const EXIT_CODE_FIELD: &str = "cli_exit_code";

pub(super) fn problems(expectation: Expectation<'_>, fields: &Object) -> Vec<Problem> {
    let envelope = expectation.envelope();
    let mut problems = Vec::new();
    for field in envelope.nonnegative_fields() {
        if number(fields, field).is_some_and(|value| value < 0.0) {
            problems.push(Problem::of(field, format!("negative:{field}")));
        }
    }
    times(envelope, fields, &mut problems);
    counters(envelope, fields, &mut problems);
    if let (Some(pattern), Some(reason)) = (&envelope.reason_pattern, text(fields, "reason"))
        && !pattern.matches(reason)
    {
        problems.push(Problem::of("reason", "reason_is_not_a_stable_slug"));
    }
    if envelope.names(EXIT_CODE_FIELD)
        && number(fields, EXIT_CODE_FIELD)
            .is_some_and(|code| code.fract() != 0.0 || !(0.0..=255.0).contains(&code))
    {
        problems.push(Problem::of(EXIT_CODE_FIELD, "cli_exit_code_out_of_range"));
    }
    participants::problems(&expectation.contract.usage_accounting, fields, &mut problems);
    if let Some(family) = expectation.family {
        claims::problems(envelope, family, fields, &mut problems);
        if expectation.kind == EnvelopeKind::Status {
            status::problems(envelope, family, fields, &mut problems);
        }
    }
    sorted(problems)
}

fn times(envelope: &Envelope, fields: &Object, problems: &mut Vec<Problem>) {
    let Some([started_field, finished_field]) = &envelope.ordered_epoch_pair else { return };
    let (Some(started), Some(finished)) = (number(fields, started_field), number(fields, finished_field))
    else {
        return;
    };
    if finished < started {
        problems.push(Problem::of(finished_field, "timestamps_out_of_order"));
    }
    let window = finished - started + DURATION_TOLERANCE_SECONDS;
    if number(fields, "duration_seconds").is_some_and(|duration| duration > window) {
        problems.push(Problem::of("duration_seconds", "duration_exceeds_elapsed_window"));
    }
}

fn counters(envelope: &Envelope, fields: &Object, problems: &mut Vec<Problem>) {
    let (Some(field), Some(kind)) = (&envelope.token_counter_field, &envelope.token_counter_value_type)
    else {
        return;
    };
    let Some(counters) = fields.get(&**field).and_then(Json::as_object) else { return };
    for (key, value) in counters {
        let mut wrong = |words: String| {
            problems.push(Problem { words, at: pointer([&**field, key.as_str()]), id: None });
        };
        if !FieldType::of(kind).is_some_and(|kind| kind.accepts(value)) {
            wrong(format!("token_counter_is_not_a_{kind}:{key}"));
        }
        if value.as_f64().is_some_and(|count| count < 0.0) {
            wrong(format!("negative_token_counter:{key}"));
        }
    }
}
