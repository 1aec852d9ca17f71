//! Judging a run of pi (providers.md 5.2 to 5.5, 5.7).

use std::io::{self, Write};

use record::json::Value;
use record::outcome::Note;
use record::usage::Usage;
use record::words::ReasonCode;

use super::SIGN_IN;
use super::errors::{classify, sentence};
use super::message::{Assistant, StopReason, counts, is_assistant, usage};
use crate::events::{self, Event, Fault, Reading};
use crate::judge::{Evidence, Finding, Judge, Judgement, conclude, incomplete};
use crate::limits::USAGE_MAX_COUNT;
use crate::model_name::same_model;
use crate::options::is_uuid;
use crate::screen;
use crate::standard_error::StandardError;

/// The first rules.
pub(super) struct Revision1;

const RULES: &str = "\
pi:json, revision 1
A line is one JSON object with a type, ended by a line feed; duplicate keys are refused, also under case folding.
Lines before the first event that are no object are counted. A cut last line is no event.
session comes once, before any cycle, with a UUID. A cycle is agent_start, turns, agent_end; a turn is turn_start,
messages, turn_end. A turn_end repeats the last assistant message of its turn, an agent_end that of the last turn.
After agent_end another cycle may begin, and only the last one counts. After agent_settled no event of a cycle may come.
auto_retry_start follows an agent_end and announces a cycle. Other session_, agent_ and turn_ events are refused, all else
is passed over.
Order: broken grammar is invalid-output; an error event, or a last cycle that ended with length, error, aborted or an error
message, is the provider's error, classed by the form of pi's own message; another session than the expected one is
identity-mismatch; a cycle that did not end, or whose end announces a retry, is incomplete-output; a blank text is
empty-output; another answering model than the one asked for is model-mismatch; else the text of the last turn is the answer.
";

impl Judge for Revision1 {
    fn revision(&self) -> u32 {
        1
    }

    fn rules(&self) -> &'static str {
        RULES
    }

    fn judge(&self, evidence: Evidence<'_>, answer: &mut dyn Write) -> io::Result<Judgement> {
        let mut run = Run::default();
        let reading = events::read(evidence.stdout, |event| run.take(event))?;
        let errors = StandardError::read(evidence.stderr, "")?;
        let notes = if reading.chatter > 0 { vec![Note::ChatterBeforeEvents] } else { Vec::new() };
        let finding = run.finding(&reading, &errors, evidence.expected_session, evidence.requested_model);
        let usage = if run.usage.len() > USAGE_MAX_COUNT { Vec::new() } else { run.usage };
        let judgement = Judgement { finding, session: run.session, usage, notes };
        let text = run.cycle.last.map(|last| last.text).unwrap_or_default();
        conclude(judgement, evidence.cut, &text, answer)
    }
}

#[derive(Default)]
struct Run {
    session: Option<String>,
    cycle: Cycle,
    settled: bool,
    /// The message of an `error` event; nothing after it makes it good.
    error: Option<String>,
    /// The last error of an assistant message, which tells why a run never ended.
    last_error: Option<String>,
    usage: Vec<Usage>,
}

