//! What a codex turn is doing, from the part of its stream that is there.

use std::borrow::Cow;

use crate::screen;
use crate::skim::Fields;
use crate::summary::{EventSummary, Known, Meaning, OpenItems, Terminal};

/// The summariser of codex.
pub(super) type CodexSummary = EventSummary<Events>;

#[derive(Debug, Default)]
pub(super) struct Events;

impl Meaning for Events {
    const WANTED: &'static [&'static str] = &[
        "type",
        "thread_id",
        "message",
        "error.message",
        "usage.input_tokens",
        "usage.output_tokens",
        "item.id",
        "item.type",
        "item.command",
        "item.changes.path",
        "item.server",
        "item.tool",
        "item.query",
        "item.message",
        "item.status",
    ];

    fn take(&mut self, kind: &str, fields: &Fields, known: &mut Known) -> Cow<'static, str> {
        let summary = &mut known.summary;
        match kind {
            "thread.started" => {
                summary.session = fields.get("thread_id").and_then(screen::conversation_id);
                "conversation opened".into()
            }
            "turn.started" => "model is thinking".into(),
            "turn.completed" => {
                summary.terminal = Some(Terminal::Success);
                let counts = (fields.count("usage.input_tokens"), fields.count("usage.output_tokens"));
                if let (Some(read), Some(written)) = counts {
                    summary.tokens = read.checked_add(written);
                }
                "turn completed".into()
            }
            "turn.failed" | "turn.interrupted" | "turn.cancelled" | "turn.aborted" => {
                summary.terminal = Some(Terminal::Error);
                trouble("turn failed", fields.get("error.message"))
            }
            "error" => trouble("provider reports", fields.get("message")),
            "item.started" | "item.updated" | "item.completed" => take_item(kind, fields, &mut known.open),
            other => other.to_owned().into(),
        }
    }
}

fn take_item(event: &str, fields: &Fields, open: &mut OpenItems) -> Cow<'static, str> {
    let kind = fields.get("item.type").unwrap_or_default();
    let tool = tool(kind, fields);
    let completed = event == "item.completed";
    if let Some(id) = fields.get("item.id") {
        if completed {
            open.close(id);
        } else {
            open.open(id, tool.as_deref());
        }
    }
    match (kind, tool) {
        (_, Some(tool)) if completed => format!("finished tool: {tool}").into(),
        (_, Some(tool)) => format!("running tool: {tool}").into(),
        ("agent_message", _) => "model is writing".into(),
        ("reasoning", _) => "model is thinking".into(),
        ("todo_list", _) => "model is planning".into(),
        ("error", _) => trouble("provider reports", fields.get("item.message")),
        (other, _) => other.to_owned().into(),
    }
}

fn trouble(what: &'static str, message: Option<&str>) -> Cow<'static, str> {
    message.map_or_else(|| what.into(), |message| format!("{what}: {message}").into())
}

/// What a tool item runs, in words; `None` for items that are no tools.
fn tool(kind: &str, fields: &Fields) -> Option<String> {
    let words = match kind {
        "command_execution" => unwrapped(fields.get("item.command").unwrap_or_default()),
        "file_change" => format!("edit {}", fields.get("item.changes.path").unwrap_or_default()),
        "mcp_tool_call" => {
            format!(
                "{} {}",
                fields.get("item.server").unwrap_or_default(),
                fields.get("item.tool").unwrap_or_default()
            )
        }
        "web_search" => format!("web search {}", fields.get("item.query").unwrap_or_default()),
        "collab_tool_call" => "helper agent".to_owned(),
        _ => return None,
    };
    Some(words)
}

/// `/bin/bash -lc 'ls -la'` is `bash ls -la`: the wrapping shell says nothing.
fn unwrapped(command: &str) -> String {
    let Some((shell, rest)) = command.split_once(' ') else { return command.to_owned() };
    let name = shell.rsplit('/').next().unwrap_or(shell);
    match rest.strip_prefix("-lc ").or_else(|| rest.strip_prefix("-c ")) {
        Some(script) => format!("{name} {}", script.trim_matches(['\'', '"'])),
        None => command.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::{Summariser, Summary};

    fn after(lines: &[&str]) -> Summary {
        let mut summary = CodexSummary::new();
        for line in lines {
            summary.feed(line.as_bytes());
            summary.feed(b"\n");
        }
        summary.summary()
    }

    #[test]
    fn a_turn_in_words() {
        let mut lines = vec![
            r#"{"type":"thread.started","thread_id":"01a22bc4-35fe-76d2-9b19-eb939069cedd"}"#,
            r#"{"type":"turn.started"}"#,
        ];
        let words = |lines: &[&str]| after(lines).last_event.unwrap().1;
        assert_eq!(words(&lines), "model is thinking");
        lines.push(r#"{"type":"item.started","item":{"id":"item_0","type":"command_execution","command":"/bin/bash -lc 'ls -la'","status":"in_progress"}}"#);
        let running = after(&lines);
        assert_eq!(
            running.last_event,
            Some(("item.started".to_owned(), "running tool: bash ls -la".to_owned()))
        );
        assert_eq!(
            (running.open_items, running.tool.as_deref(), running.terminal),
            (1, Some("bash ls -la"), None)
        );
        let huge = format!(
            r#"{{"type":"item.completed","item":{{"id":"item_0","type":"command_execution","aggregated_output":"{}","command":"x"}}}}"#,
            "y".repeat(1 << 20)
        );
        lines.push(&huge);
        assert_eq!((after(&lines).open_items, words(&lines).as_str()), (0, "finished tool: x"));
        lines.push(r#"{"type":"turn.completed","usage":{"input_tokens":5,"output_tokens":2}}"#);
        let ended = after(&lines);
        assert_eq!((ended.terminal, ended.tokens, ended.events), (Some(Terminal::Success), Some(7), 5));
        assert_eq!(ended.session.as_deref(), Some("01a22bc4-35fe-76d2-9b19-eb939069cedd"));
    }

    #[test]
    fn a_failed_turn_tells_why() {
        let summary = after(&[r#"{"type":"turn.failed","error":{"message":"unexpected status 401"}}"#]);
        assert_eq!(summary.terminal, Some(Terminal::Error));
        assert_eq!(summary.last_event.unwrap().1, "turn failed: unexpected status 401");
    }
}
