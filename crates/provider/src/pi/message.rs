//! The messages inside pi's events.

use record::json::{Object, Value};
use record::limits::OPTION_TEXT_MAX_BYTES;
use record::usage::{Usage, UsageReliability, UsageScope, UsageSource};

/// Why an assistant stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StopReason {
    Stop,
    ToolUse,
    Length,
    Error,
    Aborted,
}

/// A finished message of an assistant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Assistant {
    pub(super) text: String,
    pub(super) stop: StopReason,
    /// Not empty.
    pub(super) error: Option<String>,
    pub(super) raw_stop_reason: Option<String>,
    /// Milliseconds of 1970.
    pub(super) timestamp: Option<u64>,
    /// The model that was asked, as pi resolved it.
    pub(super) model: Option<String>,
    /// The model that answered, when it has another name.
    pub(super) response_model: Option<String>,
}

impl Assistant {
    /// Reads a message; `None` when it is no finished message of an assistant.
    pub(super) fn read(message: Object<'_>) -> Option<Self> {
        let stop = match message.text("stopReason")? {
            "stop" => StopReason::Stop,
            "toolUse" => StopReason::ToolUse,
            "length" => StopReason::Length,
            "error" => StopReason::Error,
            "aborted" => StopReason::Aborted,
            _ => return None,
        };
        let filled = |name| message.text(name).filter(|text| !text.is_empty()).map(str::to_owned);
        Some(Self {
            text: content(message.get("content")?)?,
            stop,
            error: filled("errorMessage"),
            raw_stop_reason: filled("rawStopReason"),
            timestamp: message.get("timestamp").and_then(Value::as_u64),
            model: filled("model"),
            response_model: filled("responseModel"),
        })
    }

    /// Whether the provider failed, as the message says.
    pub(super) fn failed(&self) -> bool {
        self.error.is_some()
            || matches!(self.stop, StopReason::Length | StopReason::Error | StopReason::Aborted)
    }

    /// Whether another message repeats this one.
    pub(super) fn agrees(&self, other: &Self) -> bool {
        self.text == other.text && self.stop == other.stop && self.error == other.error
    }
}

/// Whether a message event is about an assistant.
pub(super) fn is_assistant(message: Object<'_>) -> bool {
    message.text("role") == Some("assistant")
}

/// The texts of a content, joined; other blocks carry no answer.
fn content(content: Value<'_>) -> Option<String> {
    if let Some(text) = content.as_str() {
        return Some(text.to_owned());
    }
    let mut joined = String::new();
    for block in content.as_array()? {
        let block = block.as_object()?;
        if block.text("type")? == "text" {
            joined.push_str(block.text("text")?);
        }
    }
    Some(joined)
}

/// What a message says it used, or else what its last update said.
pub(super) fn usage(message: Object<'_>, update: Option<&Usage>) -> Option<Usage> {
    let counts = match message.get("usage") {
        Some(usage) => counts(usage)?,
        None => update?.clone(),
    };
    let model = message.text("responseModel").or_else(|| message.text("model"));
    let model = model.filter(|model| model.len() <= OPTION_TEXT_MAX_BYTES).map(crate::screen::words);
    Some(Usage { model, ..counts })
}

/// The numbers of a usage. Of several names for one the first that is there counts (providers.md 5.4).
pub(super) fn counts(usage: Value<'_>) -> Option<Usage> {
    let numbers = usage.as_object()?;
    let count = |names: &[&str]| names.iter().find_map(|name| numbers.get(name)).and_then(Value::as_u64);
    Some(Usage {
        input_tokens: count(&["input_tokens", "inputTokens", "input"]),
        output_tokens: count(&["output_tokens", "outputTokens", "output"]),
        thinking_tokens: count(&["thinking_tokens", "thinkingTokens", "thinking", "reasoning"]),
        total_tokens: count(&["total_tokens", "totalTokens", "total"]),
        cache_read_tokens: count(&["cache_read_input_tokens", "cacheReadInputTokens", "cacheRead"]),
        cache_creation_tokens: count(&[
            "cache_creation_input_tokens",
            "cacheCreationInputTokens",
            "cacheWrite",
        ]),
        ..Usage::new(UsageScope::Unknown, UsageSource::ProviderEvent, UsageReliability::Reported)
    })
}

#[cfg(test)]
mod tests {
    use record::json::LineReader;

    use super::*;

    #[test]
    fn contents_join_their_texts() {
        let of = |text: &str| {
            let line = format!("{{\"content\":{text}}}");
            let mut reader = LineReader::default();
            content(reader.read(line.as_bytes()).unwrap().get("content").unwrap())
        };
        assert_eq!(of(r#""a""#).as_deref(), Some("a"));
        assert_eq!(of(r#"[{"type":"thinking","thinking":"x"},{"type":"text","text":"a"},{"type":"text","text":"b"}]"#).as_deref(), Some("ab"));
        for wrong in ["1", "[1]", "[{}]", r#"[{"type":"text"}]"#] {
            assert_eq!(of(wrong), None, "{wrong}");
        }
    }
}
