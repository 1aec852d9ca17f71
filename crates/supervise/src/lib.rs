//! Who owns the life of a runner (STATE.md 3.2).
//!
//! What enters this room is the id of a committed task; what leaves it is a started runner, sooner or later, and again
//! when it ended too early. A second runner is harmless by the store's rules, so this room may always start one more and
//! never has to remember what it did. It knows the queue and processes; it knows no provider and never judges a turn.
//!
//! Of the three kinds of [`SupervisorKind`], [`embedded`] and [`pueue`] are in this build.

mod detached;
pub mod embedded;
mod environment;
mod error;
mod limits;
mod points;
pub mod pueue;
mod runner;

use std::path::PathBuf;

use record::answer::SupervisorView;
use record::submission::{Submission, SupervisorBinding};
use record::words::SupervisorKind;
use record::{AbsolutePath, Sha256Digest};
use store::{Root, StoreError, Task};

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

    /// The service that a new task is bound to; `None` where the kind says it all. Makes what the root needs for it, and asks
    /// nobody yet.
    ///
    /// # Errors
    /// There is no such service here.
    fn bind(&self, _root: &Root) -> Result<Option<SupervisorBinding>, SuperviseError> {
        Ok(None)
    }

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

    /// Takes a task that ended before its runner was started out of the queue. Only tidiness: its runner would find the
    /// outcome.
    ///
    /// # Errors
    /// The supervisor could not be asked.
    fn withdraw(&self, _root: &Root, _task: &Task) -> Result<(), SuperviseError> {
        Ok(())
    }
}

/// What a supervisor is made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The absolute path of our own executable, which takes the hidden words.
    pub delegate: PathBuf,
    /// How many runners a supervisor that has to be started may have at once; `None` for its default.
    pub slots: Option<u32>,
    /// The configuration of the Pueue that owns new tasks; `None` for a private one.
    pub pueue_config: Option<AbsolutePath>,
}

/// The supervisor of that kind.
///
/// # Errors
/// [`SuperviseError::Unsupported`] for a kind that is not in this build.
pub fn for_kind(kind: SupervisorKind, settings: Settings) -> Result<Box<dyn Supervisor>, SuperviseError> {
    let Settings { delegate, slots, pueue_config: config } = settings;
    match kind {
        SupervisorKind::Embedded => Ok(Box::new(embedded::Embedded { delegate, slots })),
        SupervisorKind::Pueue => Ok(Box::new(pueue::Pueue { delegate, config, slots })),
        SupervisorKind::Slurm => Err(SuperviseError::Unsupported { kind }),
    }
}

/// The identity of this machine (STATE.md, top).
fn machine() -> Result<Sha256Digest, SuperviseError> {
    let text = process::machine_id().map_err(SuperviseError::Machine)?;
    text.parse().map_err(|error| SuperviseError::Machine(std::io::Error::other(error)))
}

/// Whom a task was admitted for.
fn submission(task: &Task) -> Result<Submission, SuperviseError> {
    match task.read_apart::<Submission>()? {
        Some(loaded) => Ok(loaded.record),
        None => Err(StoreError::Damaged { path: task.path(), why: "has no submission".to_owned() }.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slurm_is_not_in_this_build() {
        let settings = || Settings { delegate: PathBuf::from("/x"), slots: None, pueue_config: None };
        for kind in SupervisorKind::ALL {
            let built = for_kind(*kind, settings());
            assert_eq!(built.is_ok(), *kind != SupervisorKind::Slurm);
            assert!(built.is_ok_and(|built| built.kind() == *kind) || *kind == SupervisorKind::Slurm);
        }
    }
}
