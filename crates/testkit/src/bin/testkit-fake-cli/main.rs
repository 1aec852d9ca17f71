//! The fake AI CLI: see `testkit::fake`.

mod agy;
mod claude;
mod conduct;
mod deeds;
mod escape;
mod grammar;
mod opencode;
mod output;
mod probe;
mod turn;

use std::path::Path;
use std::process::ExitCode;

use grammar::Grammar;
use testkit::fake::{Behaviour, configuration_path};

/// Exit status when a marker makes no sense.
const BAD_MARKER: u8 = 64;
/// Exit status when the fake itself could not do its work.
const BROKEN: u8 = 70;

fn main() -> ExitCode {
    let arguments: Vec<String> =
        std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    if let Some(code) = escape::run_if_asked(&arguments) {
        return code;
    }
    match run(&arguments) {
        Ok(code) => code,
        Err(message) => {
            eprintln!("fake CLI: {message}");
            ExitCode::from(BROKEN)
        }
    }
}

fn run(arguments: &[String]) -> Result<ExitCode, String> {
    // Not the first argument: whoever starts the file by a descriptor may name it anything.
    let executable = std::env::current_exe().map_err(|error| error.to_string())?;
    let grammar = Grammar::named(&executable.file_name().unwrap_or_default().to_string_lossy());
    let mut behaviours = match configured(&executable) {
        Ok(behaviours) => behaviours,
        Err(message) => return Ok(refuse(&message)),
    };
    if arguments.iter().any(|word| word == "--version" || word == "--help") {
        return probe::answer(grammar, arguments, &behaviours);
    }
    if grammar == Grammar::Agy && arguments.get(1).is_some_and(|word| word == "models") {
        print!("{}", agy::MODELS);
        return Ok(ExitCode::SUCCESS);
    }
    let brief = std::io::read_to_string(std::io::stdin()).map_err(|error| format!("the brief: {error}"))?;
    match Behaviour::all(&brief) {
        Ok(more) => behaviours.extend(more),
        Err(message) => return Ok(refuse(&message)),
    }
    turn::run(grammar, arguments, &brief, &behaviours)
}

fn configured(executable: &Path) -> Result<Vec<Behaviour>, String> {
    match std::fs::read_to_string(configuration_path(executable)) {
        Ok(text) => Behaviour::all(&text),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error.to_string()),
    }
}

fn refuse(message: &str) -> ExitCode {
    eprintln!("fake CLI: {message}");
    ExitCode::from(BAD_MARKER)
}
