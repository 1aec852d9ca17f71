//! What can go wrong with a queue of Pueue.

use std::io;
use std::path::PathBuf;

use crate::question::QuestionError;

/// Why Pueue could not be used. The task stays committed; dispatching the same id again tries again.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PueueError {
    /// A program is not there.
    #[error("there is no {program} {place}")]
    Missing {
        /// Its name.
        program: &'static str,
        /// Where it was looked for.
        place: String,
    },
    /// The configuration can not be used.
    #[error("the Pueue configuration {}: {why}", path.display())]
    Config {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The client is of a version whose command line is not known.
    #[error("this needs Pueue 4, and {} is: {said}", program.display())]
    Version {
        /// The client.
        program: PathBuf,
        /// What it said.
        said: String,
    },
    /// The queue is not the one that the task was admitted for.
    #[error(
        "the task was admitted for another queue of Pueue: {what} changed; put it back, then dispatch the task again"
    )]
    Changed {
        /// What is different.
        what: &'static str,
    },
    /// The task's records do not name a queue.
    #[error("the task does not name its queue")]
    NotBound,
    /// There is no answer.
    #[error(transparent)]
    Question(#[from] QuestionError),
    /// The answer is not one of Pueue 4.
    #[error("the answer of pueue status is not understood: {why}")]
    Answer {
        /// What is wrong with it.
        why: String,
    },
    /// The private daemon does not come up.
    #[error("the private Pueue daemon in {} does not start: {why}", directory.display())]
    Daemon {
        /// Its directory, with its log.
        directory: PathBuf,
        /// What is known of the reason.
        why: String,
    },
    /// A file of the binding or of the private queue can not be used.
    #[error("{}: {source}", path.display())]
    File {
        /// The file or directory.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
}

/// Names the path of a system error.
pub(super) fn at(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> PueueError {
    let path = path.into();
    move |source| PueueError::File { path, source }
}
