//! The program `delegation-executor-contract` (executor-contract.md 1, 2, 9).
//!
//! The contract and the central gate are read first; so even `--help` fails where they are bad. Everything is checked
//! before any other answer.

mod answers;
mod arguments;
mod texts;

use std::ffi::OsString;
use std::io::Write;

use gates::embedded::{CENTRAL_GATE_FILE, CENTRAL_GATE_VARIABLE, file};
use gates::finding::{self, Exit, Refusal};
use gates::json::{Json, pretty};
use gates::source::{Environment, Text};

use crate::check::{Checked, check};
use crate::embedded::{CONTRACT, CONTRACT_FILE};
use crate::model::EnvelopeKind;
use crate::validate::{Expectation, fields, validate};
use arguments::{Command, ValidateArguments};

/// Name of the program.
pub const PROGRAM: &str = "delegation-executor-contract";

/// Environment variable that names another contract.
const CONTRACT_VARIABLE: &str = "DELEGATION_EXECUTOR_CONTRACT_FILE";

/// Runs the program on the arguments after its name and returns its exit code.
pub fn run(
    arguments: &[OsString],
    environment: &Environment<'_>,
    stdout: &mut dyn Write,
    stderr: &mut dyn Write,
) -> u8 {
    let json = arguments.iter().any(|word| word == "--json");
    finding::deliver(PROGRAM, json, respond(arguments, json, environment), stdout, stderr)
}

/// The two files that are read before the command is looked at.
struct Inputs {
    contract_file: String,
    contract: Json,
    central_file: String,
    central: Json,
}

impl Inputs {
    fn read(environment: &Environment<'_>) -> Result<Self, Refusal> {
        let contract =
            environment.find(environment.path(CONTRACT_VARIABLE), CONTRACT_FILE, Some(CONTRACT))?;
        let central = environment.find(
            environment.path(CENTRAL_GATE_VARIABLE),
            CENTRAL_GATE_FILE,
            file(CENTRAL_GATE_FILE),
        )?;
        Ok(Self {
            contract: parse(&contract)?,
            contract_file: contract.label,
            central: parse(&central)?,
            central_file: central.label,
        })
    }
}

fn parse(text: &Text) -> Result<Json, Refusal> {
    let value = text.parse("input")?;
    if matches!(value, Json::Null | Json::Bool(false)) {
        let message = format!("{} holds {}", text.label, value.pretty());
        return Err(Refusal::single(Exit::Invalid, "input", "not_json", message));
    }
    Ok(value)
}

fn respond(arguments: &[OsString], json: bool, environment: &Environment<'_>) -> Result<String, Refusal> {
    let inputs = Inputs::read(environment)?;
    let command = arguments::command(arguments)?;
    if let Command::Family(name) = &command
        && inputs.contract.at(&["families", name]).is_none()
    {
        return Err(Refusal::usage(format!("unknown family {name}")));
    }
    if matches!(command, Command::Help) {
        return Ok(texts::USAGE.to_owned());
    }
    let checked = check(&inputs.contract, &inputs.central, environment)?;
    let raw = |path: &[&str]| inputs.contract.at(path).cloned().unwrap_or_default();
    let mut text = match command {
        Command::Help => texts::USAGE.to_owned(),
        Command::Check => {
            let summary = answers::Summary::of(&inputs, &checked);
            if json { pretty(&summary) } else { texts::summary(&summary) }
        }
        Command::Families => {
            let families: Vec<_> = answers::families(&checked.contract).collect();
            if json { pretty(&families) } else { texts::families(&families) }
        }
        Command::Family(name) => answers::family(&raw(&["families", &name]), &name).pretty(),
        Command::Classes if json => raw(&["vocabularies", "permission_classes"]).pretty(),
        Command::Classes => texts::classes(&checked.contract),
        Command::ExitCodes if json => raw(&["exit_codes"]).pretty(),
        Command::ExitCodes => texts::exit_codes(&checked.contract),
        Command::Table => {
            let rows: Vec<_> = answers::table(&checked).collect();
            if json { pretty(&rows) } else { texts::table(&rows) }
        }
        Command::Validate => answer_validate(arguments, json, &checked)?,
    };
    if !text.ends_with('\n') {
        text.push('\n');
    }
    Ok(text)
}

fn answer_validate(arguments: &[OsString], json: bool, checked: &Checked) -> Result<String, Refusal> {
    let ValidateArguments { envelope, file, family } = arguments::validate(arguments)?;
    let kind = EnvelopeKind::of(&envelope).ok_or_else(|| {
        Refusal::usage(format!("unknown envelope {envelope}; status, result or diagnostic"))
    })?;
    let text = Text::read(&file)?;
    let artifact = text.parse("artifact")?;
    let artifact = fields(&artifact)?;
    let declared = match &family {
        None => None,
        Some(name) => Some(
            checked.contract.family(name).ok_or_else(|| Refusal::usage(format!("unknown family {name}")))?,
        ),
    };
    let expectation = Expectation { contract: &checked.contract, kind, family: declared };
    let validated = validate(expectation, artifact)?;
    let verdict = answers::Verdict::of(kind, &text.label, family.as_deref(), &validated);
    Ok(if json { pretty(&verdict) } else { texts::verdict(&verdict) })
}
