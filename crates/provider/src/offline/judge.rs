//! Judging a worker that speaks the worker protocol (CLI.md "The worker protocol").

use std::io::{self, Write};

use record::limits::CONVERSATION_ID_MAX_BYTES;
use record::outcome::Note;
use record::words::ReasonCode;

use crate::events::{self, Event, Fault, Reading};
use crate::judge::{Evidence, Finding, Judge, Judgement, conclude, incomplete};
use crate::limits::ANSWER_MAX_BYTES;
use crate::screen;
use crate::standard_error::StandardError;

/// The first rules.
pub(super) struct Revision1;

const RULES: &str = "\
worker protocol, revision 1
A line is one JSON object with a type, ended by a line feed; duplicate keys are refused, also under case folding.
Lines before the first event that are no object are counted. A cut last line is no event.
session with an id comes first and once; then progress and answer, each with a text; result with a status comes last and
once. No other event and no other field is allowed.
Order: broken grammar is invalid-output; status error is the worker's error, classed by its code where that is the word of
a provider's error; another session than the expected one is identity-mismatch; no result is incomplete-output; answers
that are blank together are empty-output; else the answers, joined in order, are the answer.
";

impl Judge for Revision1 {
    fn revision(&self) -> u32 {
        1
    }

    fn rules(&self) -> &'static str {
        RULES
    }

    fn judge(&self, evidence: Evidence<'_>, answer: &mut dyn Write) -> io::Result<Judgement> {
        let mut work = Work::default();
        let reading = events::read(evidence.stdout, |event| work.take(event))?;
        let errors = StandardError::read(evidence.stderr, "")?;
        let notes = if reading.chatter > 0 { vec![Note::ChatterBeforeEvents] } else { Vec::new() };
        let finding = work.finding(&reading, &errors, evidence.expected_session);
        let judgement = Judgement { finding, session: work.session, usage: Vec::new(), notes };
        conclude(judgement, evidence.cut, &work.answer, answer)
    }
}

#[derive(Default)]
struct Work {
    session: Option<String>,
    answer: String,
    result: Option<Ending>,
}

enum Ending {
    Success,
    Error { code: Option<String>, message: Option<String> },
}

impl Work {
    fn take(&mut self, event: &Event<'_>) -> Result<(), Fault> {
        let is_session = event.kind == "session";
        if self.result.is_some() || is_session == self.session.is_some() {
            return Err(event.misplaced());
        }
        let (allowed, needed): (&[&str], &str) = match event.kind {
            "session" => (&["type", "id"], "id"),
            "progress" | "answer" => (&["type", "text"], "text"),
            "result" => (&["type", "status", "code", "message"], "status"),
            _ => return Err(event.misplaced()),
        };
        if event.fields.iter().any(|(name, _)| !allowed.contains(&name)) {
            return Err(event.malformed());
        }
        let value = event.text(needed)?;
        match event.kind {
            "session" if value.is_empty() || value.len() > CONVERSATION_ID_MAX_BYTES => {
                return Err(event.malformed());
            }
            "session" => self.session = Some(value.to_owned()),
            "answer" if self.answer.len() + value.len() > ANSWER_MAX_BYTES => {
                return Err(Fault("The answer is longer than 64 MiB.".to_owned()));
            }
            "answer" => self.answer.push_str(value),
            "result" => {
                let optional =
                    |name| event.fields.get(name).map(|_| event.text(name).map(str::to_owned)).transpose();
                let (code, message) = (optional("code")?, optional("message")?);
                self.result = Some(match value {
                    "ok" => Ending::Success,
                    "error" => Ending::Error { code, message },
                    _ => return Err(event.malformed()),
                });
            }
            _ => {}
        }
        Ok(())
    }

    fn finding(&self, reading: &Reading, errors: &StandardError, expected_session: Option<&str>) -> Finding {
        if let Some(Fault(sentence)) = &reading.fault {
            return Finding::defect(ReasonCode::InvalidOutput, sentence.clone());
        }
        if let Some(Ending::Error { code, message }) = &self.result {
            let words: Vec<&str> = [code, message].into_iter().flatten().map(String::as_str).collect();
            let message = Some(screen::message(&words.join(": "))).filter(|message| !message.is_empty());
            return Finding::ProviderError { code: class(code.as_deref()), message, retry_at: None };
        }
        if expected_session.is_some() && expected_session != self.session.as_deref() && self.session.is_some()
        {
            let message = "Another conversation answered than the one to be continued.";
            return Finding::defect(ReasonCode::IdentityMismatch, message);
        }
        if self.result.is_none() {
            return incomplete("the worker", reading, None, errors);
        }
        if self.answer.trim().is_empty() {
            return Finding::defect(
                ReasonCode::EmptyOutput,
                "The worker completed the turn without an answer.",
            );
        }
        Finding::Success
    }
}

/// A worker may say its error in the words that outcomes use for errors of a provider; any other word is its own.
fn class(code: Option<&str>) -> ReasonCode {
    match code.and_then(|code| code.parse().ok()) {
        Some(
            code @ (ReasonCode::AuthenticationRequired
            | ReasonCode::RateLimited
            | ReasonCode::QuotaExhausted
            | ReasonCode::Refusal),
        ) => code,
        _ => ReasonCode::ProviderFailed,
    }
}