/// One cycle: from `agent_start` to the next.
#[derive(Default)]
struct Cycle {
    state: CycleState,
    message_open: bool,
    /// Usage as the updates of the open message tell it.
    update_usage: Option<Usage>,
    /// The last finished assistant message.
    last: Option<Assistant>,
    /// Whether `last` was in the turn that is open or ended last.
    last_in_turn: bool,
    retry_announced: bool,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum CycleState {
    #[default]
    NotStarted,
    Started,
    InTurn,
    TurnEnded,
    Ended,
}

impl Run {
    fn take(&mut self, event: &Event<'_>) -> Result<(), Fault> {
        match event.kind {
            "session" => self.take_session(event),
            "agent_start" => {
                let may = self.session.is_some()
                    && !self.settled
                    && matches!(self.cycle.state, CycleState::NotStarted | CycleState::Ended);
                self.cycle = Cycle { state: CycleState::Started, ..Cycle::default() };
                may.then_some(()).ok_or_else(|| event.misplaced())
            }
            "turn_start" => {
                let may = matches!(self.cycle.state, CycleState::Started | CycleState::TurnEnded);
                self.cycle.state = CycleState::InTurn;
                self.cycle.last_in_turn = false;
                may.then_some(()).ok_or_else(|| event.misplaced())
            }
            "message_start" | "message_update" | "message_end" => self.take_message(event),
            "turn_end" => self.end_turn(event),
            "agent_end" => self.end_cycle(event),
            "auto_retry_start" => {
                let may = self.cycle.state == CycleState::Ended && !self.settled;
                self.cycle.retry_announced = true;
                may.then_some(()).ok_or_else(|| event.misplaced())
            }
            "agent_settled" => {
                let may = self.cycle.state == CycleState::Ended && !self.settled;
                self.settled = true;
                may.then_some(()).ok_or_else(|| event.misplaced())
            }
            "error" => {
                let message =
                    ["message", "errorMessage", "error"].iter().find_map(|name| event.fields.text(name));
                self.error.get_or_insert_with(|| message.unwrap_or_default().to_owned());
                Ok(())
            }
            kind if ["session_", "agent_", "turn_"].iter().any(|family| kind.starts_with(family)) => {
                Err(event.misplaced())
            }
            _ => Ok(()),
        }
    }

    fn take_session(&mut self, event: &Event<'_>) -> Result<(), Fault> {
        let id = event.text("id")?;
        if self.session.is_some() || self.cycle.state != CycleState::NotStarted {
            return Err(event.misplaced());
        }
        let version = event
            .fields
            .get("version")
            .is_none_or(|version| version.as_u64().is_some_and(|version| version > 0));
        let cwd = event.fields.get("cwd").is_none_or(|cwd| cwd.as_str().is_some_and(|cwd| !cwd.is_empty()));
        if !is_uuid(id) || !version || !cwd {
            return Err(event.malformed());
        }
        self.session = Some(id.to_owned());
        Ok(())
    }

    fn take_message(&mut self, event: &Event<'_>) -> Result<(), Fault> {
        let cycle = &mut self.cycle;
        if cycle.state != CycleState::InTurn {
            return Err(event.misplaced());
        }
        if event.kind == "message_update" {
            let update = event.object("assistantMessageEvent")?;
            let kind = update.text("type").ok_or_else(|| event.malformed())?;
            if kind == "text_delta" && update.text("delta").is_none() {
                return Err(event.malformed());
            }
            if let Some(usage) = event.fields.get("usage") {
                cycle.update_usage = counts(usage);
            }
            return Ok(());
        }
        let message = event.object("message")?;
        if message.text("role").is_none() {
            return Err(event.malformed());
        }
        let starts = event.kind == "message_start";
        if cycle.message_open == starts {
            return Err(event.misplaced());
        }
        cycle.message_open = starts;
        if starts {
            cycle.update_usage = None;
        } else if is_assistant(message) {
            let last = Assistant::read(message).ok_or_else(|| event.malformed())?;
            if let Some(error) = &last.error {
                self.last_error = Some(screen::message(&sentence(error)));
            }
            if self.usage.len() <= USAGE_MAX_COUNT {
                self.usage.extend(usage(message, cycle.update_usage.as_ref()));
            }
            cycle.last = Some(last);
            cycle.last_in_turn = true;
        }
        Ok(())
    }

    fn end_turn(&mut self, event: &Event<'_>) -> Result<(), Fault> {
        let message = event.object("message")?;
        let mut results =
            event.fields.get("toolResults").and_then(Value::as_array).ok_or_else(|| event.malformed())?;
        if !is_assistant(message) || !results.all(|result| result.as_object().is_some()) {
            return Err(event.malformed());
        }
        let repeated = Assistant::read(message).ok_or_else(|| event.malformed())?;
        let cycle = &mut self.cycle;
        let ended = cycle.last.as_ref().filter(|_| cycle.last_in_turn);
        if cycle.state != CycleState::InTurn || cycle.message_open {
            return Err(event.misplaced());
        }
        if !ended.is_some_and(|last| last.agrees(&repeated)) {
            return Err(Fault("An event `turn_end` does not repeat the message of its turn.".to_owned()));
        }
        cycle.state = CycleState::TurnEnded;
        Ok(())
    }

