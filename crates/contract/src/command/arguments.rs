//! The command line (executor-contract.md 2).

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use gates::finding::Refusal;

/// What is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Command {
    Help,
    Check,
    Families,
    Family(String),
    Classes,
    ExitCodes,
    Table,
    Validate,
}

/// The flags of `validate`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ValidateArguments {
    pub(super) envelope: String,
    pub(super) file: PathBuf,
    pub(super) family: Option<String>,
}

/// The command. `--json` may stand anywhere; unknown arguments behind a command are ignored, but for `validate`.
pub(super) fn command(arguments: &[OsString]) -> Result<Command, Refusal> {
    let mut words = arguments.iter().filter(|word| *word != "--json").map(|word| word.to_string_lossy());
    let Some(command) = words.next() else { return Ok(Command::Help) };
    Ok(match &*command {
        "-h" | "--help" => Command::Help,
        "check" => Command::Check,
        "families" => Command::Families,
        "family" => {
            let name = words.next().ok_or_else(|| Refusal::usage("family needs a name"))?;
            Command::Family(name.into_owned())
        }
        "classes" => Command::Classes,
        "exit-codes" => Command::ExitCodes,
        "table" => Command::Table,
        "validate" => Command::Validate,
        unknown => return Err(Refusal::usage(format!("unknown command {unknown}; see --help"))),
    })
}

/// The flags of `validate`, which has no unknown ones.
pub(super) fn validate(arguments: &[OsString]) -> Result<ValidateArguments, Refusal> {
    let (mut envelope, mut file, mut family) = (None, None, None);
    // The first `validate` is the command; `--json` may stand before it.
    let mut words = arguments.iter().skip_while(|word| *word != "validate").skip(1);
    while let Some(word) = words.next() {
        let place = match word.to_str() {
            Some("--json") => continue,
            Some("--envelope") => &mut envelope,
            Some("--file") => &mut file,
            Some("--family") => &mut family,
            _ => return Err(Refusal::usage(format!("unknown argument {}", word.to_string_lossy()))),
        };
        let value = words
            .next()
            .ok_or_else(|| Refusal::usage(format!("{} needs a value", word.to_string_lossy())))?;
        *place = Some(value);
    }
    let text = |value: &OsStr| value.to_string_lossy().into_owned();
    Ok(ValidateArguments {
        envelope: envelope
            .map(|value| text(value))
            .ok_or_else(|| Refusal::usage("validate needs --envelope"))?,
        file: file.map(PathBuf::from).ok_or_else(|| Refusal::usage("validate needs --file"))?,
        family: family.map(|value| text(value)),
    })
}
