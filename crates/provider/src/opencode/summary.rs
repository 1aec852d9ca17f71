//! What a run of opencode is doing, from the part of its stream that is there. It writes of a part only when that is
//! complete, so that silence is normal (providers.md 6.8).

use std::borrow::Cow;

use crate::screen;
use crate::skim::Fields;
use crate::summary::{EventSummary, Known, Meaning, Terminal};

const ARGUMENTS: &[&str] = &[
    "part.state.input.command",
    "part.state.input.filePath",
    "part.state.input.path",
    "part.state.input.pattern",
];

/// The summariser of opencode.
pub(super) type OpencodeSummary = EventSummary<Events>;

#[derive(Debug, Default)]
pub(super) struct Events;

impl Meaning for Events {
    const WANTED: &'static [&'static str] = &[
        "type",
        "sessionID",
        "part.tool",
        "part.reason",
        "part.synthetic",
        "part.state.status",
        "part.state.input.command",
        "part.state.input.filePath",
        "part.state.input.path",
        "part.state.input.pattern",
        "part.tokens.total",
        "error.name",
        "error.data.message",
    ];
    const HIDES_TOOLS: bool = true;

    fn take(&mut self, kind: &str, fields: &Fields, known: &mut Known) -> Cow<'static, str> {
        let known = &mut known.summary;
        if known.session.is_none() {
            known.session = fields.get("sessionID").and_then(screen::conversation_id);
        }
        match kind {
            "step_start" => {
                known.terminal = None;
                "model is thinking".into()
            }
            "text" if fields.get("part.synthetic") == Some("true") => {
                known.terminal = None;
                "conversation was shortened".into()
            }
            "text" => "model wrote a text".into(),
            "reasoning" => "model is thinking".into(),
            "tool_use" => {
                let name = fields.get("part.tool").unwrap_or("?");
                let argument = ARGUMENTS.iter().find_map(|path| fields.get(path)).unwrap_or_default();
                let failed = fields.get("part.state.status") == Some("error");
                format!("{} tool: {name} {argument}", if failed { "failed" } else { "finished" }).into()
            }
            "step_finish" => {
                known.terminal = match fields.get("part.reason") {
                    Some("stop") => Some(Terminal::Success),
                    Some("length" | "content-filter") => Some(Terminal::Error),
                    _ => None,
                };
                known.tokens =
                    fields.count("part.tokens.total").filter(|tokens| *tokens > 0).or(known.tokens);
                "step ended".into()
            }
            "error" => {
                known.terminal = Some(Terminal::Error);
                let message = fields.get("error.data.message").or_else(|| fields.get("error.name"));
                format!("provider reports: {}", message.unwrap_or("an error")).into()
            }
            other => other.to_owned().into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::{Summariser, Summary};

    fn after(lines: &[&str]) -> Summary {
        let mut summary = OpencodeSummary::new();
        for line in lines {
            summary.feed(line.as_bytes());
            summary.feed(b"\n");
        }
        summary.summary()
    }

    const START: &str = r#"{"type":"step_start","sessionID":"ses_1a","part":{"type":"step-start"}}"#;
    const STOP: &str =
        r#"{"type":"step_finish","sessionID":"ses_1a","part":{"reason":"stop","tokens":{"total":12}}}"#;

    #[test]
    fn tools_are_told_in_words() {
        let tool = r#"{"type":"tool_use","sessionID":"ses_1a","part":{"tool":"bash","state":{"status":"completed","input":{"command":"ls -la"},"output":"no"}}}"#;
        let summary = after(&[START, tool]);
        assert_eq!(summary.last_event.unwrap().1, "finished tool: bash ls -la");
        assert_eq!((summary.session.as_deref(), summary.events), (Some("ses_1a"), 2));
    }

    #[test]
    fn what_follows_a_stop_takes_the_ending_back() {
        let synthetic = r#"{"type":"text","sessionID":"ses_1a","part":{"synthetic":true,"text":"Go on."}}"#;
        let error =
            r#"{"type":"error","sessionID":"ses_1a","error":{"name":"APIError","data":{"message":"no"}}}"#;
        let stopped = after(&[START, STOP]);
        assert_eq!((stopped.terminal, stopped.tokens), (Some(Terminal::Success), Some(12)));
        assert_eq!(after(&[START, STOP, synthetic]).terminal, None);
        assert_eq!(after(&[START, STOP, START]).terminal, None);
        assert_eq!(after(&[START, STOP, START, STOP]).terminal, Some(Terminal::Success));
        let failed = after(&[START, error]);
        assert_eq!(failed.terminal, Some(Terminal::Error));
        assert_eq!(failed.last_event.unwrap().1, "provider reports: no");
        assert_eq!(after(&[START, error, START]).terminal, None);
    }
}
