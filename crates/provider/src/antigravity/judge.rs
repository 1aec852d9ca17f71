//! Judging a run of antigravity: one object on standard output, and words on standard error (providers.md 2.2 to 2.5).

use std::io::{self, Read, Write};

use record::json::{self, DecodeError, LINE_MAX_BYTES};
use record::usage::{Usage, UsageReliability, UsageScope, UsageSource};
use record::words::ReasonCode;
use serde_json::{Map, Value};

use super::SIGN_IN;
use super::marker::MarkerSeen;
use crate::events::{Reading, text};
use crate::judge::{Evidence, Finding, Judge, Judgement, conclude, incomplete};
use crate::number::decimal_text;
use crate::options::is_uuid;
use crate::screen;
use crate::standard_error::StandardError;

/// The first rules.
pub(super) struct Revision1;

const RULES: &str = "\
antigravity:print, revision 1
Standard output is one JSON object of at most 64 MiB with white space around it; duplicate keys are refused, also under
case folding. status, conversation_id and response are texts; error is a text; duration_seconds is a number from zero,
num_turns and the counts of usage are whole numbers from zero; these may be null. All else is passed over.
Order: an object that is cut off is incomplete-output, any other fault and an unknown status are invalid-output; the status
ERROR is the provider's error, and authentication-required for the one text that tells of a failed authentication; a
conversation that is no UUID or not the expected one is identity-mismatch; an error beside the status SUCCESS is
invalid-output; the words of the CLI's own timeout on standard error are incomplete-output; a blank response is
empty-output; else the response is the answer.
";

/// Tells that the CLI stopped waiting, whatever its object says.
const TIMEOUT: &[u8] = b"[agy] print timeout";
const TIMEOUT_SENTENCE: &str = "agy stopped waiting for the answer at its own print timeout.";
/// The one error text that is known to mean a missing login.
const SIGNED_OUT: &str = "authentication failed or timed out";

impl Judge for Revision1 {
    fn revision(&self) -> u32 {
        1
    }

    fn rules(&self) -> &'static str {
        RULES
    }

    fn judge(&self, evidence: Evidence<'_>, answer: &mut dyn Write) -> io::Result<Judgement> {
        let mut bytes = Vec::new();
        evidence.stdout.take(LINE_MAX_BYTES as u64 + 1).read_to_end(&mut bytes)?;
        let mut stderr = MarkerSeen::new(evidence.stderr, TIMEOUT);
        let errors = StandardError::read(&mut stderr, "")?;
        let timed_out = stderr.seen;
        let envelope = Envelope::read(&bytes);
        drop(bytes);
        let finding = match &envelope {
            Ok(envelope) => envelope.finding(timed_out, evidence.expected_session),
            Err(NoEnvelope::Cut) if timed_out => {
                Finding::defect(ReasonCode::IncompleteOutput, TIMEOUT_SENTENCE)
            }
            Err(NoEnvelope::Cut) => incomplete("agy", &Reading::default(), None, &errors),
            Err(NoEnvelope::Fault(sentence)) => Finding::defect(ReasonCode::InvalidOutput, *sentence),
        };
        let envelope = envelope.ok();
        let judgement = Judgement {
            finding,
            session: envelope.as_ref().map(|envelope| envelope.conversation.clone()).filter(|id| is_uuid(id)),
            usage: envelope.as_ref().map(|envelope| envelope.usage.clone()).into_iter().collect(),
            notes: Vec::new(),
        };
        let response = envelope.map(|envelope| envelope.response).unwrap_or_default();
        conclude(judgement, evidence.cut, &response, answer)
    }
}

/// The object that the CLI prints at its end.
struct Envelope {
    status: String,
    conversation: String,
    response: String,
    error: Option<String>,
    usage: Usage,
}

