//! The command line of the router (router.md 1.1).

use std::ffi::OsString;

use crate::finding::Refusal;

/// Who produced the work that is to be reviewed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Producer {
    /// A profile of the central gate.
    Profile(String),
    /// A model family.
    Family(String),
}

/// What is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Question {
    Help,
    Check,
    Lane(String),
    Profile(String),
    Resolve { lane: String, producer: Option<Producer>, selected: Option<String> },
    Table,
}

/// The question, and whether `--json` stands anywhere.
pub(super) fn parse(arguments: &[OsString]) -> (bool, Result<Question, Refusal>) {
    let words: Vec<String> =
        arguments.iter().map(|argument| argument.to_string_lossy().into_owned()).collect();
    let json = words.iter().any(|word| word == "--json");
    (json, question(words.into_iter().filter(|word| word != "--json")))
}

fn question(mut words: impl Iterator<Item = String>) -> Result<Question, Refusal> {
    let command = words.next().ok_or_else(|| Refusal::usage("a command is missing; see --help"))?;
    let question = match command.as_str() {
        "-h" | "--help" => Question::Help,
        "check" => Question::Check,
        "table" => Question::Table,
        "lane" => Question::Lane(words.next().ok_or_else(|| Refusal::usage("lane needs a name"))?),
        "profile" => Question::Profile(words.next().ok_or_else(|| Refusal::usage("profile needs a name"))?),
        "resolve" => return resolve(words),
        _ => return Err(Refusal::usage(format!("unknown command {command}; see --help"))),
    };
    match words.next() {
        None => Ok(question),
        Some(extra) => Err(Refusal::usage(format!("unknown argument {extra}"))),
    }
}

fn resolve(mut words: impl Iterator<Item = String>) -> Result<Question, Refusal> {
    let (mut lane, mut selected, mut profile, mut family) = (None, None, None, None);
    while let Some(flag) = words.next() {
        let place = match flag.as_str() {
            "--lane" => &mut lane,
            "--selected-profile" => &mut selected,
            "--producer-profile" => &mut profile,
            "--producer-family" => &mut family,
            _ => return Err(Refusal::usage(format!("unknown argument {flag}"))),
        };
        *place = Some(words.next().ok_or_else(|| Refusal::usage(format!("{flag} needs a value")))?);
    }
    let lane = lane.ok_or_else(|| Refusal::usage("resolve needs --lane"))?;
    let producer = match (profile, family) {
        (None, None) => None,
        (Some(profile), None) => Some(Producer::Profile(profile)),
        (None, Some(family)) => Some(Producer::Family(family)),
        (Some(_), Some(_)) => {
            return Err(Refusal::usage("--producer-profile and --producer-family exclude each other"));
        }
    };
    Ok(Question::Resolve { lane, producer, selected })
}
