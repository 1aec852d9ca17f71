//! What can go wrong for the caller of a supervisor.

use std::io;
use std::path::PathBuf;

use record::words::SupervisorKind;
use store::StoreError;

use crate::pueue::PueueError;
use crate::slurm::SlurmError;

/// Why a supervisor could not do what it was asked for. A committed task stays committed in every case.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SuperviseError {
    /// The task is owned by another kind of supervisor (CLI.md: `supervisor_mismatch`).
    #[error("the task belongs to the supervisor {recorded}")]
    OtherSupervisor {
        /// The kind that the task was admitted with.
        recorded: SupervisorKind,
    },
    /// The task was admitted on another machine; only the supervisor there starts it.
    #[error("the task was admitted on another machine, and only that machine runs it")]
    OtherMachine,
    /// The process of a supervisor or runner could not be started.
    #[error("{} could not be started: {source}", program.display())]
    Start {
        /// The program that was to be started.
        program: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The hidden command line of the supervisor is not one that this build writes.
    #[error("the arguments of the supervisor are not understood: {0}")]
    Arguments(&'static str),
    /// This machine can not be told from another one.
    #[error("the identity of this machine could not be determined: {0}")]
    Machine(#[source] io::Error),
    /// The supervisor's own files could not be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file or directory.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The process could not be set up as a supervisor.
    #[error("the supervisor could not set itself up: {0}")]
    Setup(#[source] io::Error),
    /// Pueue could not be used; nothing was submitted by this command.
    #[error(transparent)]
    Pueue(#[from] PueueError),
    /// Slurm could not be used; nothing was submitted by this command.
    #[error(transparent)]
    Slurm(#[from] SlurmError),
    /// Handing the task over failed, and whether it is queued all the same can not be told.
    #[error("whether the task is queued is not known: {why}; dispatch the same id again")]
    Uncertain {
        /// What went wrong first.
        why: String,
    },
    /// The state root could not be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
}
