//! Named fault points: the places where a test may kill this process, stop it, or make a step fail.
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
//! | `name=hold:DIRECTORY` | the first process that gets there stops until it is told how to go on |
//!
//! A process that is held leaves its id, and a line feed, in `DIRECTORY/held`; whoever finds that file there already passes.
//! It then reads `DIRECTORY/answer`, a FIFO that the test has made, to its end: nothing or `go` lets it pass, `ENOSPC` and
//! `EIO` are returned as errors.
//!
//! A value of any other form is a mistake of the test and panics at the first point reached, so that no test passes
//! because of a misspelt fault.
//!
//! Three more variables let a test play a machine that was switched off: [`LEDGER_NAME`] names a directory that keeps what
//! was synced (crate `testkit` rebuilds a tree from it), [`BOOT_ID_NAME`] and [`MACHINE_ID_NAME`] replace what the kernel
//! and the system say.

use std::ffi::OsString;
use std::fs::File;
use std::io;

/// Name of the environment variable that chooses a fault. Read only with the feature `fault-injection`.
pub const ENVIRONMENT_NAME: &str = "DELEGATE_FAULT";
/// Name of the variable with the directory that keeps what was synced.
pub const LEDGER_NAME: &str = "DELEGATE_FAULT_LEDGER";
/// Name of the variable with another boot id.
pub const BOOT_ID_NAME: &str = "DELEGATE_FAULT_BOOT_ID";
/// Name of the variable with another machine id, in the form of `process::machine_id`.
pub const MACHINE_ID_NAME: &str = "DELEGATE_FAULT_MACHINE_ID";

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

/// Notes that a file or directory was synced. Does nothing without the feature `fault-injection`.
#[cfg(not(feature = "fault-injection"))]
#[inline(always)]
pub fn synced(file: &File) {
    let _ = file;
}

/// The boot id that a test put in place of the kernel's. Always `None` without the feature `fault-injection`.
#[cfg(not(feature = "fault-injection"))]
#[inline(always)]
pub fn boot_id() -> Option<String> {
    None
}

/// The machine id that a test put in place of this one's. Always `None` without the feature `fault-injection`.
#[cfg(not(feature = "fault-injection"))]
#[inline(always)]
pub fn machine_id() -> Option<String> {
    None
}

/// The variables of this crate that are set, for handing on to a child whose environment is otherwise cleared.
/// Always empty without the feature `fault-injection`.
#[cfg(not(feature = "fault-injection"))]
#[inline(always)]
pub fn inherited() -> Vec<(&'static str, OsString)> {
    Vec::new()
}

#[cfg(feature = "fault-injection")]
mod injected;
#[cfg(feature = "fault-injection")]
mod ledger;

#[cfg(feature = "fault-injection")]
pub use injected::{boot_id, inherited, machine_id, point};
#[cfg(feature = "fault-injection")]
pub use ledger::synced;

#[cfg(all(test, not(feature = "fault-injection")))]
mod tests {
    #[test]
    fn points_do_nothing_when_injection_is_not_built_in() {
        assert!(super::point("any.point").is_ok());
        assert!(super::inherited().is_empty());
        assert_eq!((super::boot_id(), super::machine_id()), (None, None));
    }
}
