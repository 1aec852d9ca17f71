//! What a run of pi is doing, from the part of its stream that is there.

use std::borrow::Cow;

use crate::screen;
use crate::skim::Fields;
use crate::summary::{EventSummary, Known, Meaning, OpenItems, Terminal};

/// The summariser of pi.
pub(super) type PiSummary = EventSummary<Events>;

#[derive(Debug, Default)]
pub(super) struct Events {
    /// Whether the last turn ended with an answer.
    stopped: bool,
}

impl Meaning for Events {
    const WANTED: &'static [&'static str] = &[
        "type",
        "id",
        "assistantMessageEvent.type",
        "usage.totalTokens",
        "message.role",
        "message.stopReason",
        "message.errorMessage",
        "message.usage.totalTokens",
        "willRetry",
        "toolCallId",
        "toolName",
        "args.command",
        "args.path",
        "args.pattern",
        "attempt",
        "maxAttempts",
        "message",
    ];

    fn take(&mut self, kind: &str, fields: &Fields, known: &mut Known) -> Cow<'static, str> {
        let summary = &mut known.summary;
        let tokens = fields.count("usage.totalTokens").or_else(|| fields.count("message.usage.totalTokens"));
        if let Some(tokens) = tokens.filter(|tokens| *tokens > 0) {
            summary.tokens = Some(tokens);
        }
        match kind {
            "session" => {
                summary.session = fields.get("id").and_then(screen::conversation_id);
                "conversation opened".into()
            }
            "agent_start" => {
                summary.terminal = None;
                "model is thinking".into()
            }
            "turn_start" => "model is thinking".into(),
            "message_update" => match fields.get("assistantMessageEvent.type") {
                Some("text_start" | "text_delta" | "text_end") => "model is writing".into(),
                Some("toolcall_start" | "toolcall_delta" | "toolcall_end") => {
                    "model is calling a tool".into()
                }
                _ => "model is thinking".into(),
            },
            "message_start" | "message_end" => {
                match (fields.get("message.role"), fields.get("message.errorMessage")) {
                    (_, Some(error)) => format!("provider reports: {error}").into(),
                    (Some("assistant"), None) if kind == "message_end" => "model finished a message".into(),
                    (Some("toolResult"), None) => "model reads a tool's result".into(),
                    _ => "model is thinking".into(),
                }
            }
            "turn_end" => {
                self.stopped = fields.get("message.stopReason") == Some("stop")
                    && fields.get("message.errorMessage").is_none_or(str::is_empty);
                "turn ended".into()
            }
            "agent_end" => {
                let ending = if self.stopped { Terminal::Success } else { Terminal::Error };
                summary.terminal = Some(ending).filter(|_| fields.get("willRetry") != Some("true"));
                "run ended".into()
            }
            "auto_retry_start" => {
                summary.terminal = None;
                let of = fields.get("maxAttempts").map(|most| format!(" of {most}")).unwrap_or_default();
                format!("waiting for retry {}{of}", fields.get("attempt").unwrap_or("?")).into()
            }
            "error" => format!("provider reports: {}", fields.get("message").unwrap_or("an error")).into(),
            "tool_execution_start" | "tool_execution_update" | "tool_execution_end" => {
                take_tool(kind, fields, &mut known.open)
            }
            "agent_settled" => "run ended".into(),
            other => other.to_owned().into(),
        }
    }
}

fn take_tool(kind: &str, fields: &Fields, open: &mut OpenItems) -> Cow<'static, str> {
    let name = fields.get("toolName").unwrap_or("?");
    let argument = ["args.command", "args.path", "args.pattern"].iter().find_map(|path| fields.get(path));
    let tool = format!("{name} {}", argument.unwrap_or_default());
    let id = fields.get("toolCallId").unwrap_or(name);
    if kind == "tool_execution_end" {
        open.close(id);
        return format!("finished tool: {tool}").into();
    }
    open.open(id, Some(&tool));
    format!("running tool: {tool}").into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::{Summariser, Summary};

    fn after(lines: &[&str]) -> Summary {
        let mut summary = PiSummary::new();
        for line in lines {
            summary.feed(line.as_bytes());
            summary.feed(b"\n");
        }
        summary.summary()
    }

    #[test]
    fn tools_open_and_close() {
        let start = r#"{"type":"tool_execution_start","toolCallId":"c1","toolName":"bash","args":{"command":"ls -la"}}"#;
        let running = after(&[start]);
        assert_eq!((running.open_items, running.tool.as_deref()), (1, Some("bash ls -la")));
        assert_eq!(running.last_event.unwrap().1, "running tool: bash ls -la");
        let end = r#"{"type":"tool_execution_end","toolCallId":"c1","toolName":"bash","result":{"args":{"command":"no"}},"isError":false}"#;
        let ended = after(&[start, end]);
        assert_eq!((ended.open_items, ended.tool), (0, None));
    }

    #[test]
    fn a_retry_takes_the_ending_back() {
        let failed = r#"{"type":"turn_end","message":{"role":"assistant","stopReason":"error","errorMessage":"500: {}"},"toolResults":[]}"#;
        let stopped =
            r#"{"type":"turn_end","message":{"role":"assistant","stopReason":"stop"},"toolResults":[]}"#;
        let end = |retry: &str| {
            format!(r#"{{"type":"agent_end","messages":[{{"stopReason":"no"}}],"willRetry":{retry}}}"#)
        };
        let retry = r#"{"type":"auto_retry_start","attempt":1,"maxAttempts":3}"#;
        assert_eq!(after(&[failed, &end("false")]).terminal, Some(Terminal::Error));
        assert_eq!(after(&[failed, &end("true")]).terminal, None);
        let waiting = after(&[failed, &end("true"), retry]);
        assert_eq!(
            (waiting.terminal, waiting.last_event.unwrap().1),
            (None, "waiting for retry 1 of 3".to_owned())
        );
        let again = [failed, &end("true"), retry, r#"{"type":"agent_start"}"#, stopped, &end("false")];
        assert_eq!(after(&again).terminal, Some(Terminal::Success));
    }
}
