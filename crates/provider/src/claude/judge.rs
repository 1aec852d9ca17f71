//! Judging a turn of claude (providers.md 4.3 to 4.6, 4.11, Decisions 4).

use std::io::{self, Write};

use record::json::Value;
use record::outcome::Note;
use record::words::ReasonCode;

use super::errors::{Signs, classify};
use super::result::TurnResult;
use super::tasks::Tasks;
use crate::events::{self, Event, Fault, Reading};
use crate::judge::{Evidence, Finding, Judge, Judgement, conclude, incomplete};
use crate::model_name::same_model;
use crate::options::is_uuid;
use crate::screen;
use crate::standard_error::StandardError;

/// The first rules.
pub(super) struct Revision1;

const RULES: &str = "\
claude:print, revision 1
A line is one JSON object with a type, ended by a line feed; duplicate keys are refused, also under case folding.
Lines before the first event that are no object are counted. A cut last line is no event.
Every session_id is the same UUID. system/init comes once, before every message and every success, and names no other
permission mode than the two that are asked for. A result comes once; no message and no init may follow it.
error, thread., turn. and session. events are refused, all else is passed over, every block of a message too.
A task that was started is open until its notification, or, in the foreground, until its tool's result.
Order: broken grammar is invalid-output; a result that is an error, whatever its subtype, is the provider's error, classed by
the HTTP status, then by claude's own word for the error, and among limits by its own sentence; another session than the
expected one is identity-mismatch; no result, or a task still open at it, is incomplete-output; a result with errors is the
provider's error; of stop reasons end_turn and stop_sequence or none are good, max_tokens is incomplete-output, refusal is
refusal, an interruption is the provider's error, any other is invalid-output; a blank result is empty-output; another answering
model than the one asked for is model-mismatch; else the result's text is the answer.
";

/// The permission modes that plans ask for.
const MODES: &[&str] = &["bypassPermissions", "dontAsk"];
/// Tools that do nothing but write.
const WRITING_TOOLS: &[&str] = &["Edit", "MultiEdit", "NotebookEdit", "Write"];
/// The model of messages that the CLI makes up itself.
const NO_MODEL: &str = "<synthetic>";

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
        let errors = StandardError::read(evidence.stderr, "")?;
        let mut notes = Vec::new();
        if turn.denied_write {
            notes.push(Note::ProviderDeniedWrite);
        }
        if reading.chatter > 0 {
            notes.push(Note::ChatterBeforeEvents);
        }
        let finding = turn.finding(&reading, &errors, evidence.expected_session, evidence.requested_model);
        let result = turn.result.unwrap_or_default();
        let judgement = Judgement { finding, session: turn.session, usage: result.usage, notes };
        conclude(judgement, evidence.cut, &result.text.unwrap_or_default(), answer)
    }
}

#[derive(Default)]
struct Turn {
    session: Option<String>,
    initialised: bool,
    /// The model that was asked, as the CLI resolved it.
    asked_model: Option<String>,
    /// The model that wrote the last message of the main agent.
    answering_model: Option<String>,
    /// Claude's word for the error of the last message that it made up.
    error_word: Option<String>,
    /// The last failed request, which tells why a turn never ended.
    last_error: Option<String>,
    limit_ends_at: Option<u64>,
    tasks: Tasks,
    open_at_end: bool,
    denied_write: bool,
    result: Option<TurnResult>,
}

impl Turn {
    fn take(&mut self, event: &Event<'_>) -> Result<(), Fault> {
        self.bind_session(event)?;
        match event.kind {
            "system" => self.take_system(event),
            "assistant" | "user" => self.take_message(event),
            "rate_limit_event" => {
                let limit = event.object("rate_limit_info")?;
                let reached = limit.text("status") == Some("rejected");
                self.limit_ends_at = limit.get("resetsAt").and_then(Value::as_u64).filter(|_| reached);
                Ok(())
            }
            "result" => {
                let model = self.answering_model.as_deref().or(self.asked_model.as_deref());
                let result = TurnResult::read(event, model)?;
                if self.result.is_some() || !(self.initialised || result.is_error) {
                    return Err(event.misplaced());
                }
                self.denied_write |=
                    result.denied_tools.iter().any(|tool| WRITING_TOOLS.contains(&tool.as_str()));
                self.open_at_end = self.tasks.are_open();
                self.result = Some(result);
                Ok(())
            }
            kind if kind == "error"
                || ["thread.", "turn.", "session."].iter().any(|family| kind.starts_with(family)) =>
            {
                Err(event.misplaced())
            }
            _ => Ok(()),
        }
    }

    fn bind_session(&mut self, event: &Event<'_>) -> Result<(), Fault> {
        match event.fields.get("session_id") {
            None => Ok(()),
            Some(id) if id.is_null() => Ok(()),
            Some(id) => {
                let id = id.as_str().filter(|id| is_uuid(id)).ok_or_else(|| event.malformed())?;
                if self.session.get_or_insert_with(|| id.to_owned()) == id {
                    Ok(())
                } else {
                    Err(Fault("The events name two conversations.".to_owned()))
                }
            }
        }
    }

