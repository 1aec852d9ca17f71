//! What a worker is doing, in its own words of progress.

use std::borrow::Cow;

use crate::screen;
use crate::skim::Fields;
use crate::summary::{EventSummary, Known, Meaning, Terminal};

/// The summariser of a worker.
pub(super) type WorkerSummary = EventSummary<Events>;

#[derive(Debug, Default)]
pub(super) struct Events;

impl Meaning for Events {
    const WANTED: &'static [&'static str] = &["type", "id", "text", "status"];

    fn take(&mut self, kind: &str, fields: &Fields, known: &mut Known) -> Cow<'static, str> {
        let summary = &mut known.summary;
        match kind {
            "session" => {
                summary.session = fields.get("id").and_then(screen::conversation_id);
                "worker started".into()
            }
            "progress" => fields.get("text").unwrap_or_default().to_owned().into(),
            "answer" => "writing the answer".into(),
            "result" => {
                let success = fields.get("status") == Some("ok");
                summary.terminal = Some(if success { Terminal::Success } else { Terminal::Error });
                if success { "finished" } else { "failed" }.into()
            }
            other => other.to_owned().into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::Summariser;

    #[test]
    fn progress_in_its_own_words() {
        let mut summary = WorkerSummary::new();
        summary.feed(b"{\"type\":\"session\",\"id\":\"s\"}\n{\"type\":\"progress\",\"text\":\"Counting\\nlines\"}\n{\"type\":\"ans");
        let now = summary.summary();
        assert_eq!((now.session.as_deref(), now.events, now.terminal), (Some("s"), 2, None));
        assert_eq!(now.last_event, Some(("progress".to_owned(), "Counting lines".to_owned())));
        summary.feed(b"wer\",\"text\":\"x\"}\n{\"type\":\"result\",\"status\":\"ok\"}\n");
        assert_eq!(summary.summary().terminal, Some(Terminal::Success));
    }
}
