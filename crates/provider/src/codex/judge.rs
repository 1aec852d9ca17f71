//! Judging a codex turn (providers.md 3.2 to 3.6, 3.9).

use std::collections::HashMap;
use std::io::{self, Read, Write};

use record::json::{Object, Value};
use record::outcome::Note;
use record::usage::{Usage, UsageReliability, UsageScope, UsageSource};
use record::words::ReasonCode;

use super::errors::classify;
use super::{LAST_MESSAGE, SIGN_IN};
use crate::events::{self, Event, Fault, Reading};
use crate::judge::{Artifacts, Evidence, Finding, Judge, Judgement, conclude, incomplete};
use crate::limits::{ITEM_ID_MAX_BYTES, ITEM_TYPE_MAX_BYTES, ITEMS_MAX_COUNT};
use crate::options::is_uuid;
use crate::screen;
use crate::standard_error::StandardError;

/// The first rules.
pub(super) struct Revision1;

const RULES: &str = "\
codex:exec, revision 1
A line is one JSON object with a type, ended by a line feed; duplicate keys are refused, also under case folding.
Lines before the first event that are no object are counted. A cut last line is no event.
thread.started comes once, first, with a UUID; turn.started comes once, after it.
turn.completed, turn.failed, turn.interrupted, turn.cancelled and turn.aborted end the turn, once.
A completed turn whose status is another word than completed was interrupted.
item events stand inside the turn; a completed item of type error may stand before it. An item keeps its type, starts
once and completes once. error events may stand anywhere before the end of a turn. Other thread and turn events are
refused, all else is passed over.
Order: broken grammar is invalid-output; a failed or interrupted turn is the provider's error, classed by the form of
codex's own message; another thread than the expected one is identity-mismatch; no completed turn, or an item still open
at its end, is incomplete-output; a last completed agent message that is missing or blank is empty-output; a last-message
file that is there and differs from it is output-conflict; else the text of that message is the answer.
";

/// The only trace of a patch that the CLI's sandbox refused (providers.md 3.9).
const DENIED: &str = " codex_core::tools::router: error=patch rejected: writing ";

impl Judge for Revision1 {
    fn revision(&self) -> u32 {
        1
    }

    fn rules(&self) -> &'static str {
        RULES
    }

    fn judge(&self, evidence: Evidence<'_>, answer: &mut dyn Write) -> io::Result<Judgement> {
        let mut turn = Turn::default();
        let reading = events::read(evidence.stdout, |event| turn.take(event))?;
        let errors = StandardError::read(evidence.stderr, DENIED)?;
        let mut notes = Vec::new();
        if turn.denied_write || errors.marked {
            notes.push(Note::ProviderDeniedWrite);
        }
        if reading.chatter > 0 {
            notes.push(Note::ChatterBeforeEvents);
        }
        let finding = turn.finding(&reading, &errors, evidence.expected_session, evidence.artifact)?;
        let judgement =
            Judgement { finding, session: turn.thread, usage: turn.usage.into_iter().collect(), notes };
        conclude(judgement, evidence.cut, &turn.answer.unwrap_or_default(), answer)
    }
}

#[derive(Default)]
struct Turn {
    thread: Option<String>,
    state: TurnState,
    items: HashMap<String, Item>,
    open_at_end: bool,
    answer: Option<String>,
    usage: Option<Usage>,
    /// The last `error` event, which tells why a turn never ended.
    last_error: Option<String>,
    denied_write: bool,
}

#[derive(Default, PartialEq, Eq)]
enum TurnState {
    #[default]
    NotStarted,
    Active,
    Completed,
    Failed(String),
    Interrupted(String),
}

struct Item {
    kind: String,
    started: bool,
    completed: bool,
    closed: bool,
}

