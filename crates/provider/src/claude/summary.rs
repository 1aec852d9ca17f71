//! What a turn of claude is doing, from the part of its stream that is there.

use crate::screen;
use crate::skim::{Fields, Skim};
use crate::summary::{OpenItems, Summariser, Summary, Terminal};

const WANTED: &[&str] = &[
    "type",
    "subtype",
    "session_id",
    "is_error",
    "stop_reason",
    "result",
    "errors",
    "usage.input_tokens",
    "usage.output_tokens",
    "message.usage.input_tokens",
    "message.usage.output_tokens",
    "message.content.type",
    "message.content.id",
    "message.content.name",
    "message.content.tool_use_id",
    "message.content.input.command",
    "message.content.input.file_path",
    "message.content.input.pattern",
    "message.content.input.description",
    "task_id",
    "description",
    "patch.status",
    "tool_name",
    "attempt",
    "max_retries",
    "error",
];

#[derive(Debug)]
pub(super) struct ClaudeSummary {
    skim: Skim,
    known: Known,
}

#[derive(Debug, Default)]
struct Known {
    summary: Summary,
    open: OpenItems,
}

impl ClaudeSummary {
    pub(super) fn new() -> Self {
        Self { skim: Skim::new(WANTED), known: Known::default() }
    }
}

