//! The commands: each asks `turn`, prints what comes back, and ends with its exit code.

mod discover;
mod dispatch;
mod follow;
mod history;
mod host;
mod logs;
mod observe;
mod quickstart;
mod reference;
mod upkeep;
mod verify;

pub(crate) use reference::schemas;

use std::ffi::OsString;
use std::io;

use record::answer::Answer;
use record::answers::{FailedAnswer, TextAnswer};
use record::failure::{Failure, FailureCode, NextAction, Stage};

use crate::arguments::{self, Command, Ended, Globals, Help};
use crate::exit::Exit;
use crate::human::wrap;
use crate::{exit, human, output};

/// Carries out the command line of `delegate`.
pub(crate) fn run(words: &[OsString]) -> Exit {
    let json = arguments::asks_for_json(words);
    output::end(match arguments::parse(words) {
        Ok((globals, command)) => carry_out(&globals, &command),
        Err(Ended::Help(text)) => explained(&text, json),
        Err(Ended::Version) => reference::version(json),
        Err(Ended::Usage { command, error, text }) => {
            let text = text.trim_end();
            output::remark(&match text.strip_prefix("error:") {
                Some(rest) => format!("{}{rest}", human::paint::paint(human::paint::BAD, "error:")),
                None => text.to_owned(),
            });
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
        Command::Logs(arguments) => logs::run(globals, arguments),
        Command::List(arguments) => history::list(globals, arguments),
        Command::Events(arguments) => history::events(globals, arguments),
        Command::Cancel(arguments) => observe::cancel(globals, arguments),
        Command::Providers(_) => discover::providers(globals),
        Command::Capabilities(arguments) => discover::capabilities(globals, arguments),
        Command::Preflight(arguments) => discover::preflight(globals, arguments),
        Command::Models(arguments) => discover::models(globals, arguments),
        Command::Verify(arguments) => verify::run(globals, arguments),
        Command::Doctor(arguments) => upkeep::doctor(globals, arguments),
        Command::Prune(arguments) => upkeep::prune(globals, arguments),
        Command::Help(arguments) => help(globals, arguments),
        Command::Completions(arguments) => reference::completions(globals, arguments),
        Command::Man(arguments) => reference::man(globals, arguments),
        Command::Schema(arguments) => reference::schema(globals, arguments),
        Command::Version(_) => reference::version(globals.json),
    }
}

fn explained(text: &str, json: bool) -> io::Result<Exit> {
    if json {
        let text = anstream::adapter::strip_str(text).to_string();
        output::json(&TextAnswer { schema_version: 1, command: "help".to_owned(), text })?;
    } else {
        output::text(text)?;
    }
    Ok(Exit::Done)
}

/// The end of a command line that could not be read (CLI.md "Other answers").
fn refused(command: Option<&str>, error: &str, json: bool) -> io::Result<Exit> {
    if json {
        output::json(&FailedAnswer {
            schema_version: 1,
            command: command.map(str::to_owned),
            error: error.to_owned(),
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
        None => no_such_command("help", globals.json),
    }
}

/// The end of a command that explains another one when there is no such command.
fn no_such_command(command: &str, json: bool) -> io::Result<Exit> {
    let error = "there is no such command";
    output::error(error);
    output::remark(&format!("\nUsage: delegate {command} [COMMAND]"));
    refused(Some(command), error, json)
}

/// A block of lines for people, as wide as the terminal where there is one.
fn fitted(block: &str) -> String {
    wrap::block(block, wrap::columns_of(io::stdout()))
}

/// Prints the one answer of a command on a task. A failure is the whole answer: in words it goes to standard error.
fn print(globals: &Globals, answer: &Answer, words: impl FnOnce() -> String) -> io::Result<()> {
    if globals.json {
        return output::exact(&answer.to_line().ok_or_else(output::too_long)?);
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
        output::remark(&format!("next:  {}", human::answer::hint(answer, failure)));
    }
}

/// The end of a command that follows something until nobody reads what it prints.
fn until_unread(ended: io::Result<Exit>) -> io::Result<Exit> {
    match ended {
        Err(fault) if fault.kind() == io::ErrorKind::BrokenPipe => Ok(Exit::Done),
        ended => ended,
    }
}

/// Prints an answer that is nothing but a failure, and ends with its exit code.
fn fail(globals: &Globals, answer: &Answer) -> io::Result<Exit> {
    print(globals, answer, String::new)?;
    Ok(exit::of_look(answer))
}

/// The same for a command that is not about a task: nothing is said of one.
fn fail_in_a_line(globals: &Globals, answer: &Answer) -> io::Result<Exit> {
    match (answer.failure, &answer.error) {
        (Some(failure), Some(error)) if globals.json => {
            let (command, error) = (Some(answer.command.clone()), error.clone());
            output::json(&FailedAnswer { schema_version: 1, command, error, failure })?;
            Ok(exit::of_look(answer))
        }
        _ => fail(globals, answer),
    }
}
