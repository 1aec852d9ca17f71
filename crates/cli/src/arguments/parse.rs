//! From words to a command, or to the text that ends the program early.

use std::ffi::{OsStr, OsString};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Parser};

use super::{Command, CommandLine, Globals, RunnerLine};
use crate::human::safe;

/// The command line was answered without any command being carried out.
#[derive(Debug)]
pub(crate) enum Ended {
    /// Help was asked for.
    Help(String),
    /// The version was asked for.
    Version,
    /// The command line can not be read.
    Usage {
        /// The command, where it could still be recognised.
        command: Option<String>,
        /// The complaint in one line.
        error: String,
        /// The complaint, an empty line and the usage, for standard error.
        text: String,
    },
}

/// Reads the words after the program's name.
///
/// # Errors
/// When there is no command to carry out.
pub(crate) fn parse(words: &[OsString]) -> Result<(Globals, Command), Ended> {
    if words.is_empty() {
        return Err(Ended::Help(help(None).expect("there is a general help")));
    }
    let line = CommandLine::try_parse_from(with_name("delegate", words)).map_err(|fault| {
        let command = command_word(words);
        let fault = if command.as_deref() == Some("continue") { with_task_tip(fault) } else { fault };
        ended(&fault, command)
    })?;
    let globals = line.globals.merged(line.command.globals()).map_err(|flag| {
        let word = line.command.word();
        let fault = with_command(word, |command| {
            command.error(
                ErrorKind::ArgumentConflict,
                format!("the argument '{flag}' cannot be used multiple times"),
            )
        });
        ended(&fault.expect("the command was parsed"), Some(word.to_owned()))
    })?;
    Ok((globals, line.command))
}

/// Reads the words of the runner.
///
/// # Errors
/// When there is no task to run.
pub(crate) fn parse_runner(words: &[OsString]) -> Result<RunnerLine, Ended> {
    RunnerLine::try_parse_from(with_name("delegate-run", words))
        .map_err(|fault| ended(&fault, Some("delegate-run".to_owned())))
}

/// The help of one command, or of all; `None` when there is no such command.
pub(crate) fn help(command: Option<&str>) -> Option<String> {
    match command {
        None => Some(built().render_help().ansi().to_string()),
        Some(word) => with_command(word, |command| command.render_help().ansi().to_string()),
    }
}

/// Whether JSON is wanted, as far as that can be told from words that may not parse.
pub(crate) fn asks_for_json(words: &[OsString]) -> bool {
    words.iter().any(|word| word == "--json")
}

fn with_name<'a>(name: &'a str, words: &'a [OsString]) -> impl Iterator<Item = OsString> + use<'a> {
    std::iter::once(OsString::from(name)).chain(words.iter().cloned())
}

/// The whole command line as `clap` sees it.
pub(crate) fn built() -> clap::Command {
    let mut command = CommandLine::command();
    command.build();
    command
}

fn with_command<T>(word: &str, act: impl FnOnce(&mut clap::Command) -> T) -> Option<T> {
    built().find_subcommand_mut(word).map(act)
}

/// Most commands take the task as a plain word, so that is what is tried with `continue` too.
fn with_task_tip(mut fault: clap::Error) -> clap::Error {
    let is_task = matches!(
        fault.get(ContextKind::InvalidArg),
        Some(ContextValue::String(word)) if word.parse::<record::TaskId>().is_ok()
    );
    if fault.kind() == ErrorKind::UnknownArgument && is_task {
        let tip = "the task is named by '--task <ID>'".into();
        fault.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip]));
    }
    fault
}

fn ended(fault: &clap::Error, command: Option<String>) -> Ended {
    let rendered = fault.render().to_string();
    match fault.kind() {
        ErrorKind::DisplayHelp => return Ended::Help(rendered),
        ErrorKind::DisplayVersion => return Ended::Version,
        _ => {}
    }
    let complaint = ["\n\nUsage:", "\n\nFor more information"]
        .iter()
        .fold(rendered.as_str(), |text, end| text.split_once(end).map_or(text, |(before, _)| before));
    let complaint = complaint.trim_end();
    let words: Vec<&str> = complaint.split_whitespace().skip(1).collect();
    Ended::Usage {
        error: safe::one_line(&words.join(" ")),
        text: format!("{}\n\n{}", safe::text(complaint), usage(command.as_deref())),
        command,
    }
}

/// The usage of one command, or of the program that it is or belongs to.
fn usage(command: Option<&str>) -> String {
    let text = match command {
        Some("delegate-run") => RunnerLine::command().render_usage(),
        Some(word) => {
            with_command(word, clap::Command::render_usage).unwrap_or_else(|| built().render_usage())
        }
        None => built().render_usage(),
    };
    format!("{text}\nMore: --help")
}

/// The first word that is neither a global flag nor the value of one, if it names a command.
fn command_word(words: &[OsString]) -> Option<String> {
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.to_str() {
            Some("--root" | "--supervisor" | "--runner") => drop(words.next()),
            Some(flag) if flag.starts_with('-') => {}
            _ => return known_command(word),
        }
    }
    None
}

fn known_command(word: &OsStr) -> Option<String> {
    let word = word.to_str()?;
    with_command(word, |command| command.get_name().to_owned())
}