impl Summariser for ClaudeSummary {
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
        if let Some(session) = fields.get("session_id") {
            self.summary.session = screen::conversation_id(session);
        }
        let tokens = |input, output| fields.count(input)?.checked_add(fields.count(output)?);
        let tokens = tokens("usage.input_tokens", "usage.output_tokens")
            .or_else(|| tokens("message.usage.input_tokens", "message.usage.output_tokens"));
        if let Some(tokens) = tokens.filter(|tokens| *tokens > 0) {
            self.summary.tokens = Some(tokens);
        }
        // It comes every half minute, whatever the tool does.
        self.summary.heartbeat = kind == "tool_progress";
        if self.summary.heartbeat {
            return;
        }
        let words = match kind {
            "system" => self.take_system(fields),
            "assistant" => self.take_message(fields),
            "user" => {
                if let Some(call) = fields.get("message.content.tool_use_id") {
                    self.open.close(call);
                }
                "model is thinking".to_owned()
            }
            "result" => self.take_result(fields),
            other => other.to_owned(),
        };
        self.summary.last_event = Some((screen::words(kind), screen::words(&words)));
    }

    fn take_system(&mut self, fields: &Fields) -> String {
        let task = fields.get("task_id");
        match fields.get("subtype").unwrap_or_default() {
            "init" => "conversation opened".to_owned(),
            "thinking_tokens" => "model is thinking".to_owned(),
            "api_retry" => {
                let of = fields.get("max_retries").map(|most| format!(" of {most}")).unwrap_or_default();
                let attempt = fields.get("attempt").unwrap_or("?");
                format!("waiting for retry {attempt}{of}: {}", fields.get("error").unwrap_or("unknown error"))
            }
            "permission_denied" => format!("tool denied: {}", fields.get("tool_name").unwrap_or("?")),
            "task_started" => {
                let what = screen::words(fields.get("description").unwrap_or("a task"));
                let words = format!("running task: {what}");
                if let Some(task) = task {
                    self.open.open(task, Some(what));
                }
                words
            }
            subtype => {
                let ended = subtype == "task_notification"
                    || matches!(
                        fields.get("patch.status"),
                        Some("completed" | "failed" | "killed" | "stopped")
                    );
                if let Some(task) = task.filter(|_| ended) {
                    self.open.close(task);
                }
                subtype.replace('_', " ")
            }
        }
    }

    fn take_message(&mut self, fields: &Fields) -> String {
        match fields.get("message.content.type") {
            Some("tool_use") => {
                let name = fields.get("message.content.name").unwrap_or("?");
                let argument = ["command", "file_path", "pattern", "description"];
                let paths = argument.map(|name| format!("message.content.input.{name}"));
                let argument = paths.iter().find_map(|path| fields.get(path)).unwrap_or_default();
                let tool = screen::words(&format!("{name} {argument}"));
                let words = format!("running tool: {tool}");
                self.open.open(fields.get("message.content.id").unwrap_or(name), Some(tool));
                words
            }
            Some("text") => match fields.get("error") {
                Some(error) => format!("provider reports: {error}"),
                None => "model is writing".to_owned(),
            },
            _ => "model is thinking".to_owned(),
        }
    }

    fn take_result(&mut self, fields: &Fields) -> String {
        let failed = fields.get("is_error") != Some("false")
            || matches!(fields.get("stop_reason"), Some("max_tokens" | "refusal"));
        self.summary.terminal = Some(if failed { Terminal::Error } else { Terminal::Success });
        if failed {
            let said = fields.get("result").or_else(|| fields.get("errors"));
            format!("turn failed: {}", said.unwrap_or("no message"))
        } else {
            "turn completed".to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(lines: &[&str]) -> Summary {
        let mut summary = ClaudeSummary::new();
        for line in lines {
            summary.feed(line.as_bytes());
            summary.feed(b"\n");
        }
        summary.summary()
    }

    #[test]
    fn a_turn_in_words() {
        let words = |lines: &[&str]| after(lines).last_event.unwrap().1;
        let mut lines = vec![r#"{"type":"system","subtype":"init","session_id":"s"}"#];
        assert_eq!(words(&lines), "conversation opened");
        lines.push(r#"{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls -la","description":"List"}}],"usage":{"input_tokens":5,"output_tokens":2}}}"#);
        let running = after(&lines);
        assert_eq!(
            (running.open_items, running.tool.as_deref(), running.tokens),
            (1, Some("Bash ls -la"), Some(7))
        );
        assert_eq!(running.last_event.unwrap().1, "running tool: Bash ls -la");
        lines.push(r#"{"type":"system","subtype":"task_started","task_id":"b","tool_use_id":"t1","description":"ls -la"}"#);
        assert_eq!(after(&lines).open_items, 2);
        lines.push(r#"{"type":"system","subtype":"task_notification","task_id":"b","status":"completed"}"#);
        lines.push(r#"{"type":"user","message":{"content":[{"tool_use_id":"t1","type":"tool_result","content":"x"}]}}"#);
        assert_eq!((after(&lines).open_items, words(&lines).as_str()), (0, "model is thinking"));
        lines.push(r#"{"stop_reason":"end_turn","is_error":false,"result":"A","type":"result","subtype":"success","usage":{"input_tokens":9,"output_tokens":1}}"#);
        let ended = after(&lines);
        assert_eq!((ended.terminal, ended.tokens, ended.events), (Some(Terminal::Success), Some(10), 6));
    }

    #[test]
    fn a_heartbeat_changes_nothing() {
        let started = r#"{"type":"system","subtype":"task_started","task_id":"b","tool_use_id":"t1","description":"ls -la"}"#;
        let beat =
            r#"{"type":"tool_progress","tool_use_id":"t1","tool_name":"Bash","elapsed_time_seconds":30}"#;
        let (before, after) = (after(&[started]), after(&[started, beat]));
        assert!(!before.heartbeat && after.heartbeat);
        assert_eq!((after.last_event, after.tool), (before.last_event, before.tool));
    }

    #[test]
    fn a_failed_turn_tells_why() {
        let retry =
            r#"{"type":"system","subtype":"api_retry","attempt":1,"max_retries":4,"error":"overloaded"}"#;
        assert_eq!(after(&[retry]).last_event.unwrap().1, "waiting for retry 1 of 4: overloaded");
        for (line, words) in [
            (
                r#"{"type":"result","subtype":"success","is_error":true,"result":"API Error: 500"}"#,
                "turn failed: API Error: 500",
            ),
            (
                r#"{"type":"result","subtype":"error_during_execution","is_error":true,"errors":["No conversation"]}"#,
                "turn failed: No conversation",
            ),
        ] {
            let summary = after(&[line]);
            assert_eq!(
                (summary.terminal, summary.last_event.unwrap().1.as_str()),
                (Some(Terminal::Error), words)
            );
        }
    }
}
