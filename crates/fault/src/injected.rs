//! What happens at a chosen point.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;

use rustix::io::Errno;
use rustix::process::{Signal, getpid, kill_process};

use crate::{BOOT_ID_NAME, ENVIRONMENT_NAME, LEDGER_NAME, MACHINE_ID_NAME};

/// Marks that the step called `name` has been done.
///
/// # Errors
/// The error that the environment asks for at this point.
///
/// # Panics
/// When the environment variable has a form that the crate documentation does not list.
pub fn point(name: &str) -> io::Result<()> {
    let Some(value) = variable(ENVIRONMENT_NAME) else {
        return Ok(());
    };
    let (chosen, action) =
        value.split_once('=').unwrap_or_else(|| panic!("{ENVIRONMENT_NAME}: no action in {value:?}"));
    let action =
        Action::parse(action).unwrap_or_else(|| panic!("{ENVIRONMENT_NAME}: unknown action in {value:?}"));
    if chosen == name { action.perform() } else { Ok(()) }
}

/// The boot id that a test put in place of the kernel's.
pub fn boot_id() -> Option<String> {
    variable(BOOT_ID_NAME)
}

/// The machine id that a test put in place of this one's.
pub fn machine_id() -> Option<String> {
    variable(MACHINE_ID_NAME)
}

/// The variables of this crate that are set, for handing on to a child whose environment is otherwise cleared.
pub fn inherited() -> Vec<(&'static str, OsString)> {
    [ENVIRONMENT_NAME, LEDGER_NAME, BOOT_ID_NAME, MACHINE_ID_NAME]
        .into_iter()
        .filter_map(|name| Some((name, std::env::var_os(name)?)))
        .collect()
}

fn variable(name: &str) -> Option<String> {
    let value = std::env::var_os(name)?;
    Some(value.into_string().unwrap_or_else(|value| panic!("{name}: not UTF-8: {value:?}")))
}

enum Action<'a> {
    Kill,
    Abort,
    Fail(Errno),
    Hold(&'a Path),
}

impl<'a> Action<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        Some(match text.split_once(':') {
            None if text == "kill" => Self::Kill,
            None if text == "abort" => Self::Abort,
            Some(("error", name)) => Self::Fail(error(name)?),
            Some(("hold", directory)) => Self::Hold(Path::new(directory)),
            _ => return None,
        })
    }

    fn perform(self) -> io::Result<()> {
        match self {
            Self::Kill => kill_process(getpid(), Signal::KILL)?,
            Self::Abort => {}
            Self::Fail(error) => return Err(error.into()),
            Self::Hold(directory) => return hold(directory),
        }
        std::process::abort()
    }
}

fn error(name: &str) -> Option<Errno> {
    match name {
        "ENOSPC" => Some(Errno::NOSPC),
        "EIO" => Some(Errno::IO),
        _ => None,
    }
}

/// Stops until the test has answered.
fn hold(directory: &Path) -> io::Result<()> {
    let complain = |error: io::Error| -> ! { panic!("{ENVIRONMENT_NAME}: {}: {error}", directory.display()) };
    match OpenOptions::new().write(true).create_new(true).open(directory.join("held")) {
        Ok(mut held) => {
            writeln!(held, "{}", std::process::id()).unwrap_or_else(|error| complain(error));
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(()),
        Err(error) => complain(error),
    }
    let mut answer = String::new();
    File::open(directory.join("answer"))
        .and_then(|mut fifo| fifo.read_to_string(&mut answer))
        .unwrap_or_else(|error| complain(error));
    match answer.as_str() {
        "" | "go" => Ok(()),
        name => Err(error(name).unwrap_or_else(|| panic!("{ENVIRONMENT_NAME}: answer {name:?}")).into()),
    }
}
