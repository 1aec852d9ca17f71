//! What a run of pi is doing, from the part of its stream that is there.

use crate::screen;
use crate::skim::{Fields, Skim};
use crate::summary::{OpenItems, Summariser, Summary, Terminal};

const WANTED: &[&str] = &[
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

#[derive(Debug)]
pub(super) struct PiSummary {
    skim: Skim,
    known: Known,
}

#[derive(Debug, Default)]
struct Known {
    summary: Summary,
    open: OpenItems,
    /// Whether the last turn ended with an answer.
    stopped: bool,
}

impl PiSummary {
    pub(super) fn new() -> Self {
        Self { skim: Skim::new(WANTED), known: Known::default() }
    }
}

impl Summariser for PiSummary {
    fn feed(&mut self, bytes: &[u8]) {
        self.skim.feed(bytes, |fields| self.known.take(fields));
    }

    fn summary(&self) -> Summary {
        Summary {
            open_items: self.known.open.count(),
            tool: self.known.open.tool(),
            ..self.known.summary.clone()
        }
    }
}

impl Known {
    fn take(&mut self, fields: &Fields) {
        let Some(kind) = fields.get("type") else { return };
        self.summary.events += 1;
        let tokens = fields.count("usage.totalTokens").or_else(|| fields.count("message.usage.totalTokens"));
        if let Some(tokens) = tokens.filter(|tokens| *tokens > 0) {
            self.summary.tokens = Some(tokens);
        }
        let words = match kind {
            "session" => {
                self.summary.session = fields.get("id").and_then(screen::conversation_id);
                "conversation opened".to_owned()
            }
            "agent_start" => {
                self.summary.terminal = None;
                "model is thinking".to_owned()
            }
            "turn_start" => "model is thinking".to_owned(),
            "message_update" => match fields.get("assistantMessageEvent.type") {
                Some("text_start" | "text_delta" | "text_end") => "model is writing".to_owned(),
                Some("toolcall_start" | "toolcall_delta" | "toolcall_end") => {
                    "model is calling a tool".to_owned()
                }
                _ => "model is thinking".to_owned(),
            },
            "message_start" | "message_end" => {
                match (fields.get("message.role"), fields.get("message.errorMessage")) {
                    (_, Some(error)) => format!("provider reports: {error}"),
                    (Some("assistant"), None) if kind == "message_end" => {
                        "model finished a message".to_owned()
                    }
                    (Some("toolResult"), None) => "model reads a tool's result".to_owned(),
                    _ => "model is thinking".to_owned(),
                }
            }
            "turn_end" => {
                self.stopped = fields.get("message.stopReason") == Some("stop")
                    && fields.get("message.errorMessage").is_none_or(str::is_empty);
                "turn ended".to_owned()
            }
            "agent_end" => {
                let ending = if self.stopped { Terminal::Success } else { Terminal::Error };
                self.summary.terminal = Some(ending).filter(|_| fields.get("willRetry") != Some("true"));
                "run ended".to_owned()
            }
            "auto_retry_start" => {
                self.summary.terminal = None;
                let of = fields.get("maxAttempts").map(|most| format!(" of {most}")).unwrap_or_default();
                format!("waiting for retry {}{of}", fields.get("attempt").unwrap_or("?"))
            }
            "error" => format!("provider reports: {}", fields.get("message").unwrap_or("an error")),
            "tool_execution_start" | "tool_execution_update" | "tool_execution_end" => {
                self.take_tool(kind, fields)
            }
            "agent_settled" => "run ended".to_owned(),
            other => other.to_owned(),
        };
        self.summary.last_event = Some((screen::words(kind), screen::words(&words)));
    }

    fn take_tool(&mut self, kind: &str, fields: &Fields) -> String {
        let name = fields.get("toolName").unwrap_or("?");
        let argument = ["args.command", "args.path", "args.pattern"].iter().find_map(|path| fields.get(path));
        let tool = screen::words(&format!("{name} {}", argument.unwrap_or_default()));
        let id = fields.get("toolCallId").unwrap_or(name);
        if kind == "tool_execution_end" {
            self.open.close(id);
            return format!("finished tool: {tool}");
        }
        let words = format!("running tool: {tool}");
        self.open.open(id, Some(tool));
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
