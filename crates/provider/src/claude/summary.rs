//! What a turn of claude is doing, from the part of its stream that is there.

use std::borrow::Cow;

use crate::screen;
use crate::skim::Fields;
use crate::summary::{EventSummary, Known, Meaning, OpenItems, Summary, Terminal};

/// Where the argument of a tool is that says most about its work.
const ARGUMENTS: &[&str] = &[
    "message.content.input.command",
    "message.content.input.file_path",
    "message.content.input.pattern",
    "message.content.input.description",
];

/// The summariser of claude.
pub(super) type ClaudeSummary = EventSummary<Events>;

#[derive(Debug, Default)]
pub(super) struct Events;

impl Meaning for Events {
    const WANTED: &'static [&'static str] = &[
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
    // It comes every half minute, whatever the tool does.
    const HEARTBEAT: Option<&'static str> = Some("tool_progress");

    fn take(&mut self, kind: &str, fields: &Fields, known: &mut Known) -> Cow<'static, str> {
        let Known { summary, open } = known;
        if let Some(session) = fields.get("session_id") {
            summary.session = screen::conversation_id(session);
        }
        let tokens = |input, output| fields.count(input)?.checked_add(fields.count(output)?);
        let tokens = tokens("usage.input_tokens", "usage.output_tokens")
            .or_else(|| tokens("message.usage.input_tokens", "message.usage.output_tokens"));
        if let Some(tokens) = tokens.filter(|tokens| *tokens > 0) {
            summary.tokens = Some(tokens);
        }
        match kind {
            "system" => take_system(fields, open),
            "assistant" => take_message(fields, open),
            "user" => {
                if let Some(call) = fields.get("message.content.tool_use_id") {
                    open.close(call);
                }
                "model is thinking".into()
            }
            "result" => take_result(fields, summary),
            other => other.to_owned().into(),
        }
    }
}

fn take_system(fields: &Fields, open: &mut OpenItems) -> Cow<'static, str> {
    let task = fields.get("task_id");
    match fields.get("subtype").unwrap_or_default() {
        "init" => "conversation opened".into(),
        "thinking_tokens" => "model is thinking".into(),
        "api_retry" => {
            let of = fields.get("max_retries").map(|most| format!(" of {most}")).unwrap_or_default();
            let attempt = fields.get("attempt").unwrap_or("?");
            format!("waiting for retry {attempt}{of}: {}", fields.get("error").unwrap_or("unknown error"))
                .into()
        }
        "permission_denied" => format!("tool denied: {}", fields.get("tool_name").unwrap_or("?")).into(),
        "task_started" => {
            let what = fields.get("description").unwrap_or("a task");
            if let Some(task) = task {
                open.open(task, Some(what));
            }
            format!("running task: {what}").into()
        }
        subtype => {
            let ended = subtype == "task_notification"
                || matches!(fields.get("patch.status"), Some("completed" | "failed" | "killed" | "stopped"));
            if let Some(task) = task.filter(|_| ended) {
                open.close(task);
            }
            subtype.replace('_', " ").into()
        }
    }
}

fn take_message(fields: &Fields, open: &mut OpenItems) -> Cow<'static, str> {
    match fields.get("message.content.type") {
        Some("tool_use") => {
            let name = fields.get("message.content.name").unwrap_or("?");
            let argument = ARGUMENTS.iter().find_map(|path| fields.get(path)).unwrap_or_default();
            let tool = format!("{name} {argument}");
            open.open(fields.get("message.content.id").unwrap_or(name), Some(&tool));
            format!("running tool: {tool}").into()
        }
        Some("text") => match fields.get("error") {
            Some(error) => format!("provider reports: {error}").into(),
            None => "model is writing".into(),
        },
        _ => "model is thinking".into(),
    }
}

fn take_result(fields: &Fields, summary: &mut Summary) -> Cow<'static, str> {
    let failed = fields.get("is_error") != Some("false")
        || matches!(fields.get("stop_reason"), Some("max_tokens" | "refusal"));
    summary.terminal = Some(if failed { Terminal::Error } else { Terminal::Success });
    if failed {
        let said = fields.get("result").or_else(|| fields.get("errors"));
        format!("turn failed: {}", said.unwrap_or("no message")).into()
    } else {
        "turn completed".into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::Summariser;

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