    fn take_system(&mut self, event: &Event<'_>) -> Result<(), Fault> {
        let fields = event.fields;
        match event.text("subtype")? {
            "init" => {
                if self.initialised || self.result.is_some() {
                    return Err(event.misplaced());
                }
                if fields.text("session_id").is_none() {
                    return Err(event.malformed());
                }
                if fields.text("permissionMode").is_some_and(|mode| !MODES.contains(&mode)) {
                    return Err(Fault(
                        "claude runs in another permission mode than the one asked for.".to_owned(),
                    ));
                }
                self.initialised = true;
                self.asked_model = fields.text("model").map(str::to_owned);
            }
            "api_retry" => {
                let word = fields.text("error").unwrap_or("unknown");
                let status = fields.get("error_status").and_then(Value::as_u64);
                let status = status.map(|status| format!(" {status}")).unwrap_or_default();
                self.last_error = Some(screen::words(&format!("a request failed ({word}{status})")));
            }
            "permission_denied" => {
                self.denied_write |=
                    fields.text("tool_name").is_some_and(|tool| WRITING_TOOLS.contains(&tool));
            }
            subtype => self.tasks.take(subtype, event)?,
        }
        Ok(())
    }

    fn take_message(&mut self, event: &Event<'_>) -> Result<(), Fault> {
        if !self.initialised || self.result.is_some() {
            return Err(event.misplaced());
        }
        let message = event.object("message")?;
        if event.kind == "user" {
            self.tasks.take_results(message);
            return Ok(());
        }
        let helper = event.fields.get("parent_tool_use_id").is_some_and(|id| !id.is_null());
        match message.text("model") {
            Some(NO_MODEL) => self.error_word = event.fields.text("error").map(str::to_owned),
            Some(model) if !helper => self.answering_model = Some(model.to_owned()),
            _ => {}
        }
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
        let result = self.result.as_ref();
        if let Some(result) = result.filter(|result| result.is_error) {
            return self.failure(result);
        }
        if let (Some(expected), Some(session)) = (expected_session, &self.session)
            && expected != session
        {
            let message = "Another conversation answered than the one that was asked.";
            return Finding::defect(ReasonCode::IdentityMismatch, message);
        }
        let Some(result) = result else {
            return incomplete("claude", reading, self.last_error.as_deref(), errors);
        };
        if self.open_at_end {
            let message = "claude ended the turn while a task that it had started was still running.";
            return Finding::defect(ReasonCode::IncompleteOutput, message);
        }
        if let Some(error) = result.errors.first() {
            return Finding::ProviderError {
                code: ReasonCode::ProviderFailed,
                message: Some(screen::message(&format!("claude's success names an error: {error}"))),
                retry_at: None,
            };
        }
        if let Some(finding) = result.stop_reason.as_deref().and_then(stopped) {
            return finding;
        }
        if result.text.as_deref().unwrap_or_default().trim().is_empty() {
            return Finding::defect(ReasonCode::EmptyOutput, "claude completed the turn without an answer.");
        }
        if let (Some(requested), Some(answered)) = (requested_model, &self.answering_model) {
            let resolved = self.asked_model.as_deref().unwrap_or(requested);
            if !same_model(requested, answered) && !same_model(resolved, answered) {
                let message =
                    format!("Another model answered than the one asked for: {}.", screen::words(answered));
                return Finding::defect(ReasonCode::ModelMismatch, message);
            }
        }
        Finding::Success
    }

    /// The error that a result is.
    fn failure(&self, result: &TurnResult) -> Finding {
        let filled = |text: &&str| !text.trim().is_empty();
        let said = result.text.as_deref().filter(filled);
        let said = said.or_else(|| result.errors.iter().map(String::as_str).find(filled));
        let said = said.unwrap_or("claude ended the turn with an error and no message.");
        let (code, retry_at) = classify(
            said,
            Signs {
                status: result.status,
                word: self.error_word.as_deref(),
                stop_reason: result.stop_reason.as_deref(),
                limit_ends_at: self.limit_ends_at,
            },
        );
        let mut message = screen::message(said);
        if code == ReasonCode::AuthenticationRequired {
            message.push_str(" (to sign in: claude auth login)");
        }
        Finding::ProviderError { code, message: Some(message), retry_at }
    }
}

/// What a stop reason says against an answer; `None` for the good ones.
fn stopped(reason: &str) -> Option<Finding> {
    let error =
        |code, message: String| Some(Finding::ProviderError { code, message: Some(message), retry_at: None });
    match reason.to_ascii_lowercase().as_str() {
        "end_turn" | "stop_sequence" => None,
        "max_tokens" | "model_context_window_exceeded" => error(
            ReasonCode::IncompleteOutput,
            "The answer was cut at the provider's limit on tokens.".to_owned(),
        ),
        "refusal" => error(ReasonCode::Refusal, "The model declined to answer.".to_owned()),
        early if early == "interrupted" || early.starts_with("cancel") || early.starts_with("abort") => {
            error(
                ReasonCode::ProviderFailed,
                format!("claude ended the turn early ({}).", screen::words(early)),
            )
        }
        other => Some(Finding::defect(
            ReasonCode::InvalidOutput,
            format!("claude ended the turn for a reason that is no end of one ({}).", screen::words(other)),
        )),
    }
}
