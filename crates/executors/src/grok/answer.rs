//! The one JSON object that the vendor's program prints (runners.md 4.4, 4.5).

use serde_json::{Map, Value, json};

use super::{GROK, USAGE_MODEL};

/// What is read of it. The model's thought is not.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Answer {
    /// The answer itself.
    pub(super) text: String,
    /// Why the model stopped, in lower case without separators.
    pub(super) stop_reason: Option<String>,
    /// The model that answered, where one is named.
    pub(super) content_model: Option<String>,
    /// How many turns the model took, where that is said.
    pub(super) turns: Option<u64>,
    /// The models that were paid for; nothing where there is no usage, or none that can be read.
    pub(super) participants: Option<Vec<Participant>>,
}

/// One model that was paid for.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Participant {
    model: String,
    input: u64,
    output: u64,
    reasoning: u64,
    cache_read: u64,
    cache_write: u64,
    calls: Option<u64>,
    cost_usd: Option<f64>,
}

const INPUT: &[&str] = &["inputTokens", "input_tokens"];
const OUTPUT: &[&str] = &["outputTokens", "output_tokens"];
const REASONING: &[&str] = &["reasoningTokens", "reasoning_tokens"];
const CACHE_READ: &[&str] =
    &["cacheReadInputTokens", "cacheReadTokens", "cache_read_input_tokens", "cache_read_tokens"];
const CACHE_WRITE: &[&str] =
    &["cacheCreationInputTokens", "cacheWriteTokens", "cache_creation_input_tokens", "cache_write_tokens"];
const CALLS: &[&str] = &["modelCalls", "model_calls", "requests"];
const COST: &[&str] = &["costUSD", "costUsd", "cost_usd"];
const USAGE: &[&str] = &["modelUsage", "model_usage"];
const MODEL: &[&str] = &["model", "modelId", "model_id", "contentModel", "content_model"];
const STOP: &[&str] = &["stopReason", "stop_reason"];
const TURNS: &[&str] = &["numTurns", "num_turns", "turns"];

/// The vendor has changed between the two ways of writing names.
fn member<'a>(members: &'a Map<String, Value>, names: &[&str]) -> Option<&'a Value> {
    names.iter().find_map(|name| members.get(*name).filter(|value| !value.is_null()))
}

/// The model that the answer names: where it names several, or names one by something that is no text, one that is not the pin.
fn content_model(members: &Map<String, Value>) -> Option<String> {
    let named = MODEL.iter().filter_map(|name| members.get(*name)).filter(|value| !value.is_null());
    let names: Vec<&str> = named.map(|value| value.as_str().unwrap_or_default()).collect();
    let name = names.iter().find(|name| **name != GROK.model).or_else(|| names.first());
    name.map(|name| (*name).to_owned())
}

impl Answer {
    /// Reads it; what is no JSON object is an answer without anything.
    pub(super) fn read(stdout: &[u8]) -> Self {
        let Ok(Value::Object(members)) = serde_json::from_slice(stdout) else { return Self::default() };
        let text = |names| member(&members, names).and_then(Value::as_str).map(str::to_owned);
        Self {
            text: text(&["text"]).unwrap_or_default(),
            stop_reason: text(STOP).map(|word| plain(&word)),
            content_model: content_model(&members),
            turns: member(&members, TURNS).and_then(Value::as_u64),
            participants: participants(&members),
        }
    }

    /// Whether the model that is billed for is among those that were paid for.
    pub(super) fn has_usage_model(&self) -> bool {
        self.participants().iter().any(|participant| participant.model == USAGE_MODEL)
    }

    /// The models that were paid for.
    pub(super) fn participants(&self) -> &[Participant] {
        self.participants.as_deref().unwrap_or_default()
    }

    /// All counters together.
    pub(super) fn tokens(&self) -> Value {
        let sum =
            |of: fn(&Participant) -> u64| self.participants().iter().map(of).fold(0, u64::saturating_add);
        let (input, output) = (sum(|one| one.input), sum(|one| one.output));
        let (reasoning, cache_read) = (sum(|one| one.reasoning), sum(|one| one.cache_read));
        let total = [input, output, reasoning, cache_read].into_iter().fold(0, u64::saturating_add);
        json!({
            "input": input, "output": output, "reasoning": reasoning, "cache_read": cache_read, "total": total,
        })
    }

    /// The cost of all; nothing where none is said.
    pub(super) fn cost_usd(&self) -> Option<f64> {
        let mut costs = self.participants().iter().filter_map(|one| one.cost_usd).peekable();
        costs.peek().is_some().then(|| costs.sum())
    }
}

