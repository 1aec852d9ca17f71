//! Judging a run of opencode (providers.md 6.2 to 6.5, 6.8 and Decisions 3).

use std::io::{self, Write};

use record::json::{Object, Value};
use record::outcome::Note;
use record::usage::{Usage, UsageReliability, UsageScope, UsageSource};
use record::words::ReasonCode;
use serde_json::Map;

use super::errors::{self, classify};
use super::is_session;
use crate::events::{self, Event, Fault, Reading};
use crate::judge::{Evidence, Finding, Judge, Judgement, conclude, incomplete};
use crate::limits::{ANSWER_MAX_BYTES, USAGE_MAX_COUNT};
use crate::screen;
use crate::standard_error::StandardError;

/// The first rules.
pub(super) struct Revision1;

const RULES: &str = "\
opencode:run, revision 1
A line is one JSON object with a type, ended by a line feed; duplicate keys are refused, also under case folding.
Lines before the first event that are no object are counted. A cut last line is no event.
step_start, text, reasoning, tool_use and step_finish carry the one session of the run; an error may come before there is one.
step_start begins a step; where one is open it is tried again, and its texts do not count. step_finish ends the open step
with a reason. text stands inside a step, but for synthetic text, which begins the run anew: nothing before it counts.
A step that begins after the reason stop begins the run anew too. Other step_ events are refused, all else is passed over.
The last of step_start, step_finish, synthetic text and error says how the run ended.
Order: broken grammar is invalid-output; an error is the provider's, classed by its name, its status and the code of its
body; the reason content-filter is refusal, the reason length is incomplete-output; another session than the expected one is
identity-mismatch; any other ending than the reason stop is incomplete-output; a last step without text is empty-output; else
the texts of all steps that count, joined, are the answer.
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
        let finding = run.finding(&reading, &errors, evidence.expected_session);
        let usage = if run.usage.len() > USAGE_MAX_COUNT { Vec::new() } else { run.usage };
        let judgement = Judgement { finding, session: run.session, usage, notes };
        conclude(judgement, evidence.cut, &run.answer, answer)
    }
}

#[derive(Default)]
struct Run {
    session: Option<String>,
    state: State,
    /// The texts of the steps that count.
    answer: String,
    /// How much of it is of steps that are finished, in bytes.
    finished_bytes: usize,
    /// Whether the step that finished last had no text.
    last_is_blank: bool,
    usage: Vec<Usage>,
}

/// What came last.
#[derive(Default)]
enum State {
    /// Nothing, or something after which a step must come.
    #[default]
    BetweenSteps,
    InStep,
    Finished(Reason),
    Failed(Failure),
}

/// Why a step ended.
enum Reason {
    Stop,
    ToolCalls,
    Length,
    ContentFilter,
    Other(String),
}

/// An error of the provider, and when it was told, in milliseconds of 1970.
struct Failure {
    error: Map<String, serde_json::Value>,
    told_at_millis: Option<u64>,
}

impl Run {
    fn take(&mut self, event: &Event<'_>) -> Result<(), Fault> {
        match event.kind {
            "step_start" => {
                self.take_session(event)?;
                event.object("part")?;
                self.begin_step();
            }
            "text" => self.take_text(event)?,
            "reasoning" => {
                self.take_session(event)?;
                event.object("part")?.text("text").ok_or_else(|| event.malformed())?;
            }
            "tool_use" => {
                self.take_session(event)?;
                check_tool(event.object("part")?).ok_or_else(|| event.malformed())?;
            }
            "step_finish" => self.finish_step(event)?,
            "error" => {
                if event.fields.get("sessionID").is_some() {
                    self.take_session(event)?;
                }
                let error = event.object("error")?;
                error.text("name").filter(|name| !name.trim().is_empty()).ok_or_else(|| event.malformed())?;
                let told_at_millis = event.fields.get("timestamp").and_then(Value::as_u64);
                self.state = State::Failed(Failure { error: error.to_owned(), told_at_millis });
            }
            kind if kind.starts_with("step_") => return Err(event.misplaced()),
            _ => {}
        }
        Ok(())
    }

    fn take_session(&mut self, event: &Event<'_>) -> Result<(), Fault> {
        let id = event.text("sessionID")?;
        if !is_session(id) {
            return Err(event.malformed());
        }
        match &self.session {
            None => self.session = Some(id.to_owned()),
            Some(session) if session == id => {}
            Some(_) => return Err(Fault("The events are of more than one conversation.".to_owned())),
        }
        Ok(())
    }

    fn begin_step(&mut self) {
        if matches!(self.state, State::Finished(Reason::Stop)) {
            self.finished_bytes = 0;
        }
        self.answer.truncate(self.finished_bytes);
        self.state = State::InStep;
    }