    fn end_cycle(&mut self, event: &Event<'_>) -> Result<(), Fault> {
        let messages =
            event.fields.get("messages").and_then(Value::as_array).ok_or_else(|| event.malformed())?;
        let assistant = messages.filter_map(Value::as_object).filter(|message| is_assistant(*message)).last();
        let repeated = assistant.and_then(Assistant::read).ok_or_else(|| event.malformed())?;
        let cycle = &mut self.cycle;
        if cycle.state != CycleState::TurnEnded {
            return Err(event.misplaced());
        }
        if !cycle.last.as_ref().is_some_and(|last| last.agrees(&repeated)) {
            return Err(Fault("An event `agent_end` does not repeat the last message.".to_owned()));
        }
        if repeated.stop == StopReason::ToolUse && !repeated.failed() {
            return Err(Fault("An event `agent_end` stands where a tool was still to be used.".to_owned()));
        }
        cycle.retry_announced = event.fields.get("willRetry").and_then(Value::as_bool) == Some(true);
        cycle.state = CycleState::Ended;
        Ok(())
    }

    fn finding(
        &self,
        reading: &Reading,
        errors: &StandardError,
        expected_session: Option<&str>,
        requested_model: Option<&str>,
    ) -> Finding {
        if let Some(Fault(sentence)) = &reading.fault {
            return Finding::defect(ReasonCode::InvalidOutput, sentence.clone());
        }
        if let Some(message) = &self.error {
            return provider_error(message, None, None);
        }
        let ended = self.cycle.state == CycleState::Ended && !self.cycle.retry_announced;
        let last = self.cycle.last.as_ref().filter(|_| ended);
        if let Some(last) = last.filter(|last| last.failed()) {
            return failure(last);
        }
        if let (Some(expected), Some(session)) = (expected_session, &self.session)
            && expected != session
        {
            let message = "Another conversation answered than the one to be continued.";
            return Finding::defect(ReasonCode::IdentityMismatch, message);
        }
        let Some(last) = last else { return incomplete("pi", reading, self.last_error.as_deref(), errors) };
        if last.text.trim().is_empty() {
            return Finding::defect(ReasonCode::EmptyOutput, "pi completed the turn without an answer.");
        }
        if let (Some(requested), Some(answered)) = (requested_model, &last.response_model) {
            let resolved = last.model.as_deref().unwrap_or(requested);
            if !same_model(requested, answered) && !same_model(resolved, answered) {
                let message =
                    format!("Another model answered than the one asked for: {}.", screen::words(answered));
                return Finding::defect(ReasonCode::ModelMismatch, message);
            }
        }
        Finding::Success
    }
}

/// The error of a cycle's last message.
fn failure(last: &Assistant) -> Finding {
    match (&last.error, last.stop) {
        (error, StopReason::Length) => Finding::ProviderError {
            code: ReasonCode::IncompleteOutput,
            message: Some(error.as_deref().map_or_else(
                || "The answer was cut at the provider's limit on output tokens.".to_owned(),
                screen::message,
            )),
            retry_at: None,
        },
        (Some(error), _) => provider_error(error, last.raw_stop_reason.as_deref(), last.timestamp),
        (None, stop) => {
            let word = if stop == StopReason::Aborted { "aborted" } else { "error" };
            provider_error(
                &format!("pi stopped with `{word}` and no message."),
                last.raw_stop_reason.as_deref(),
                None,
            )
        }
    }
}

fn provider_error(message: &str, raw_stop_reason: Option<&str>, said_at_millis: Option<u64>) -> Finding {
    let (code, retry_at) = classify(message, raw_stop_reason, said_at_millis);
    let hint = if code == ReasonCode::AuthenticationRequired { SIGN_IN } else { "" };
    let message = Some(screen::message(&sentence(message)) + hint).filter(|message| !message.is_empty());
    Finding::ProviderError { code, message, retry_at }
}