/// Why there is none.
enum NoEnvelope {
    /// The output ends before the object does.
    Cut,
    Fault(&'static str),
}

impl Envelope {
    fn read(bytes: &[u8]) -> Result<Self, NoEnvelope> {
        let fields = json::parse_line(bytes).map_err(|error| match error {
            DecodeError::Syntax { offset } if offset >= bytes.trim_ascii_end().len() => NoEnvelope::Cut,
            DecodeError::NotUtf8 { offset } if bytes.len() - offset < char::MAX.len_utf8() => NoEnvelope::Cut,
            DecodeError::TooLarge { .. } => NoEnvelope::Fault("The output is longer than 64 MiB."),
            _ => NoEnvelope::Fault("The output is not one JSON object of an unambiguous form."),
        })?;
        Self::of(fields)
            .ok_or(NoEnvelope::Fault("The object that agy printed lacks a field or has one of another kind."))
    }

    fn of(mut fields: Map<String, Value>) -> Option<Self> {
        let response = match fields.remove("response") {
            Some(Value::String(response)) => response,
            _ => return None,
        };
        Some(Self {
            status: text(&fields, "status")?.to_owned(),
            conversation: text(&fields, "conversation_id")?.to_owned(),
            response,
            error: optional(&fields, "error", |error| error.as_str().map(str::to_owned))?,
            usage: usage(&fields)?,
        })
    }

    fn finding(&self, timed_out: bool, expected_session: Option<&str>) -> Finding {
        match self.status.as_str() {
            "SUCCESS" => {}
            "ERROR" => return provider_error(self.error.as_deref().unwrap_or_default()),
            _ => {
                let message = "agy ended with a status that is not known.";
                return Finding::defect(ReasonCode::InvalidOutput, message);
            }
        }
        if !is_uuid(&self.conversation) {
            return Finding::defect(ReasonCode::IdentityMismatch, "The answer names no conversation.");
        }
        if expected_session.is_some_and(|expected| !expected.eq_ignore_ascii_case(&self.conversation)) {
            let message = "Another conversation answered than the one to be continued.";
            return Finding::defect(ReasonCode::IdentityMismatch, message);
        }
        if self.error.is_some() {
            let message = "The object that agy printed tells both success and an error.";
            return Finding::defect(ReasonCode::InvalidOutput, message);
        }
        if timed_out {
            return Finding::defect(ReasonCode::IncompleteOutput, TIMEOUT_SENTENCE);
        }
        if self.response.trim().is_empty() {
            return Finding::defect(ReasonCode::EmptyOutput, "agy completed the turn without an answer.");
        }
        Finding::Success
    }
}

fn provider_error(error: &str) -> Finding {
    let (code, hint) = if error == SIGNED_OUT {
        (ReasonCode::AuthenticationRequired, SIGN_IN)
    } else {
        (ReasonCode::ProviderFailed, "")
    };
    let said = screen::message(error);
    let message =
        if said.is_empty() { "agy reports an error without words.".to_owned() } else { said + hint };
    Finding::ProviderError { code, message: Some(message), retry_at: None }
}

/// A field that may be missing or null; `None` when it has another kind.
fn optional<T>(
    fields: &Map<String, Value>,
    name: &str,
    read: impl Fn(&Value) -> Option<T>,
) -> Option<Option<T>> {
    match fields.get(name) {
        None | Some(Value::Null) => Some(None),
        Some(value) => read(value).map(Some),
    }
}

fn usage(fields: &Map<String, Value>) -> Option<Usage> {
    let none = Map::new();
    let counts = match fields.get("usage") {
        None | Some(Value::Null) => &none,
        Some(counts) => counts.as_object()?,
    };
    let count = |name| optional(counts, name, Value::as_u64);
    Some(Usage {
        input_tokens: count("input_tokens")?,
        output_tokens: count("output_tokens")?,
        thinking_tokens: count("thinking_tokens")?,
        total_tokens: count("total_tokens")?,
        cache_read_tokens: count("cache_read_tokens")?,
        num_turns: optional(fields, "num_turns", Value::as_u64)?,
        duration_seconds: optional(fields, "duration_seconds", decimal_text)?,
        ..Usage::new(
            UsageScope::ConversationCumulative,
            UsageSource::ProviderEnvelope,
            UsageReliability::Reported,
        )
    })
}
