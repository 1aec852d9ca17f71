//! The `result` event: how the turn ended, its answer, and what it used (providers.md 4.4, 4.6, 4.11).

use record::json::{Object, Value};
use record::usage::{Usage, UsageReliability, UsageScope, UsageSource};

use crate::events::{Event, Fault};
use crate::limits::{USAGE_MODEL_NAME_MAX_BYTES, USAGE_MODELS_MAX_COUNT};
use crate::number::decimal_text;
use crate::screen;

/// What a `result` event says.
#[derive(Debug, Default)]
pub(super) struct TurnResult {
    /// It is no answer: an error has the subtype `success` as well, and then its text is that of the error.
    pub(super) is_error: bool,
    /// The answer, or the text of the error.
    pub(super) text: Option<String>,
    pub(super) stop_reason: Option<String>,
    /// The HTTP status that the server answered with.
    pub(super) status: Option<u16>,
    pub(super) errors: Vec<String>,
    pub(super) denied_tools: Vec<String>,
    pub(super) usage: Vec<Usage>,
}

impl TurnResult {
    /// Takes the event apart; `model` is the one that the main numbers belong to.
    pub(super) fn read(event: &Event<'_>, model: Option<&str>) -> Result<Self, Fault> {
        let succeeded = event.text("subtype")? == "success";
        let is_error =
            event.fields.get("is_error").and_then(Value::as_bool).ok_or_else(|| event.malformed())?;
        if !succeeded && !is_error {
            return Err(Fault("An event `result` is an error by one field and none by another.".to_owned()));
        }
        let optional_text = |name| match event.fields.get(name) {
            None => Ok(None),
            Some(value) if value.is_null() => Ok(None),
            Some(value) => value.as_str().map(|text| Some(text.to_owned())).ok_or_else(|| event.malformed()),
        };
        Ok(Self {
            is_error,
            text: optional_text("result")?,
            stop_reason: optional_text("stop_reason")?,
            status: event
                .fields
                .get("api_error_status")
                .and_then(Value::as_u64)
                .and_then(|status| status.try_into().ok()),
            errors: list(event, "errors", |error| error.as_str().map(str::to_owned))?,
            denied_tools: list(event, "permission_denials", |denial| {
                denial.as_object()?.text("tool_name").map(str::to_owned)
            })?,
            usage: usage(event.fields, model),
        })
    }
}

/// The entries of an array that may be missing, each of one kind.
fn list<T>(event: &Event<'_>, name: &str, entry: impl Fn(Value<'_>) -> Option<T>) -> Result<Vec<T>, Fault> {
    match event.fields.get(name) {
        None => Ok(Vec::new()),
        Some(entries) => entries
            .as_array()
            .ok_or_else(|| event.malformed())?
            .map(|value| entry(value).ok_or_else(|| event.malformed()))
            .collect(),
    }
}

/// Three kinds of statements that overlap: the main agent, the cost of everything, and everything by model. A number that is
/// none counts as not told.
fn usage<'a>(fields: Object<'a>, model: Option<&str>) -> Vec<Usage> {
    let statement = |scope| Usage::new(scope, UsageSource::ProviderEnvelope, UsageReliability::Reported);
    let object = |fields: Object<'a>, name| fields.get(name).and_then(Value::as_object);
    let main = object(fields, "usage");
    let details = main.and_then(|main| object(main, "output_tokens_details"));
    let count = |fields: Option<Object<'_>>, name| fields?.get(name)?.as_u64();
    let main_agent = Usage {
        input_tokens: count(main, "input_tokens"),
        output_tokens: count(main, "output_tokens"),
        thinking_tokens: count(details, "thinking_tokens").or_else(|| count(main, "thinking_tokens")),
        total_tokens: count(main, "total_tokens"),
        cache_read_tokens: count(main, "cache_read_input_tokens"),
        cache_creation_tokens: count(main, "cache_creation_input_tokens"),
        num_turns: count(Some(fields), "num_turns"),
        duration_seconds: count(Some(fields), "duration_ms").map(seconds),
        ..statement(UsageScope::MainAgent)
    };
    let mut statements = Vec::new();
    if main_agent != statement(UsageScope::MainAgent) {
        statements.push(Usage { model: model.and_then(model_name), ..main_agent });
    }
    if let Some(cost) = fields.get("total_cost_usd").and_then(decimal_text) {
        statements.push(Usage { estimated_cost_usd: Some(cost), ..statement(UsageScope::WholeTree) });
    }
    let models = || object(fields, "modelUsage").into_iter().flat_map(Object::iter);
    if models().count() <= USAGE_MODELS_MAX_COUNT {
        let mut by_model: Vec<Usage> = models()
            .filter_map(|(name, numbers)| {
                let numbers = Some(numbers.as_object()?);
                Some(Usage {
                    model: Some(model_name(name)?),
                    input_tokens: count(numbers, "inputTokens"),
                    output_tokens: count(numbers, "outputTokens"),
                    thinking_tokens: count(numbers, "thinkingTokens"),
                    total_tokens: count(numbers, "totalTokens"),
                    cache_read_tokens: count(numbers, "cacheReadInputTokens"),
                    cache_creation_tokens: count(numbers, "cacheCreationInputTokens"),
                    estimated_cost_usd: numbers?.get("costUSD").and_then(decimal_text),
                    ..statement(UsageScope::WholeTree)
                })
            })
            .collect();
        by_model.sort_by(|left, right| left.model.cmp(&right.model));
        statements.extend(by_model);
    }
    statements
}

fn model_name(name: &str) -> Option<String> {
    (1..=USAGE_MODEL_NAME_MAX_BYTES).contains(&name.len()).then(|| screen::words(name))
}

/// Milliseconds as decimal text of seconds.
fn seconds(milliseconds: u64) -> String {
    let text = format!("{}.{:03}", milliseconds / 1000, milliseconds % 1000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn milliseconds_become_seconds() {
        for (milliseconds, text) in [(0, "0"), (5, "0.005"), (1000, "1"), (4160, "4.16"), (10_000, "10")] {
            assert_eq!(seconds(milliseconds), text);
        }
    }
}
