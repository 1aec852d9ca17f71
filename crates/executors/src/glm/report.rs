//! Metrics and diagnostics (runners.md 2.7, 2.8).

use gates::json::Json;
use serde_json::{Map, Value, json};

use super::GLM;
use super::stream::Stream;
use super::usage::{UNEXPECTED, shown};
use super::verdict::Answer;
use crate::common::clock::Start;
use crate::common::gate::Admitted;
use crate::common::report::members;
use crate::common::sandbox::LANDLOCK;

/// The subtypes of a result that a diagnostic repeats.
const SUBTYPES: &[&str] = &["success", "error_during_execution", "error_max_turns", "error_max_budget_usd"];

fn pins(admitted: &Admitted) -> Map<String, Value> {
    members(json!({
        "model": GLM.model,
        "backend": GLM.backend(),
        "effort": admitted.effort,
        "lane": admitted.lane,
    }))
}

pub(super) fn metrics(
    admitted: &Admitted,
    start: &Start,
    stream: &Stream,
    answer: &Answer,
) -> Map<String, Value> {
    let assistants = &stream.assistant_models;
    let named = assistants.iter().flatten();
    let effective = stream.effective_model();
    let mut metrics = pins(admitted);
    metrics.extend(members(json!({
        "requested_model": GLM.model,
        "observed_init_models": distinct(stream.init_models.iter().flatten()),
        "observed_assistant_models": distinct(named.clone()),
        "assistant_event_count": assistants.len(),
        "assistant_model_attributed_count": named.clone().filter(|model| *model == GLM.model).count(),
        "assistant_model_missing_or_malformed_count": assistants.len() - named.clone().count(),
        "assistant_model_mismatch_count": named.filter(|model| *model != GLM.model).count(),
        "effective_content_model": effective.map(|(model, _)| shown(model)),
        "effective_content_model_source": effective.map(|(_, source)| source),
        "exact_model_identity_attested": answer.is_attested,
        "started_at_epoch": start.epoch,
        "finished_at_epoch": start.finished_epoch(),
        "sandbox": LANDLOCK,
    })));
    metrics.extend(answer.usage.members());
    metrics
}

/// What became of the process beside its stream.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Seen {
    pub(super) cli_exit_code: Option<i32>,
    pub(super) stream_bytes: usize,
    pub(super) stderr_bytes: usize,
    pub(super) next_flush_time: Option<u64>,
}

pub(super) fn diagnostic(
    admitted: &Admitted,
    start: &Start,
    stream: &Stream,
    seen: Seen,
) -> Map<String, Value> {
    let subtype = stream.result.as_ref().and_then(|result| result.get("subtype"));
    let subtype = subtype.filter(|subtype| **subtype != Json::Null).map(|subtype| {
        let said = subtype.as_str().unwrap_or_default();
        SUBTYPES.iter().copied().find(|known| *known == said).unwrap_or(UNEXPECTED)
    });
    let models = stream.init_models.iter().chain(&stream.assistant_models).map(Option::as_deref);
    let models = models.chain(stream.result_models.iter().map(|model| Some(model.as_str())));
    let mut observed: Vec<&str> =
        models.map(|model| if model == Some(GLM.model) { GLM.model } else { UNEXPECTED }).collect();
    observed.sort_unstable();
    observed.dedup();
    let mut diagnostic = pins(admitted);
    diagnostic.extend(members(json!({
        "schema_version": 2,
        "cli_exit_code": seen.cli_exit_code,
        "result_subtype": subtype,
        "observed_models": observed,
        "event_stream": {"valid": stream.is_valid, "bytes": seen.stream_bytes, "counts": stream.counts},
        "stderr_bytes": seen.stderr_bytes,
        "elapsed_seconds": start.elapsed_seconds(),
        "next_flush_time": seen.next_flush_time,
    })));
    diagnostic
}

fn distinct<'a>(models: impl Iterator<Item = &'a String>) -> Vec<&'a str> {
    let mut distinct: Vec<&str> = Vec::new();
    for model in models.map(|model| shown(model)) {
        if !distinct.contains(&model) {
            distinct.push(model);
        }
    }
    distinct
}
