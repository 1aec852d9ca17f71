//! The commands: each asks `turn`, prints what comes back, and ends with its exit code.

mod discover;
mod dispatch;
mod follow;
mod host;
mod observe;
mod quickstart;
mod upkeep;
mod verify;

use std::ffi::OsString;
use std::io;

use record::answer::Answer;
use record::failure::{Failure, FailureCode, NextAction, Stage};
use serde::Serialize;

use crate::arguments::{self, Command, Ended, Globals, Help};
use crate::exit::Exit;
use crate::{exit, human, output};

/// Carries out the command line of `delegate`.
pub(crate) fn run(words: &[OsString]) -> Exit {
    let json = arguments::asks_for_json(words);
    output::end(match arguments::parse(words) {
        Ok((globals, command)) => carry_out(&globals, &command),
        Err(Ended::Help(text)) => explained(&text, json),
        Err(Ended::Version) => version(json),
        Err(Ended::Usage { command, error, text }) => {
            output::remark(text.trim_end());
            refused(command.as_deref(), &error, json)
        }
    })
}

fn carry_out(globals: &Globals, command: &Command) -> io::Result<Exit> {
    match command {
        Command::Quickstart(arguments) => quickstart::run(globals, arguments),
        Command::Dispatch(arguments) => dispatch::run(globals, arguments),
        Command::Continue(arguments) => dispatch::go_on(globals, arguments),
        Command::Status(arguments) => observe::status(globals, arguments),
        Command::Collect(arguments) => observe::collect(globals, arguments),
        Command::Wait(arguments) => observe::wait(globals, arguments),
        Command::Logs(arguments) => observe::logs(globals, arguments),
        Command::Cancel(arguments) => observe::cancel(globals, arguments),
        Command::Providers(_) => discover::providers(globals),
        Command::Capabilities(arguments) => discover::capabilities(globals, arguments),
        Command::Preflight(arguments) => discover::preflight(globals, arguments),
        Command::Models(arguments) => discover::models(globals, arguments),
        Command::Verify(arguments) => verify::run(globals, arguments),
        Command::Doctor(arguments) => upkeep::doctor(globals, arguments),
        Command::Prune(arguments) => upkeep::prune(globals, arguments),
        Command::Help(arguments) => help(globals, arguments),
        Command::Version(_) => version(globals.json),
    }
}

fn explained(text: &str, json: bool) -> io::Result<Exit> {
    #[derive(Serialize)]
    struct Explained<'a> {
        schema_version: u32,
        command: &'static str,
        text: &'a str,
    }
    if json {
        output::json(&Explained { schema_version: 1, command: "help", text })?;
    } else {
        output::text(text)?;
    }
    Ok(Exit::Done)
}

/// The end of a command line that could not be read (CLI.md "Other answers").
fn refused(command: Option<&str>, error: &str, json: bool) -> io::Result<Exit> {
    #[derive(Serialize)]
    struct Refused<'a> {
        schema_version: u32,
        #[serde(skip_serializing_if = "Option::is_none")]
        command: Option<&'a str>,
        error: &'a str,
        failure: Failure,
    }
    if json {
        output::json(&Refused {
            schema_version: 1,
            command,
            error,
            failure: Failure {
                code: FailureCode::UsageError,
                stage: Stage::ParseArguments,
                next_action: NextAction::CorrectRequest,
            },
        })?;
    }
    Ok(Exit::Invalid)
}

fn help(globals: &Globals, arguments: &Help) -> io::Result<Exit> {
    let command = arguments.command.as_deref();
    match arguments::help(command) {
        Some(text) => explained(&text, globals.json),
        None => {
            let error = "there is no such command";
            output::error(error);
            output::remark("\nUsage: delegate help [COMMAND]");
            refused(Some("help"), error, globals.json)
        }
    }
}

fn version(json: bool) -> io::Result<Exit> {
    #[derive(Serialize)]
    struct Version {
        schema_version: u32,
        command: &'static str,
        version: &'static str,
    }
    let version = env!("CARGO_PKG_VERSION");
    if json {
        output::json(&Version { schema_version: 1, command: "version", version })?;
    } else {
        output::text(&format!("delegate {version}\n"))?;
    }
    Ok(Exit::Done)
}

/// Prints the one answer of a command on a task. A failure is the whole answer: in words it goes to standard error.
fn print(globals: &Globals, answer: &Answer, words: impl FnOnce() -> String) -> io::Result<()> {
    if globals.json {
        return output::text(&answer.to_line().ok_or_else(output::too_long)?);
    }
    if answer.failure.is_none() {
        output::text(&words())?;
    }
    complain(answer);
    Ok(())
}

/// Says on standard error what went wrong and what to do now.
fn complain(answer: &Answer) {
    if let Some(error) = &answer.error {
        output::error(error);
    }
    if let Some(failure) = answer.failure {
        output::remark(&format!("next:  {}", human::answer::advice(failure.next_action)));
    }
}

/// Prints an answer that is nothing but a failure, and ends with its exit code.
fn fail(globals: &Globals, answer: &Answer) -> io::Result<Exit> {
    print(globals, answer, String::new)?;
    Ok(exit::of_look(answer))
}
