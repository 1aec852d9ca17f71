//! Whether an artifact of a run is what the contract says (executor-contract.md 8).
//!
//! The steps run in order, and the first that fails ends the run. No value of an artifact is repeated but those of
//! vocabulary fields and the names of lanes; a value in the shape of a credential never is.

mod claims;
mod declared;
mod extension;

mod identity;
mod participants;
mod semantics;
mod status;

use gates::finding::{Exit, Finding, Refusal};
use gates::json::{Json, Object, pointer};

use crate::model::{Contract, Envelope, EnvelopeKind, Family};

/// What an artifact is held to.
#[derive(Clone, Copy, Debug)]
pub struct Expectation<'a> {
    /// The contract, checked.
    pub contract: &'a Contract,
    /// The kind of the artifact.
    pub kind: EnvelopeKind,
    /// The family that wrote it, where the caller knows it.
    pub family: Option<&'a Family>,
}

/// An artifact that is what the contract says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Validated {
    /// Number of fields that every artifact of the kind has.
    pub required_fields: usize,
    /// Fields that the contract does not declare, sorted.
    pub extension_fields: Vec<String>,
}

/// The fields of an artifact.
///
/// # Errors
/// Exit 65: it is no JSON object.
pub fn fields(artifact: &Json) -> Result<&Object, Refusal> {
    artifact.as_object().ok_or_else(|| {
        let message = format!("the artifact is no JSON object ({})", artifact.kind());
        Refusal::single(Exit::Invalid, "artifact", "not_an_object", message)
    })
}

/// Holds the fields of an artifact to an expectation.
///
/// # Errors
/// Exit 65 with the findings of the first step that fails.
pub fn validate(expectation: Expectation<'_>, fields: &Object) -> Result<Validated, Refusal> {
    let step = |stage, message: &str, problems: Vec<Problem>| refuse(stage, message, problems);
    step("required-fields", "required fields are missing", declared::missing(expectation, fields))?;
    step("field-types", "fields have another type than declared", declared::types(expectation, fields))?;
    declared::closed_values(expectation, fields)?;
    if let Some(family) = expectation.family {
        step(
            "identity",
            "fields disagree with the family",
            identity::problems(expectation.kind, expectation.envelope(), family, fields),
        )?;
    }
    step(
        "extension-policy",
        "the artifact carries what no artifact may carry",
        extension::problems(&expectation.contract.extension_policy, fields),
    )?;
    step(
        "semantics",
        "the artifact contradicts itself or its family",
        semantics::problems(expectation, fields),
    )?;

    let envelope = expectation.envelope();
    let mut extension_fields: Vec<String> =
        fields.keys().filter(|field| !envelope.names(field)).cloned().collect();
    extension_fields.sort_unstable();
    Ok(Validated { required_fields: envelope.required.len(), extension_fields })
}

impl<'a> Expectation<'a> {
    /// The declaration of the kind.
    pub fn envelope(self) -> &'a Envelope {
        self.contract.envelopes.get(self.kind)
    }
}

/// What a step found: the words of the specification, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Problem {
    words: String,
    at: String,
    /// The stable name where it is not the part of the words before a colon.
    id: Option<&'static str>,
}

impl Problem {
    /// A problem of a field, named by words whose part before a colon is stable.
    fn of(field: &str, words: impl Into<String>) -> Self {
        Self { words: words.into(), at: pointer([field]), id: None }
    }

    /// A problem whose words are the name of what is wrong.
    fn named(id: &'static str, at: String, words: impl Into<String>) -> Self {
        Self { words: words.into(), at, id: Some(id) }
    }

    fn finding(self) -> Finding {
        let id = match self.id {
            Some(id) => id.to_owned(),
            None => self.words.split(':').next().unwrap_or_default().to_owned(),
        };
        Finding::new(id, self.at, self.words)
    }
}

/// Nothing where there is no problem; else the words as one array, in the order of the problems, each once.
fn refuse(stage: &'static str, message: &str, problems: Vec<Problem>) -> Result<(), Refusal> {
    if problems.is_empty() {
        return Ok(());
    }
    let mut words: Vec<&str> = problems.iter().map(|problem| problem.words.as_str()).collect();
    words.dedup();
    let list = serde_json::to_string(&words).unwrap_or_default();
    Err(Refusal {
        exit: Exit::Invalid,
        stage,
        message: format!("{message}: {list}"),
        findings: problems.into_iter().map(Problem::finding).collect(),
    })
}

/// Problems by their words, so that equal ones stand together.
fn sorted(mut problems: Vec<Problem>) -> Vec<Problem> {
    problems.sort_by(|left, right| (&left.words, &left.at).cmp(&(&right.words, &right.at)));
    problems
}

fn number(fields: &Object, field: &str) -> Option<f64> {
    fields.get(field)?.as_f64()
}

fn text<'a>(fields: &'a Object, field: &str) -> Option<&'a str> {
    fields.get(field)?.as_str()
}

fn list<'a>(fields: &'a Object, field: &str) -> &'a [Json] {
    fields.get(field).and_then(Json::as_array).unwrap_or_default()
}

fn is_true(fields: &Object, field: &str) -> bool {
    fields.get(field) == Some(&Json::Bool(true))
}
