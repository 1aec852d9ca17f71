//! The vendor's event stream: one JSON object a line (runners.md 3.8).

use serde_json::{Value, json};

use super::lane::known_tool;

/// What is counted of a stream, and the answer in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Events {
    pub(super) total: u64,
    assistant: u64,
    tool: u64,
    error: u64,
    tool_calls: u64,
    pub(super) last_tool: Option<&'static str>,
    /// A line that is no JSON object.
    pub(super) is_damaged: bool,
    /// The last text of the assistant.
    pub(super) answer: Option<String>,
    /// The error events, as they were written.
    pub(super) errors: String,
}

impl Events {
    /// Reads a whole stream, or the part of it that is there.
    pub(super) fn read(stream: &[u8]) -> Self {
        let mut events = Self::default();
        for line in stream.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()) {
            match serde_json::from_slice(line) {
                Ok(event @ Value::Object(_)) => events.add(&event, line),
                _ => events.is_damaged = true,
            }
        }
        events
    }

    fn add(&mut self, event: &Value, line: &[u8]) {
        self.total += 1;
        let role = event.get("role").and_then(Value::as_str).unwrap_or_default();
        match role {
            "assistant" => {
                self.assistant += 1;
                self.answer = event.get("content").and_then(text).or(self.answer.take());
                let calls = event.get("tool_calls").and_then(Value::as_array);
                for call in calls.into_iter().flatten() {
                    self.tool_calls += 1;
                    let name = call.pointer("/function/name").or_else(|| call.get("name"));
                    self.last_tool = Some(known_tool(name.and_then(Value::as_str).unwrap_or_default()));
                }
            }
            "tool" => self.tool += 1,
            _ if is_error(event, role) => {
                self.error += 1;
                self.errors.push_str(&String::from_utf8_lossy(line));
                self.errors.push('\n');
            }
            _ => {}
        }
    }

    /// The member `event_summary` of a diagnostic.
    pub(super) fn summary(&self) -> Value {
        json!({
            "total": self.total,
            "assistant": self.assistant,
            "tool": self.tool,
            "error": self.error,
            "tool_calls": self.tool_calls,
            "last_tool": self.last_tool,
        })
    }
}

/// What the model said or a tool answered is never an error of the provider.
fn is_error(event: &Value, role: &str) -> bool {
    let is_named = |name: &str| event.get(name).is_some_and(|value| !value.is_null());
    let kind = event.get("type").and_then(Value::as_str).unwrap_or_default();
    role == "error" || kind.contains("error") || is_named("error") || is_named("error_message")
}

/// The text of a content: a string, or a list of strings and objects with a text.
fn text(content: &Value) -> Option<String> {
    let part = |part: &Value| -> Option<String> {
        let text =
            part.as_str().or_else(|| part.get("text")?.as_str()).or_else(|| part.get("content")?.as_str());
        text.map(str::to_owned)
    };
    let text = match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(part).collect(),
        _ => return None,
    };
    Some(text).filter(|text| !text.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(stream: &str) -> Option<String> {
        Events::read(stream.as_bytes()).answer
    }

    #[test]
    fn the_last_text_of_the_assistant_is_the_answer() {
        let stream = r#"{"role":"assistant","content":"first"}
{"role":"assistant","content":"second"}
{"role":"tool","content":"no"}
{"role":"assistant","content":"  "}
{"role":"assistant","tool_calls":[]}
{"role":"meta","content":"To resume"}
"#;
        assert_eq!(answer(stream).as_deref(), Some("second"));
        let parts = r#"{"role":"assistant","content":["a",{"type":"think","think":"x"},{"text":"b"},{"content":"c"},3]}"#;
        assert_eq!(answer(parts).as_deref(), Some("abc"));
        for empty in
            ["", "\n\n", r#"{"role":"assistant","content":null}"#, r#"{"role":"user","content":"x"}"#]
        {
            assert_eq!(answer(empty), None, "{empty}");
        }
    }

    #[test]
    fn a_line_that_is_no_object_damages_the_stream() {
        for line in ["{", "7", "[]", "warning: x", r#"{"role":"assistant","content":"cut"#] {
            assert!(Events::read(line.as_bytes()).is_damaged, "{line}");
        }
    }

    #[test]
    fn events_are_counted_and_only_known_names_are_repeated() {
        let stream = r#"{"role":"assistant","tool_calls":[{"function":{"name":"Read"}},{"name":"Bearer x"}]}
{"role":"tool","content":"error: quota"}
{"role":"meta","type":"turn.step.retrying","error_message":"overloaded","status_code":529}
{"type":"error","message":"quota"}
"#;
        let events = Events::read(stream.as_bytes());
        assert_eq!(
            events.summary(),
            json!({"total": 4, "assistant": 1, "tool": 1, "error": 2, "tool_calls": 2, "last_tool": "other"})
        );
        assert!(events.errors.contains("overloaded") && !events.errors.contains("error: quota"));
    }
}
