//! Who owns the life of a runner (STATE.md 3.2).
//!
//! What enters this room is the id of a committed task; what leaves it is a started runner, sooner or later, and again
//! when it ended too early. A second runner is harmless by the store's rules, so this room may always start one more and
//! never has to remember what it did. It knows the queue and processes; it knows no provider and never judges a turn.
//!
//! Of the three kinds of [`SupervisorKind`], [`embedded`] is in this build.

mod detached;
pub mod embedded;
mod environment;
mod error;
mod limits;
mod points;

use std::path::PathBuf;

use record::answer::SupervisorView;
use record::words::SupervisorKind;
use store::{Root, Task};

pub use detached::{DETACH_FLAG, start_runner};
pub use error::SuperviseError;
pub use points::POINTS;

/// The hidden first word with which our own executable is a runner: `__run --root R ID` (CLI.md, "One executable plays
/// every role").
pub const RUN_WORD: &str = "__run";

/// Exit code of a runner that may not run now and wants to be started later (CLI.md, exit codes).
pub const RUNNER_BUSY_EXIT_CODE: i32 = 75;

/// What owns runners: it is told of committed tasks and starts their runners.
pub trait Supervisor {
    /// Which supervisor this is.
    fn kind(&self) -> SupervisorKind;

    /// Makes sure that somebody will start the runner of that task. Safe to repeat: submitting twice, or after a lost
    /// reply, strands nothing and repeats nothing. A task on which the supervisor gave up gets new tries.
    ///
    /// # Errors
    /// The task belongs to another supervisor or machine, or the supervisor could not be asked or started. The task
    /// stays committed whatever the error.
    fn submit(&self, root: &Root, task: &Task) -> Result<(), SuperviseError>;

    /// What is known of that task here. Never an error: what can not be determined is `unknown`. The answer is a moment's
    /// view; records are the truth.
    fn view(&self, root: &Root, task: &Task) -> SupervisorView;

    /// Makes sure that a supervisor is there when tasks of this machine are open; called by commands that look at a task.
    /// It submits nothing.
    ///
    /// # Errors
    /// The supervisor could not be asked or started. An observer may go on.
    fn ensure(&self, root: &Root) -> Result<(), SuperviseError>;
}

/// The supervisor of that kind. `delegate` is the absolute path of our own executable, which takes the hidden words;
/// `slots` is how many runners a supervisor that has to be started may have at once, `None` for its default.
///
/// # Errors
/// [`SuperviseError::Unsupported`] for a kind that is not in this build.
pub fn for_kind(
    kind: SupervisorKind,
    delegate: PathBuf,
    slots: Option<u32>,
) -> Result<Box<dyn Supervisor>, SuperviseError> {
    match kind {
        SupervisorKind::Embedded => Ok(Box::new(embedded::Embedded { delegate, slots })),
        SupervisorKind::Pueue | SupervisorKind::Slurm => Err(SuperviseError::Unsupported { kind }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_embedded_supervisor_is_in_this_build() {
        let built: Vec<_> = SupervisorKind::ALL
            .iter()
            .filter(|kind| for_kind(**kind, PathBuf::from("/x"), None).is_ok())
            .collect();
        assert_eq!(built, [&SupervisorKind::Embedded]);
    }
}
