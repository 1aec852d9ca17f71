//! Why a chore failed.

use std::io;
use std::path::PathBuf;

use testkit::real::{PinsError, StageError};
use thiserror::Error;

/// Why a chore failed.
#[derive(Debug, Error)]
pub(crate) enum Failure {
    /// A program could not be started.
    #[error("{program}: {source}")]
    Start { program: String, source: io::Error },
    /// A program failed.
    #[error("{0} failed")]
    Program(String),
    /// A file could not be read or written.
    #[error("{}: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
    /// The pinned versions are not known.
    #[error(transparent)]
    Pins(#[from] PinsError),
    /// There is no stage for a real CLI.
    #[error(transparent)]
    Stage(#[from] StageError),
    /// Something that this chore found out itself.
    #[error("{0}")]
    Other(String),
}

impl Failure {
    /// For `map_err` on a file operation.
    pub(crate) fn file(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { path, source }
    }
}