    fn take_text(&mut self, event: &Event<'_>) -> Result<(), Fault> {
        self.take_session(event)?;
        let part = event.object("part")?;
        let words = part.text("text").ok_or_else(|| event.malformed())?;
        if part.get("synthetic").and_then(Value::as_bool) == Some(true) {
            self.finished_bytes = 0;
            self.state = State::BetweenSteps;
            return Ok(());
        }
        if !matches!(self.state, State::InStep) {
            return Err(event.misplaced());
        }
        if self.answer.len() + words.len() > ANSWER_MAX_BYTES {
            return Err(Fault("The answer is longer than 64 MiB.".to_owned()));
        }
        self.answer.push_str(words);
        Ok(())
    }

    fn finish_step(&mut self, event: &Event<'_>) -> Result<(), Fault> {
        self.take_session(event)?;
        let part = event.object("part")?;
        let reason = match part.text("reason").ok_or_else(|| event.malformed())? {
            "stop" => Reason::Stop,
            "tool-calls" => Reason::ToolCalls,
            "length" => Reason::Length,
            "content-filter" => Reason::ContentFilter,
            other => Reason::Other(screen::words(other)),
        };
        if !matches!(self.state, State::InStep) {
            return Err(event.misplaced());
        }
        self.state = State::Finished(reason);
        self.last_is_blank = self.answer[self.finished_bytes..].trim().is_empty();
        self.finished_bytes = self.answer.len();
        if self.usage.len() <= USAGE_MAX_COUNT {
            self.usage.extend(usage(part));
        }
        Ok(())
    }

    fn finding(&self, reading: &Reading, errors: &StandardError, expected_session: Option<&str>) -> Finding {
        if let Some(Fault(sentence)) = &reading.fault {
            return Finding::defect(ReasonCode::InvalidOutput, sentence.clone());
        }
        match &self.state {
            State::Failed(failure) => {
                let (code, retry_at) = classify(&failure.error, failure.told_at_millis);
                let message = Some(errors::sentence(&failure.error, code));
                return Finding::ProviderError { code, message, retry_at };
            }
            State::Finished(Reason::ContentFilter) => {
                return provider_error(
                    ReasonCode::Refusal,
                    "The provider's content filter stopped the answer.",
                );
            }
            State::Finished(Reason::Length) => {
                let message = "The answer was cut at the provider's limit on output tokens.";
                return provider_error(ReasonCode::IncompleteOutput, message);
            }
            _ => {}
        }
        if let (Some(expected), Some(session)) = (expected_session, &self.session)
            && expected != session
        {
            let message = "Another conversation answered than the one to be continued.";
            return Finding::defect(ReasonCode::IdentityMismatch, message);
        }
        match &self.state {
            State::Finished(Reason::Stop) => {}
            State::Finished(Reason::ToolCalls) => {
                let message = "opencode stopped after a tool call, as it does when a tool asks for a permission and nobody is there to give it.";
                return Finding::defect(ReasonCode::IncompleteOutput, message);
            }
            State::Finished(Reason::Other(reason)) => {
                let message = format!("opencode ended its last step with the reason `{reason}`.");
                return Finding::defect(ReasonCode::IncompleteOutput, message);
            }
            _ => return incomplete("opencode", reading, None, errors),
        }
        if self.last_is_blank {
            return Finding::defect(
                ReasonCode::EmptyOutput,
                "opencode completed the turn without an answer.",
            );
        }
        Finding::Success
    }
}

fn provider_error(code: ReasonCode, message: &str) -> Finding {
    Finding::ProviderError { code, message: Some(message.to_owned()), retry_at: None }
}

/// Whether a part tells of a tool that ended. How it ended is the model's business.
fn check_tool(part: Object<'_>) -> Option<()> {
    part.text("tool").filter(|tool| !tool.trim().is_empty())?;
    let state = part.get("state")?.as_object()?;
    matches!(state.text("status")?, "completed" | "error").then_some(())
}

/// What a step says it used; nothing when it does not say.
fn usage(part: Object<'_>) -> Option<Usage> {
    let tokens = part.get("tokens")?.as_object()?;
    let cache = tokens.get("cache").and_then(Value::as_object);
    let count = |name| tokens.get(name).and_then(Value::as_u64);
    let cached = |name| cache?.get(name).and_then(Value::as_u64);
    Some(Usage {
        input_tokens: count("input"),
        output_tokens: count("output"),
        thinking_tokens: count("reasoning"),
        total_tokens: count("total"),
        cache_read_tokens: cached("read"),
        cache_creation_tokens: cached("write"),
        estimated_cost_usd: part.get("cost").and_then(crate::number::decimal_text),
        ..Usage::new(UsageScope::Unknown, UsageSource::ProviderEvent, UsageReliability::Reported)
    })
}
