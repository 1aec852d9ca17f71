//! Judging a run of antigravity: one object on standard output, and words on standard error (providers.md 2.2 to 2.5).

use std::io::{self, Write};

use record::json::{DecodeError, LineReader, Object, Value};
use record::usage::{Usage, UsageReliability, UsageScope, UsageSource};
use record::words::ReasonCode;

use super::SIGN_IN;
use super::marker::MarkerSeen;
use super::object::{self, Printed};
use crate::events::Reading;
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
        let mut draft = Draft { answer, error: None };
        let printed = object::read(evidence.stdout, &mut draft)?;
        let mut stderr = MarkerSeen::new(evidence.stderr, TIMEOUT);
        let errors = StandardError::read(&mut stderr, "")?;
        let timed_out = stderr.seen;
        let envelope = Envelope::read(&printed);
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
            usage: envelope.map(|envelope| envelope.usage).into_iter().collect(),
            notes: Vec::new(),
        };
        match draft.error.filter(|_| judgement.finding == Finding::Success) {
            Some(error) => Err(error),
            None => conclude(judgement, evidence.cut, "", answer),
        }
    }
}

/// Takes the answer before anybody knows that it is one; so it matters only in the end that it could not be written.
struct Draft<'a> {
    answer: &'a mut dyn Write,
    error: Option<io::Error>,
}

impl Write for Draft<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.error.is_none() {
            self.error = self.answer.write_all(bytes).err();
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The object that the CLI prints at its end.
struct Envelope {
    status: String,
    conversation: String,
    is_blank: bool,
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
    fn read(printed: &Printed) -> Result<Self, NoEnvelope> {
        let bytes = printed.rest.as_slice();
        if printed.is_too_long {
            return Err(NoEnvelope::Fault("The output is longer than 64 MiB."));
        }
        let mut reader = LineReader::default();
        let fields = reader.read(bytes).map_err(|error| match error {
            DecodeError::Syntax { offset } if offset >= bytes.trim_ascii_end().len() => NoEnvelope::Cut,
            DecodeError::NotUtf8 { offset } if bytes.len() - offset < char::MAX.len_utf8() => NoEnvelope::Cut,
            _ => NoEnvelope::Fault("The output is not one JSON object of an unambiguous form."),
        })?;
        Self::of(fields, printed.is_blank)
            .ok_or(NoEnvelope::Fault("The object that agy printed lacks a field or has one of another kind."))
    }

    fn of(fields: Object<'_>, is_blank: bool) -> Option<Self> {
        fields.text("response")?;
        Some(Self {
            status: fields.text("status")?.to_owned(),
            conversation: fields.text("conversation_id")?.to_owned(),
            is_blank,
            error: optional(fields, "error", |error| error.as_str().map(str::to_owned))?,
            usage: usage(fields)?,
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
        if self.is_blank {
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
fn optional<'a, T>(
    fields: Object<'a>,
    name: &str,
    read: impl Fn(Value<'a>) -> Option<T>,
) -> Option<Option<T>> {
    match fields.get(name).filter(|value| !value.is_null()) {
        None => Some(None),
        Some(value) => read(value).map(Some),
    }
}

fn usage(fields: Object<'_>) -> Option<Usage> {
    let counts = optional(fields, "usage", Value::as_object)?;
    let count = |name| counts.map_or(Some(None), |counts| optional(counts, name, Value::as_u64));
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What is found in all bytes, and the answer.
    fn at_once(bytes: &[u8]) -> (String, Option<String>) {
        let response = LineReader::default()
            .read(bytes)
            .ok()
            .and_then(|fields| fields.text("response").map(str::to_owned));
        let is_blank = response.as_deref().unwrap_or_default().trim().is_empty();
        let printed = Printed { rest: bytes.to_vec(), is_too_long: false, is_blank };
        (told(&printed), response)
    }

    fn told(printed: &Printed) -> String {
        match Envelope::read(printed) {
            Ok(envelope) => {
                format!("{:?} {:?} {}", envelope.finding(false, None), envelope.usage, envelope.conversation)
            }
            Err(NoEnvelope::Cut) => "cut".to_owned(),
            Err(NoEnvelope::Fault(sentence)) => sentence.to_owned(),
        }
    }

    fn outputs() -> impl Strategy<Value = Vec<u8>> {
        let unit = prop::sample::select(vec![
            "x",
            "é",
            "\u{10ffff}",
            "\\n",
            "\\\\",
            "\\\"",
            "\\u00e9",
            "\\ud83d\\ude00",
            "\\ud83d",
            "\\ude00",
            "\\uD8",
            "\\x",
            "\n",
            " ",
            "\\u0020",
            "\"",
            "\",\"error\":\"e",
        ]);
        let good =
            prop::sample::select(vec!["x", "é", "\u{10ffff}", "\\n", "\\\\", "\\\"", "\\ud83d\\ude00", " "]);
        let text = prop_oneof![
            3 => prop::collection::vec(good, 0..8).prop_map(|units| units.concat()),
            1 => prop::collection::vec(unit, 0..8).prop_map(|units| units.concat()),
        ];
        let key = prop::sample::select(vec!["response", "response", "r\\u0065sponse", "Response", "answer"]);
        let edit = (any::<prop::sample::Index>(), prop::sample::select(b"\"\\{}[]:, x\xff\xc3".to_vec()));
        (text, key, 0..4_u8, prop::collection::vec(edit, 0..2), any::<prop::sample::Index>()).prop_map(
            |(text, key, form, edits, length)| {
                const OTHERS: &str = "\"status\":\"SUCCESS\",\"conversation_id\":\"01a22bc4-35fe-76d2-9b19-eb939069cedd\"";
                let mut bytes = match form {
                    0 => format!("{{\"{key}\" : \"{text}\",{OTHERS}}}\n"),
                    1 => format!(" {{{OTHERS},\"{key}\":\"{text}\"}}"),
                    2 => format!("{{\"more\":[{{\"response\":\"{text}\"}}],{OTHERS},\"{key}\":\n\"{text}\",\"error\":null}}"),
                    _ => format!("{{{OTHERS},\"{key}\":\"{text}\",\"RESPONSE\":\"\"}} \r\n"),
                }
                .into_bytes();
                for (place, byte) in &edits {
                    let place = place.index(bytes.len());
                    bytes[place] = *byte;
                }
                if form != 1 || !edits.is_empty() {
                    bytes.truncate(length.index(bytes.len() * 3 / 2).max(1));
                }
                bytes
            },
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2048))]

        #[test]
        fn an_answer_that_passes_by_changes_nothing(bytes in outputs(), most in 1_usize..9) {
            let (expected, response) = at_once(&bytes);
            let mut answer = Vec::new();
            let printed = object::read_in_pieces(&mut bytes.as_slice(), &mut answer, most).unwrap();
            prop_assert_eq!(told(&printed), expected.clone());
            if expected.starts_with("Success") {
                prop_assert_eq!(String::from_utf8(answer).ok(), response);
            }
        }
    }
}
