//! What can go wrong with a cluster.

use std::path::PathBuf;

use crate::question::QuestionError;

/// Why Slurm could not be used. The task stays committed; dispatching the same id again tries again.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SlurmError {
    /// A program is not there.
    #[error("there is no {program} on PATH")]
    Missing {
        /// Its name.
        program: &'static str,
    },
    /// The program is not Slurm's.
    #[error("this needs Slurm, and {} is: {said}", program.display())]
    Version {
        /// The program.
        program: PathBuf,
        /// What it said.
        said: String,
    },
    /// An option for `sbatch` that can not be handed on.
    #[error("the option {option:?} for sbatch: {why}")]
    Option {
        /// The option as it was given.
        option: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The task's records do not name a cluster.
    #[error("the task does not name its cluster")]
    NotBound,
    /// There is no answer.
    #[error(transparent)]
    Question(#[from] QuestionError),
    /// The root can not be shared between machines.
    #[error("{} is not fit for several machines: {why}", path.display())]
    NotShared {
        /// The root.
        path: PathBuf,
        /// What does not work there.
        why: String,
    },
    /// A program can not be read.
    #[error("{}: {source}", path.display())]
    File {
        /// The program.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
}
