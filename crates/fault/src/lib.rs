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

/// Name of the environment variable that chooses a fault. Read only with the feature `fault-injection`.
pub const ENVIRONMENT_NAME: &str = "DELEGATE_FAULT";
/// Name of the variable with the directory that keeps what was synced.
pub const LEDGER_NAME: &str = "DELEGATE_FAULT_LEDGER";
/// Name of the variable with another boot id.
pub const BOOT_ID_NAME: &str = "DELEGATE_FAULT_BOOT_ID";
/// Name of the variable with another machine id, in the form of `process::machine_id`.
pub const MACHINE_ID_NAME: &str = "DELEGATE_FAULT_MACHINE_ID";

#[cfg(not(feature = "fault-injection"))]
mod inert;
#[cfg(feature = "fault-injection")]
mod injected;
#[cfg(feature = "fault-injection")]
mod ledger;

#[cfg(not(feature = "fault-injection"))]
pub use inert::{boot_id, inherited, machine_id, point, synced};
#[cfg(feature = "fault-injection")]
pub use injected::{boot_id, inherited, machine_id, point};
#[cfg(feature = "fault-injection")]
pub use ledger::synced;
