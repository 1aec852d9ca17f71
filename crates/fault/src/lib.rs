//! Named fault points: the places where a test may kill this process or make a step fail.
//!
//! A step that matters for durability calls [`point`] with a stable, dotted name ("store.task.renamed"), always after the
//! step it is named for. Without the feature `fault-injection` the call is an empty inline function that costs nothing. With
//! it, the environment variable [`ENVIRONMENT_NAME`] chooses one point and what happens there (STATE.md 10):
//!
//! | value | effect when the point is reached |
//! |---|---|
//! | `name=kill` | the process ends as by SIGKILL: nothing is flushed, no destructor runs |
//! | `name=abort` | the process aborts |
//! | `name=error:ENOSPC`, `name=error:EIO` | [`point`] returns that operating system error |
//!
//! A value of any other form is a mistake of the test and panics at the first point reached, so that no test passes
//! because of a misspelt fault.

use std::ffi::OsString;
use std::io;

/// Name of the environment variable that chooses a fault. Read only with the feature `fault-injection`.
pub const ENVIRONMENT_NAME: &str = "DELEGATE_FAULT";

/// Marks that the step called `name` has been done.
///
/// # Errors
/// Never without the feature `fault-injection`; with it, the error that the environment asks for at this point.
#[cfg(not(feature = "fault-injection"))]
#[inline(always)]
pub fn point(name: &str) -> io::Result<()> {
    let _ = name;
    Ok(())
}

/// The fault chosen for this process, for handing on to a child whose environment is otherwise cleared.
/// Always `None` without the feature `fault-injection`.
#[cfg(not(feature = "fault-injection"))]
#[inline(always)]
pub fn inherited() -> Option<(&'static str, OsString)> {
    None
}

#[cfg(feature = "fault-injection")]
pub use injected::{inherited, point};

#[cfg(feature = "fault-injection")]
mod injected {
    use super::{ENVIRONMENT_NAME, OsString, io};
    use rustix::io::Errno;
    use rustix::process::{Signal, getpid, kill_process};

    /// Marks that the step called `name` has been done.
    ///
    /// # Errors
    /// The error that the environment asks for at this point.
    ///
    /// # Panics
    /// When the environment variable has a form that the crate documentation does not list.
    pub fn point(name: &str) -> io::Result<()> {
        let Some(value) = std::env::var_os(ENVIRONMENT_NAME) else {
            return Ok(());
        };
        let value =
            value.into_string().unwrap_or_else(|value| panic!("{ENVIRONMENT_NAME}: not UTF-8: {value:?}"));
        let (chosen, action) =
            value.split_once('=').unwrap_or_else(|| panic!("{ENVIRONMENT_NAME}: no action in {value:?}"));
        let error = match action {
            "kill" | "abort" => None,
            "error:ENOSPC" => Some(Errno::NOSPC),
            "error:EIO" => Some(Errno::IO),
            _ => panic!("{ENVIRONMENT_NAME}: unknown action in {value:?}"),
        };
        if chosen != name {
            return Ok(());
        }
        if let Some(error) = error {
            return Err(error.into());
        }
        if action == "kill" {
            kill_process(getpid(), Signal::KILL)?;
        }
        std::process::abort()
    }

    /// The fault chosen for this process, for handing on to a child whose environment is otherwise cleared.
    pub fn inherited() -> Option<(&'static str, OsString)> {
        std::env::var_os(ENVIRONMENT_NAME).map(|value| (ENVIRONMENT_NAME, value))
    }
}

#[cfg(all(test, not(feature = "fault-injection")))]
mod tests {
    #[test]
    fn points_do_nothing_when_injection_is_not_built_in() {
        assert!(super::point("any.point").is_ok());
        assert!(super::inherited().is_none());
    }
}