impl Participant {
    /// As the executor contract has it.
    pub(super) fn report(&self) -> Value {
        let mut report = Map::new();
        for (name, value) in [
            ("model", Some(json!(self.model))),
            ("input_tokens", Some(json!(self.input))),
            ("output_tokens", Some(json!(self.output))),
            ("reasoning_tokens", Some(json!(self.reasoning))),
            ("cache_read_tokens", Some(json!(self.cache_read))),
            ("cache_write_tokens", Some(json!(self.cache_write))),
            ("model_calls", self.calls.map(|calls| json!(calls))),
            ("cost_usd", self.cost_usd.map(|cost| json!(cost))),
        ] {
            report.extend(value.map(|value| (name.to_owned(), value)));
        }
        Value::Object(report)
    }
}

/// A word of the vendor in one of its two ways of writing.
fn plain(word: &str) -> String {
    word.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase()
}

/// Every model with its counters; nothing where one of them is no counter.
fn participants(members: &Map<String, Value>) -> Option<Vec<Participant>> {
    let usage = member(members, USAGE)?.as_object().filter(|usage| !usage.is_empty())?;
    let mut found = Vec::new();
    for (model, counters) in usage {
        let counters = counters.as_object()?;
        let count = |names: &[&str]| match member(counters, names) {
            None => Some(None),
            Some(value) => value.as_u64().map(Some),
        };
        let cost_usd = match member(counters, COST) {
            None => None,
            Some(cost) => Some(cost.as_f64().filter(|cost| *cost >= 0.0)?),
        };
        found.push(Participant {
            model: model.clone(),
            input: count(INPUT)??,
            output: count(OUTPUT)??,
            reasoning: count(REASONING)?.unwrap_or_default(),
            cache_read: count(CACHE_READ)?.unwrap_or_default(),
            cache_write: count(CACHE_WRITE)?.unwrap_or_default(),
            calls: count(CALLS)?,
            cost_usd,
        });
    }
    // Where reasoning is counted for the whole run alone, it is that of the first.
    if found.iter().all(|one| one.reasoning == 0)
        && let Some(whole) = members.get("usage").and_then(Value::as_object)
        && let Some(reasoning) = member(whole, REASONING)
        && let Some(first) = found.first_mut()
    {
        first.reasoning = reasoning.as_u64()?;
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(value: &Value) -> Answer {
        Answer::read(value.to_string().as_bytes())
    }

    #[test]
    fn the_counters_of_all_models_are_added() {
        let read = answer(&json!({
            "text": "x", "thought": "secret", "stopReason": "EndTurn", "num_turns": 3,
            "modelUsage": {
                "grok-4.6-build": {"inputTokens": 100, "outputTokens": 20, "cacheReadInputTokens": 30, "reasoningTokens": 7, "costUSD": 0.02},
                "helper": {"input_tokens": 5, "output_tokens": 2, "cache_read_tokens": 1, "cost_usd": 0.001},
            },
        }));
        assert_eq!(
            read.tokens(),
            json!({"input": 105, "output": 22, "reasoning": 7, "cache_read": 31, "total": 165})
        );
        assert_eq!(read.cost_usd(), Some(0.021));
        assert!(read.has_usage_model());
        assert_eq!((read.turns, read.stop_reason.as_deref()), (Some(3), Some("endturn")));
        assert_eq!(read.content_model, None);
    }

    #[test]
    fn another_model_hides_behind_no_other_name() {
        let pin = GROK.model;
        for (members, named) in [
            (json!({"model": pin}), Some(pin)),
            (json!({"model": null}), None),
            (json!({"model": null, "modelId": "other"}), Some("other")),
            (json!({"model": pin, "content_model": "other"}), Some("other")),
            (json!({"model": 4}), Some("")),
        ] {
            assert_eq!(answer(&members).content_model.as_deref(), named, "{members}");
        }
    }

    #[test]
    fn usage_that_is_none_is_told_from_usage_of_nothing() {
        for usage in [
            json!(null),
            json!({}),
            json!([]),
            json!({"m": 1}),
            json!({"m": {}}),
            json!({"m": {"inputTokens": -1, "outputTokens": 1}}),
            json!({"m": {"inputTokens": 1, "outputTokens": "1"}}),
            json!({"m": {"inputTokens": 1, "outputTokens": 1, "costUSD": -1}}),
        ] {
            assert_eq!(answer(&json!({"text": "x", "modelUsage": usage})).participants, None, "{usage}");
        }
        let read = answer(&json!({"modelUsage": {"m": {"inputTokens": 0, "outputTokens": 0}}}));
        assert_eq!((read.participants().len(), read.cost_usd()), (1, None));
        assert_eq!(Answer::read(b"text"), Answer::default());
        assert_eq!(Answer::read(b"[]"), Answer::default());
    }
}
