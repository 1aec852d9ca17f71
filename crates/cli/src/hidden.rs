//! The inner roles of the program: one executable plays them all (CLI.md, "One executable plays every role"). The gate is
//! entered before anything here.

use std::ffi::OsString;
use std::io;
use std::process::ExitCode;

use record::AbsolutePath;
use supervise::embedded::{self, SUPERVISE_WORD, ServeOptions};
use supervise::pueue::{PUEUE_DAEMON_WORD, become_daemon};
use supervise::{DETACH_FLAG, RUN_WORD};
use turn::RunnerExit;

use crate::arguments::{Ended, RunnerLine, parse_runner};
use crate::exit::Exit;
use crate::{context, output};

/// The hidden first word of the offline worker; `provider` plans its launches with it.
const SURVEY_WORD: &str = "__survey";
/// An inner role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Takes one task to its outcome.
    Runner,
    /// Starts runners.
    Supervisor,
    /// The daemon of a private queue of Pueue.
    PueueDaemon,
    /// The offline worker.
    Survey,
}

/// The role that the first word asks for.
pub(crate) fn role(words: &[OsString]) -> Option<Role> {
    match words.first()?.to_str()? {
        RUN_WORD => Some(Role::Runner),
        SUPERVISE_WORD => Some(Role::Supervisor),
        PUEUE_DAEMON_WORD => Some(Role::PueueDaemon),
        SURVEY_WORD => Some(Role::Survey),
        _ => None,
    }
}

/// Plays a role with the words behind the one that chose it.
pub(crate) fn play(role: Role, words: &[OsString]) -> ExitCode {
    match role {
        Role::Runner => match words.split_first() {
            Some((first, rest)) if first == DETACH_FLAG => detached_runner(rest).into(),
            _ => runner(words).into(),
        },
        Role::Supervisor => supervisor(words),
        Role::PueueDaemon => {
            output::error(&format!("the daemon did not start: {}", become_daemon(words)));
            Exit::Operational.into()
        }
        Role::Survey => survey(),
    }
}

fn detached_runner(words: &[OsString]) -> Exit {
    match process::detach::become_detached(None) {
        Ok(()) => runner(words),
        Err(fault) => {
            output::error(&format!("the runner could not detach: {fault}"));
            Exit::Operational
        }
    }
}

fn runner(words: &[OsString]) -> Exit {
    match parse_runner(words) {
        Ok(line) => output::end(run(&line)),
        Err(Ended::Help(text)) => output::end(output::text(&text).map(|()| Exit::Done)),
        Err(Ended::Version) => output::end(version("delegate-run").map(|()| Exit::Done)),
        Err(Ended::Usage { text, .. }) => {
            output::remark(text.trim_end());
            Exit::Invalid
        }
    }
}

fn version(program: &str) -> io::Result<()> {
    output::text(&format!("{program} {}\n", env!("CARGO_PKG_VERSION")))
}

fn run(line: &RunnerLine) -> io::Result<Exit> {
    let root = match AbsolutePath::new(&line.root) {
        Ok(root) => root,
        Err(fault) => {
            output::error(&format!("--root: {fault}"));
            return Ok(Exit::Invalid);
        }
    };
    let context = match context::of_runner(root) {
        Ok(context) => context,
        Err(refusal) => {
            output::error(&refusal.error);
            return Ok(Exit::Operational);
        }
    };
    let exit = match turn::run(&context, line.task) {
        RunnerExit::Done => Exit::Done,
        RunnerExit::Busy => Exit::TryLater,
        RunnerExit::Failed(why) => {
            output::error(&why);
            Exit::Operational
        }
    };
    if line.json {
        let mut answer = turn::status(&context, line.task);
        answer.command = "delegate-run".to_owned();
        output::exact(&answer.to_line().ok_or_else(output::too_long)?)?;
    }
    Ok(exit)
}

fn supervisor(words: &[OsString]) -> ExitCode {
    match ServeOptions::from_arguments(words.iter().cloned()) {
        Ok(options) => embedded::serve(&options),
        Err(fault) => {
            output::error(&fault.to_string());
            Exit::Invalid.into()
        }
    }
}

fn survey() -> ExitCode {
    let surveyed = std::env::current_dir()
        .and_then(|workspace| survey::run(&workspace, &mut io::stdin().lock(), &mut io::stdout().lock()));
    match surveyed {
        Ok(code) => code.into(),
        Err(fault) => {
            output::error(&fault.to_string());
            Exit::Operational.into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_first_word_hides_a_role() {
        let words = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<_>>();
        assert_eq!(role(&words("__run --root /r")), Some(Role::Runner));
        assert_eq!(role(&words("__supervise")), Some(Role::Supervisor));
        assert_eq!(role(&words("__survey")), Some(Role::Survey));
        assert_eq!(role(&words("status __run")), None);
        assert_eq!(role(&[]), None);
    }
}
