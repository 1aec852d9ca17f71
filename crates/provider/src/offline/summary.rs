//! What a worker is doing, in its own words of progress.

use crate::screen;
use crate::skim::{Fields, Skim};
use crate::summary::{Summariser, Summary, Terminal};

const WANTED: &[&str] = &["type", "id", "text", "status"];

#[derive(Debug)]
pub(super) struct WorkerSummary {
    skim: Skim,
    summary: Summary,
}

impl WorkerSummary {
    pub(super) fn new() -> Self {
        Self { skim: Skim::new(WANTED), summary: Summary::default() }
    }
}

impl Summariser for WorkerSummary {
    fn feed(&mut self, bytes: &[u8]) {
        self.skim.feed(bytes, |fields| take(&mut self.summary, fields));
    }

    fn summary(&self) -> Summary {
        self.summary.clone()
    }
}

fn take(summary: &mut Summary, fields: &Fields) {
    let Some(kind) = fields.get("type") else { return };
    summary.events += 1;
    let words = match kind {
        "session" => {
            summary.session = fields.get("id").and_then(screen::conversation_id);
            "worker started"
        }
        "progress" => fields.get("text").unwrap_or_default(),
        "answer" => "writing the answer",
        "result" => {
            let success = fields.get("status") == Some("ok");
            summary.terminal = Some(if success { Terminal::Success } else { Terminal::Error });
            if success { "finished" } else { "failed" }
        }
        other => other,
    };
    summary.last_event = Some((screen::words(kind), screen::words(words)));
}

#[cfg(test)]
mod tests {
    use super::*;

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
