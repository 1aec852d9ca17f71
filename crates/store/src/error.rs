//! Why the store could not do what it was asked.

use std::io;
use std::path::{Path, PathBuf};

use record::json::EncodeError;
use rustix::io::Errno;

/// Why the store could not do what it was asked. A path names the file or directory concerned.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// It is not there: no root at this path, no such task, no such file.
    #[error("{}: not found", path.display())]
    NotFound {
        /// What is missing.
        path: PathBuf,
    },
    /// The root can not be used as it is (STATE.md 1); the reason says what to do.
    #[error("{}: {why}", path.display())]
    RootInvalid {
        /// The root.
        path: PathBuf,
        /// What is wrong and, where there is one, the remedy.
        why: String,
    },
    /// The root was made by another program or a newer version; it is never read or changed.
    #[error("{}: {why}", path.display())]
    UnsupportedRoot {
        /// The root.
        path: PathBuf,
        /// How that shows.
        why: String,
    },
    /// A file or directory of the root is not what it must be: its kind, owner, mode, size or content.
    #[error("{}: {why}", path.display())]
    Damaged {
        /// The file or directory.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// A record of another schema version, refused by name (STATE.md 1).
    #[error("{}: schema version {found} where {supported} is supported", path.display())]
    UnsupportedVersion {
        /// The record.
        path: PathBuf,
        /// The version that it names.
        found: u32,
        /// The one version that is read.
        supported: u32,
    },
    /// A record names another root, task, request or plan than the one where it stands.
    #[error("{}: belongs to another root, task, request or plan", path.display())]
    IdentityMismatch {
        /// The record.
        path: PathBuf,
    },
    /// A sync failed after the change was visible: it counts as made and gives nobody a licence (STATE.md 2).
    #[error("{}: visible, but perhaps not durable: {source}", path.display())]
    Uncertain {
        /// What may not be durable.
        path: PathBuf,
        /// The failure.
        source: io::Error,
    },
    /// No space, or no quota, is left.
    #[error("{}: no space left", path.display())]
    Full {
        /// What could not be written.
        path: PathBuf,
    },
    /// The file system is read-only.
    #[error("{}: the file system is read-only", path.display())]
    ReadOnly {
        /// What could not be changed.
        path: PathBuf,
    },
    /// A name that may not stand in the root: empty, too long, hidden, reserved, or with a slash or NUL.
    #[error("not a usable file name")]
    InvalidName,
    /// The task has an outcome; its payload is not changed any more.
    #[error("{}: the task has an outcome already", path.display())]
    AlreadyPublished {
        /// The outcome.
        path: PathBuf,
    },
    /// The cursor belongs to another journal (STATE.md 9).
    #[error("the cursor belongs to another journal")]
    CursorExpired,
    /// A record that could not be read back is not written.
    #[error("{}: {source}", path.display())]
    Unwritable {
        /// The record.
        path: PathBuf,
        /// The fault of its encoding.
        source: EncodeError,
    },
    /// Any other failure of the operating system.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// The failure.
        source: io::Error,
    },
}

impl StoreError {
    /// Whether trying again can not help: what was asked for is there, and is not what it must be, or is missing where it must
    /// be.
    pub fn is_damage(&self) -> bool {
        matches!(self, Self::Damaged { .. } | Self::IdentityMismatch { .. })
    }

    /// The failure of a system call on `path`, told by its kind.
    pub(crate) fn at(path: impl Into<PathBuf>, source: impl Into<io::Error>) -> Self {
        let (path, source) = (path.into(), source.into());
        match Errno::from_io_error(&source) {
            Some(Errno::NOSPC | Errno::DQUOT) => Self::Full { path },
            Some(Errno::ROFS) => Self::ReadOnly { path },
            Some(Errno::NOENT) => Self::NotFound { path },
            Some(Errno::LOOP) => Self::damaged(path, "is a symbolic link"),
            _ => Self::Io { path, source },
        }
    }

    /// What stands at `path` is not what it must be.
    pub(crate) fn damaged(path: impl Into<PathBuf>, why: impl Into<String>) -> Self {
        Self::Damaged { path: path.into(), why: why.into() }
    }
}

/// Attaches the path to the failure of a system call.
pub(crate) trait At<T> {
    /// The same result with the path in its error.
    fn at(self, path: impl AsRef<Path>) -> Result<T, StoreError>;
}

impl<T, E: Into<io::Error>> At<T> for Result<T, E> {
    fn at(self, path: impl AsRef<Path>) -> Result<T, StoreError> {
        self.map_err(|error| StoreError::at(path.as_ref(), error))
    }
}
