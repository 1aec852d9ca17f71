//! The frame of every runner: the command line, the gates, then what the family does.

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::process::ExitCode;

use gates::finding::one_line;
use process::TerminationSignals;
use record::answer::truncated;

use super::exit::{Exit, Refusal};
use super::family::Family;
use super::gate::Gates;
use super::limits::MESSAGE_MAX_BYTES;
use super::line::{self, Command, RunLine};
use super::surroundings::Surroundings;

/// What a family does once its gates hold.
#[derive(Debug)]
pub struct Call<'a> {
    /// The runner.
    pub family: &'static Family,
    /// The machine.
    pub surroundings: &'a Surroundings,
    /// The gates.
    pub gates: &'a Gates,
    /// The signals that ask this process to end, held back.
    pub signals: &'a TerminationSignals,
}

/// A command that a family answers.
#[derive(Clone, Debug)]
pub enum Action {
    /// `check`
    Check {
        /// As one JSON object.
        json: bool,
    },
    /// `run`
    Run(Box<RunLine>),
    /// A command of the family alone.
    Own(&'static str, Vec<OsString>),
}

/// How a command ended that was not refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Done {
    /// With a text for standard output.
    Text(String),
    /// With its files published; a successful `run` says nothing (runners.md 1.1).
    Published,
    /// With a failure, which has left its diagnostic.
    Failed {
        /// The exit code.
        exit: Exit,
        /// The lines for standard error.
        lines: Vec<String>,
    },
    /// By a signal that asked for it; everything is cleaned up.
    Interrupted(i32),
}

/// Why a run goes no further.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// It is refused.
    Refused(Refusal),
    /// This process is to end by a signal.
    Interrupted(i32),
}

impl From<Refusal> for Stop {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

/// The end of a command that may have been stopped.
///
/// # Errors
/// The refusal.
pub fn ended(result: Result<Done, Stop>) -> Result<Done, Refusal> {
    match result {
        Ok(done) => Ok(done),
        Err(Stop::Interrupted(signal)) => Ok(Done::Interrupted(signal)),
        Err(Stop::Refused(refusal)) => Err(refusal),
    }
}

/// Runs the program on the words behind its name.
pub fn main(family: &'static Family, act: fn(&Call<'_>, Action) -> Result<Done, Refusal>) -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    let signals = match TerminationSignals::block() {
        Ok(signals) => signals,
        Err(error) => {
            say(family, &format!("signals can not be held back: {error}"));
            return Exit::Unavailable.code().into();
        }
    };
    let exit = match perform(family, &words, &signals, act) {
        Ok(Done::Text(text)) => print(family, &text),
        Ok(Done::Published) => Exit::Done,
        Ok(Done::Failed { exit, lines }) => {
            lines.iter().for_each(|line| say(family, line));
            exit
        }
        Ok(Done::Interrupted(signal)) => signals.end_by(signal),
        Err(refusal) => {
            say(family, &refusal.message);
            refusal.exit
        }
    };
    exit.code().into()
}

fn perform(
    family: &'static Family,
    words: &[OsString],
    signals: &TerminationSignals,
    act: fn(&Call<'_>, Action) -> Result<Done, Refusal>,
) -> Result<Done, Refusal> {
    let surroundings = Surroundings::of_process()?;
    let early = match family.gates_first {
        Some(demand) => {
            let gates = Gates::load(family, &surroundings)?;
            demand(&gates)?;
            Some(gates)
        }
        None => None,
    };
    let action = match line::parse(family, words)? {
        Command::Help => return Ok(Done::Text(line::usage(family))),
        Command::Version => {
            return Ok(Done::Text(format!("{} {}\n", family.program, env!("CARGO_PKG_VERSION"))));
        }
        Command::Check { json } => Action::Check { json },
        Command::Run(line) => Action::Run(line),
        Command::Own(name, words) => Action::Own(name, words),
    };
    let gates = match early {
        Some(gates) => gates,
        None => Gates::load(family, &surroundings)?,
    };
    act(&Call { family, surroundings: &surroundings, gates: &gates, signals }, action)
}

fn print(family: &Family, text: &str) -> Exit {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Ok(()) => Exit::Done,
        Err(error) => {
            say(family, &format!("the answer could not be written: {error}"));
            Exit::Failed
        }
    }
}

/// One line on standard error.
pub fn say(family: &Family, message: &str) {
    let line = truncated(&one_line(message), MESSAGE_MAX_BYTES);
    // Nobody may be left to hear it; the exit code tells as well.
    let _ = writeln!(io::stderr(), "{}: {line}", family.program);
}
