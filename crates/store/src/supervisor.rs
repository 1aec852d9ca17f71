//! `supervisor/<machine_id>/`: the lock and log of the embedded supervisor of one machine (STATE.md 1, 3.2).

use std::io;
use std::path::PathBuf;

use record::Sha256Digest;

use crate::directory::{Access, Directory, Privacy};
use crate::error::{At, StoreError};
use crate::lock::{self, IfMissing, Lock, Sharing};
use crate::points;
use crate::root::{Root, SUPERVISOR};

const LOCK: &str = "lock";
const LOG: &str = "log";

/// What the embedded supervisor of one machine keeps in the root.
#[derive(Clone, Debug)]
pub struct SupervisorDirectory {
    root: Root,
    machine: String,
}

impl SupervisorDirectory {
    pub(crate) fn new(root: Root, machine: &Sha256Digest) -> Result<Self, StoreError> {
        let this = Self { root, machine: machine.to_string() };
        let parent = this.root.directory().required_child(SUPERVISOR)?;
        match parent.make(&this.machine) {
            // Observers need no more than the answer that nobody is there.
            Err(error) if error.kind() == io::ErrorKind::ReadOnlyFilesystem => {}
            result => drop(result.at(parent.path_of(&this.machine))?),
        }
        Ok(this)
    }

    /// Where it is.
    pub fn path(&self) -> PathBuf {
        self.root.directory().path_of(SUPERVISOR).join(&self.machine)
    }

    /// Where the supervisor's log is.
    pub fn log_path(&self) -> PathBuf {
        self.path().join(LOG)
    }

    /// Takes the supervisor's lock; `None` when there is a supervisor.
    ///
    /// # Errors
    /// When the lock file can not be made, opened or locked.
    pub fn try_lock(&self) -> Result<Option<Lock>, StoreError> {
        let directory = self.directory()?.ok_or_else(|| StoreError::NotFound { path: self.path() })?;
        let lock = Lock::try_take(&directory, LOCK, IfMissing::Create, Sharing::Exclusive)?;
        if lock.is_some() {
            fault::point(points::SUPERVISOR_LOCKED).at(directory.path_of(LOCK))?;
        }
        Ok(lock)
    }

    /// Whether there is a supervisor. Asks only, and so disturbs nobody.
    ///
    /// # Errors
    /// When the lock file can not be looked at.
    pub fn is_locked(&self) -> Result<bool, StoreError> {
        let Some(directory) = self.directory()? else { return Ok(false) };
        match directory.open_file(LOCK, Access::Read)? {
            Some(file) => lock::is_locked(&file).at(directory.path_of(LOCK)),
            None => Ok(false),
        }
    }

    fn directory(&self) -> Result<Option<Directory>, StoreError> {
        self.root.directory().required_child(SUPERVISOR)?.child(&self.machine, Privacy::Private)
    }
}
