//! The read-only view of the machine that planning may ask.

use record::AbsolutePath;
use record::plan::{IdentityFile, IdentityRole};

/// What planning may know of the machine. Implemented over the environment that was captured at admission, so that a
/// plan made again gives the same value (STATE.md 3.1).
pub trait Host {
    /// The executable file that a bare program name means on the captured `PATH`, symbolic links resolved.
    ///
    /// # Errors
    /// [`HostError::NotFound`] when no directory of `PATH` has a regular executable file of that name.
    fn resolve(&self, program: &str) -> Result<AbsolutePath, HostError>;

    /// The captured value of an environment variable; `None` when it is not set.
    fn variable(&self, name: &str) -> Option<String>;

    /// Size and digest of a regular file, under its path with symbolic links resolved.
    ///
    /// # Errors
    /// [`HostError::NotFound`] when there is no such file, [`HostError::Unusable`] when it is no regular file, can not be
    /// read, or changes meanwhile.
    fn identify(&self, role: IdentityRole, path: &AbsolutePath) -> Result<IdentityFile, HostError>;

    /// The first bytes of a regular file, at most `max_bytes`.
    ///
    /// # Errors
    /// As for [`Host::identify`].
    fn read(&self, path: &AbsolutePath, max_bytes: usize) -> Result<Vec<u8>, HostError>;

    /// The path of an existing file or directory with symbolic links resolved.
    ///
    /// # Errors
    /// [`HostError::NotFound`] when there is none, [`HostError::Unusable`] when that can not be determined.
    fn canonical(&self, path: &AbsolutePath) -> Result<AbsolutePath, HostError>;

    /// The file that this very program runs from, symbolic links resolved.
    ///
    /// # Errors
    /// [`HostError::Unusable`] when that can not be determined.
    fn own_executable(&self) -> Result<AbsolutePath, HostError>;
}

/// Why the machine gave no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HostError {
    /// It is certain that there is no such thing.
    #[error("{what} was not found")]
    NotFound {
        /// The program or path.
        what: String,
    },
    /// The thing is there, or that could not be determined, and it can not be used.
    #[error("{what} can not be used: {why}")]
    Unusable {
        /// The program or path.
        what: String,
        /// One sentence part.
        why: String,
    },
}
