//! What a judge is: a pure function over sealed evidence (STATE.md 3.8).

use std::io::{self, Read, Write};

use record::outcome::Note;
use record::plan::Predicate;
use record::usage::{Usage, UsageReliability};
use record::words::{Permission, ReasonCode};
use record::{ProfileId, Sha256Digest, Timestamp};

use crate::events::Reading;
use crate::standard_error::StandardError;

/// Opens the sealed artifact of a name; `None` when the CLI left none.
pub type Artifacts<'a> = dyn FnMut(&str) -> io::Result<Option<Box<dyn Read>>> + 'a;

/// The sealed bytes of one turn and what was expected of them. The stop is not part of it: it is a fact of the turn, which
/// ranks it (STATE.md 3.8).
pub struct Evidence<'a> {
    /// The sealed standard output.
    pub stdout: &'a mut dyn Read,
    /// The sealed standard error.
    pub stderr: &'a mut dyn Read,
    /// The sealed artifacts.
    pub artifact: &'a mut Artifacts<'a>,
    /// The conversation that must answer: the one to be continued, or the one whose id the launch chose.
    pub expected_session: Option<&'a str>,
    /// The model that was asked for.
    pub requested_model: Option<&'a str>,
    /// A stream was cut to its cap, or got shorter while it was read.
    pub cut: bool,
    /// The sealed exit code, where the process ended by itself. It means something only of a program whose codes are ours to
    /// define; of all others the words decide.
    pub exit_code: Option<i32>,
}

/// What a judge says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// The finding.
    pub finding: Finding,
    /// The CLI's id of the conversation, where the stream names one.
    pub session: Option<String>,
    /// What the provider says it used.
    pub usage: Vec<Usage>,
    /// Facts beside the finding.
    pub notes: Vec<Note>,
}

/// What the sealed bytes prove.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// A complete success; the answer, which is not blank, was written to the sink as a whole.
    Success,
    /// The provider's own, final, structured error.
    ProviderError {
        /// Its class; `provider-failed` where no better one is certain.
        code: ReasonCode,
        /// The provider's words, screened and bounded.
        message: Option<String>,
        /// When the provider says it may be asked again.
        retry_at: Option<Timestamp>,
    },
    /// The bytes prove neither: they break the grammar, stop early, hold no answer or contradict each other.
    Defect {
        /// Which of these.
        code: ReasonCode,
        /// One sentence.
        message: String,
    },
}

impl Finding {
    /// A defect of a kind, with its sentence.
    pub(crate) fn defect(code: ReasonCode, message: impl Into<String>) -> Self {
        Self::Defect { code, message: message.into() }
    }
}

/// One revision of the rules by which a profile's evidence is judged. Revisions are never changed, only added.
pub trait Judge: Sync {
    /// Counts from 1.
    fn revision(&self) -> u32;

    /// The rules in words. Their digest names the judge, so a change of the rules is a change of this text.
    fn rules(&self) -> &'static str;

    /// The identity of this judge for a profile and mode.
    fn predicate(&self, profile: &ProfileId, mode: Permission) -> Predicate {
        Predicate {
            profile: profile.clone(),
            mode,
            revision: self.revision(),
            sha256: Sha256Digest::of(self.rules().as_bytes()),
        }
    }

    /// Judges. What is in the sink counts with [`Finding::Success`] only: a judge may write what it takes for the answer
    /// before it knows whether it is one.
    ///
    /// # Errors
    /// Those of the readers, and with a success those of the sink; never anything that the evidence says.
    fn judge(&self, evidence: Evidence<'_>, answer: &mut dyn Write) -> io::Result<Judgement>;
}

/// A stream that stops before the turn was complete: with the provider's last own words of trouble, or, when it did
/// not get beyond its first event, with the last lines of standard error.
pub(crate) fn incomplete(
    program: &str,
    reading: &Reading,
    last_error: Option<&str>,
    errors: &StandardError,
) -> Finding {
    let said = last_error.or(errors.last_words.as_deref().filter(|_| reading.events <= 1));
    let said = said.map(|said| format!(" Its last words: {said}")).unwrap_or_default();
    Finding::defect(
        ReasonCode::IncompleteOutput,
        format!("The output ends before {program} completed the turn.{said}"),
    )
}

/// The last step of every judge: evidence that was cut proves nothing but a complete success (STATE.md 3.5), numbers of a
/// rejected turn are unreliable (providers.md 1.11), the answer goes to the sink.
pub(crate) fn conclude(
    mut judgement: Judgement,
    cut: bool,
    text: &str,
    answer: &mut dyn Write,
) -> io::Result<Judgement> {
    if judgement.finding == Finding::Success {
        answer.write_all(text.as_bytes())?;
        return Ok(judgement);
    }
    if cut {
        judgement.finding = Finding::defect(
            ReasonCode::InvalidOutput,
            "The recorded output was cut or rewritten, and what is left holds no complete success.",
        );
    }
    for usage in &mut judgement.usage {
        usage.reliability = UsageReliability::Unreliable;
    }
    Ok(judgement)
}
