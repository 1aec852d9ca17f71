//! What a run of antigravity is doing: nothing is known before its one object is complete.

use crate::options::is_uuid;
use crate::skim::{Fields, Skim};
use crate::summary::{Summariser, Summary, Terminal};

const WANTED: &[&str] = &["status", "conversation_id", "usage.total_tokens", "error"];

#[derive(Debug)]
pub(super) struct AntigravitySummary {
    skim: Skim,
    known: Summary,
}

impl AntigravitySummary {
    pub(super) fn new() -> Self {
        Self { skim: Skim::new(WANTED), known: Summary::default() }
    }
}

impl Summariser for AntigravitySummary {
    fn feed(&mut self, bytes: &[u8]) {
        self.skim.feed_objects(bytes, |fields| take(&mut self.known, fields));
    }

    fn summary(&self) -> Summary {
        Summary { hides_tools: true, ..self.known.clone() }
    }
}

fn take(known: &mut Summary, fields: &Fields) {
    known.events += 1;
    known.session = fields.get("conversation_id").filter(|id| is_uuid(id)).map(str::to_owned);
    known.tokens = fields.count("usage.total_tokens").filter(|tokens| *tokens > 0);
    let (terminal, words) = match fields.get("status") {
        Some("SUCCESS") => (Some(Terminal::Success), "run ended".to_owned()),
        Some("ERROR") => {
            let error = fields.get("error").unwrap_or("an error");
            (Some(Terminal::Error), crate::screen::words(&format!("provider reports: {error}")))
        }
        _ => (None, "an answer of an unknown form".to_owned()),
    };
    known.terminal = terminal;
    known.last_event = Some(("result".to_owned(), words));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_object_tells_all() {
        let mut summary = AntigravitySummary::new();
        summary
            .feed(b"{\n \"conversation_id\": \"01a22bc4-35fe-76d2-9b19-eb939069cedd\", \"response\": \"}\",");
        assert_eq!(summary.summary().events, 0);
        summary.feed(b"\"usage\": {\"total_tokens\": 7}, \"status\": \"SUCCESS\"}");
        let known = summary.summary();
        assert_eq!((known.terminal, known.tokens, known.events), (Some(Terminal::Success), Some(7), 1));
        assert_eq!(known.session.as_deref(), Some("01a22bc4-35fe-76d2-9b19-eb939069cedd"));
    }

    #[test]
    fn an_error_has_words_and_no_conversation() {
        let mut summary = AntigravitySummary::new();
        summary.feed(br#"{"conversation_id":"","status":"ERROR","error":"no"}"#);
        let known = summary.summary();
        assert_eq!((known.terminal, known.session), (Some(Terminal::Error), None));
        assert_eq!(known.last_event.unwrap().1, "provider reports: no");
    }
}