impl Turn {
    fn take(&mut self, event: &Event<'_>) -> Result<(), Fault> {
        match event.kind {
            "thread.started" => {
                let id = event.text("thread_id")?;
                if self.thread.is_some() || self.state != TurnState::NotStarted {
                    return Err(event.misplaced());
                }
                if !is_uuid(id) {
                    return Err(event.malformed());
                }
                self.thread = Some(id.to_owned());
            }
            "turn.started" => {
                if self.thread.is_none() || self.state != TurnState::NotStarted {
                    return Err(event.misplaced());
                }
                self.state = TurnState::Active;
            }
            "turn.completed" => self.complete(event)?,
            "turn.failed" => {
                let message = event.object("error")?.text("message").ok_or_else(|| event.malformed())?;
                self.end(event, TurnState::Failed(message.to_owned()))?;
            }
            "turn.interrupted" | "turn.cancelled" | "turn.aborted" => {
                self.end(event, TurnState::Interrupted(event.kind.to_owned()))?;
            }
            "item.started" | "item.updated" | "item.completed" => self.take_item(event)?,
            "error" => {
                let message = event.text("message")?;
                if self.state == TurnState::Completed {
                    return Err(event.misplaced());
                }
                self.last_error = Some(screen::message(message));
            }
            kind if kind.starts_with("thread.") || kind.starts_with("turn.") => return Err(event.misplaced()),
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, event: &Event, state: TurnState) -> Result<(), Fault> {
        if !matches!(self.state, TurnState::NotStarted | TurnState::Active) {
            return Err(event.misplaced());
        }
        self.state = state;
        Ok(())
    }

    fn complete(&mut self, event: &Event<'_>) -> Result<(), Fault> {
        if self.state != TurnState::Active {
            return Err(event.misplaced());
        }
        if let Some(usage) = event.fields.get("usage") {
            self.usage = Some(usage_of(usage.as_object().ok_or_else(|| event.malformed())?));
        }
        self.state = match event.fields.get("status") {
            None => TurnState::Completed,
            Some(status) => match status.as_str() {
                Some("" | "completed") => TurnState::Completed,
                Some(status) => TurnState::Interrupted(status.to_owned()),
                None => return Err(event.malformed()),
            },
        };
        self.open_at_end = self.items.values().any(|item| !item.closed);
        Ok(())
    }

    fn take_item(&mut self, event: &Event<'_>) -> Result<(), Fault> {
        let fields = event.object("item")?;
        let within = |name, limit| fields.text(name).filter(|text| (1..=limit).contains(&text.len()));
        let (Some(id), Some(kind)) = (within("id", ITEM_ID_MAX_BYTES), within("type", ITEM_TYPE_MAX_BYTES))
        else {
            return Err(event.malformed());
        };
        let completes = event.kind == "item.completed";
        if self.state == TurnState::NotStarted && self.thread.is_some() && completes && kind == "error" {
            return Ok(());
        }
        if self.state != TurnState::Active {
            return Err(event.misplaced());
        }
        let is_full = self.items.len() == ITEMS_MAX_COUNT;
        let item = match self.items.get_mut(id) {
            Some(item) => item,
            None if is_full => {
                return Err(Fault(format!("The turn has more than {ITEMS_MAX_COUNT} items.")));
            }
            None => {
                let item = Item { kind: kind.to_owned(), started: false, completed: false, closed: false };
                self.items.entry(id.to_owned()).or_insert(item)
            }
        };
        let starts = event.kind == "item.started";
        if item.kind != kind || item.completed || (starts && item.started) {
            return Err(event.misplaced());
        }
        item.started |= starts;
        if !completes {
            return Ok(());
        }
        let status = fields.text("status");
        item.completed = true;
        item.closed = status != Some("in_progress");
        match kind {
            "agent_message" => {
                self.answer = Some(fields.text("text").ok_or_else(|| event.malformed())?.to_owned())
            }
            "error" => {
                let message = fields.text("message").ok_or_else(|| event.malformed())?;
                self.last_error = Some(screen::message(message));
            }
            "file_change" if matches!(status, Some("failed" | "declined")) => self.denied_write = true,
            _ => {}
        }
        Ok(())
    }

    fn finding(
        &self,
        reading: &Reading,
        errors: &StandardError,
        expected_session: Option<&str>,
        artifact: &mut Artifacts<'_>,
    ) -> io::Result<Finding> {
        if let Some(Fault(sentence)) = &reading.fault {
            return Ok(Finding::defect(ReasonCode::InvalidOutput, sentence.clone()));
        }
        match &self.state {
            TurnState::Failed(message) => {
                let (code, retry_at) = classify(message);
                let hint = if code == ReasonCode::AuthenticationRequired { SIGN_IN } else { "" };
                let message = Some(screen::message(message) + hint);
                return Ok(Finding::ProviderError { code, message, retry_at });
            }
            TurnState::Interrupted(how) => {
                let message = format!("codex ended the turn early ({}).", screen::words(how));
                let code = ReasonCode::ProviderFailed;
                return Ok(Finding::ProviderError { code, message: Some(message), retry_at: None });
            }
            _ => {}
        }
        if let (Some(expected), Some(thread)) = (expected_session, &self.thread)
            && expected != thread
        {
            let message = "Another conversation answered than the one to be continued.";
            return Ok(Finding::defect(ReasonCode::IdentityMismatch, message));
        }
        if self.state != TurnState::Completed {
            return Ok(incomplete("codex", reading, self.last_error.as_deref(), errors));
        }
        if self.open_at_end {
            let message = "codex completed the turn while an item of it was still open.";
            return Ok(Finding::defect(ReasonCode::IncompleteOutput, message));
        }
        let answer = self.answer.as_deref().unwrap_or_default();
        if answer.trim().is_empty() {
            return Ok(Finding::defect(
                ReasonCode::EmptyOutput,
                "codex completed the turn without an answer.",
            ));
        }
        if let Some(mut file) = artifact(LAST_MESSAGE)?
            && !holds_exactly(&mut file, answer.as_bytes())?
        {
            let message = "The last-message file differs from the last message of the event stream.";
            return Ok(Finding::defect(ReasonCode::OutputConflict, message));
        }
        Ok(Finding::Success)
    }
}

/// The counts of a thread so far. A number that is none counts as not told.
fn usage_of(fields: Object<'_>) -> Usage {
    let count = |name| fields.get(name).and_then(Value::as_u64);
    Usage {
        input_tokens: count("input_tokens"),
        output_tokens: count("output_tokens"),
        thinking_tokens: count("reasoning_output_tokens"),
        cache_read_tokens: count("cached_input_tokens"),
        cache_creation_tokens: count("cache_write_input_tokens"),
        ..Usage::new(
            UsageScope::ConversationCumulative,
            UsageSource::ProviderEvent,
            UsageReliability::Reported,
        )
    }
}

fn holds_exactly(file: &mut dyn Read, expected: &[u8]) -> io::Result<bool> {
    let mut rest = expected;
    let mut buffer = vec![0; 64 << 10];
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(rest.is_empty()),
            Ok(count) => match rest.strip_prefix(&buffer[..count]) {
                Some(after) => rest = after,
                None => return Ok(false),
            },
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
