//! Who owns the life of a runner (STATE.md 3.2).
//!
//! What enters this room is the id of a committed task; what leaves it is a started runner, sooner or later, and again
//! when it ended too early. A second runner is harmless by the store's rules, so this room may always start one more and
//! never has to remember what it did. It knows the queue and processes; it knows no provider and never judges a turn.
//!
//! Each kind of [`SupervisorKind`] has a module: [`embedded`], [`pueue`], [`slurm`].

mod confirmation;
mod detached;
pub mod embedded;
mod environment;
mod error;
mod installed;
mod limits;
mod points;
pub mod pueue;
mod question;
mod runner;
pub mod slurm;

use std::path::PathBuf;

use record::answer::SupervisorView;
use record::submission::{Submission, SupervisorBinding};
use record::words::SupervisorKind;
use record::{AbsolutePath, Sha256Digest};
use store::{Root, StoreError, Task};

pub use detached::{DETACH_FLAG, start_runner};
pub use error::SuperviseError;
pub use points::POINTS;
pub use question::QuestionError;

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

    /// Tells the runner of a task that runs on another machine that its end was requested. It finds the request by itself;
    /// this only makes it look at once.
    ///
    /// # Errors
    /// The supervisor could not be asked.
    fn interrupt(&self, _root: &Root, _task: &Task) -> Result<(), SuperviseError> {
        Ok(())
    }

    /// Whether somebody made it ready on this machine, as far as that is plain without asking its programs, which look for it
    /// in the network.
    fn is_set_up(&self) -> bool {
        true
    }

    /// Looks whether new tasks could be handed over; `None` where it is not installed, or is no service of its own. Starts
    /// nothing.
    fn inspect(&self, _root: Option<&Root>) -> Option<Inspection> {
        None
    }
}

/// What is found of a supervisor that is a service of its own, for `doctor`.
#[derive(Debug)]
pub struct Inspection {
    /// What its programs say of their version, or why they can not be used.
    pub version: Result<String, SuperviseError>,
    /// Which of its queues new tasks get, for people.
    pub place: String,
    /// Whether that queue can be asked; `None` when it is started only when a task needs it.
    pub reached: Option<Result<(), SuperviseError>>,
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
    /// What new jobs of Slurm are asked for.
    pub slurm: SlurmSettings,
}

/// The lead's settings for Slurm.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SlurmSettings {
    /// The configuration of the cluster; `None` for the one that Slurm's programs find by themselves.
    pub config: Option<AbsolutePath>,
    /// Options for `sbatch`, each with two dashes and its value behind `=`.
    pub options: Vec<String>,
}

/// The supervisor of that kind.
pub fn for_kind(kind: SupervisorKind, settings: Settings) -> Box<dyn Supervisor> {
    let Settings { delegate, slots, pueue_config, slurm: SlurmSettings { config, options } } = settings;
    match kind {
        SupervisorKind::Embedded => Box::new(embedded::Embedded { delegate, slots }),
        SupervisorKind::Pueue => Box::new(pueue::Pueue { delegate, config: pueue_config, slots }),
        SupervisorKind::Slurm => Box::new(slurm::Slurm { delegate, config, options }),
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
