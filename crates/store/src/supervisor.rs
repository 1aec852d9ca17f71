//! `supervisor/<machine_id>/`: the lock and log of the embedded supervisor of one machine (STATE.md 1, 3.2).

use std::path::PathBuf;

use record::Sha256Digest;

use crate::directory::{Access, Directory, Privacy};
use crate::error::{At, StoreError};
use crate::limits::HOLDER_MAX_BYTES;
use crate::lock::{self, IfMissing, Lock, Sharing};
use crate::points;
use crate::root::{Root, SUPERVISOR};

/// No machine id, which is a digest.
const JOB_LOGS: &str = "slurm";
const LOCK: &str = "lock";
const LOG: &str = "log";
const START_LOCK: &str = "start.lock";

impl Root {
    /// The directory for what jobs of a cluster say before they are runners; made when it is missing.
    ///
    /// # Errors
    /// When it can not be made.
    pub fn job_logs(&self) -> Result<PathBuf, StoreError> {
        let parent = self.directory().required_child(SUPERVISOR)?;
        parent.make(JOB_LOGS).at(parent.path_of(JOB_LOGS))?;
        Ok(parent.path_of(JOB_LOGS))
    }
}

/// What the embedded supervisor of one machine keeps in the root.
#[derive(Clone, Debug)]
pub struct SupervisorDirectory {
    root: Root,
    machine: String,
}

impl SupervisorDirectory {
    pub(crate) fn new(root: Root, machine: &Sha256Digest) -> Self {
        Self { root, machine: machine.to_string() }
    }

    /// Makes the directory when it is missing. For supervisors alone: who only looks from another machine writes nothing.
    ///
    /// # Errors
    /// When it can not be made.
    pub fn make(&self) -> Result<(), StoreError> {
        let parent = self.root.directory().required_child(SUPERVISOR)?;
        parent.make(&self.machine).at(parent.path_of(&self.machine)).map(drop)
    }

    /// Where it is.
    pub fn path(&self) -> PathBuf {
        self.root.directory().path_of(SUPERVISOR).join(&self.machine)
    }

    /// Where the supervisor's log is.
    pub fn log_path(&self) -> PathBuf {
        self.path().join(LOG)
    }

    /// Takes the supervisor's lock, in a directory that is made when it is missing; `None` when there is a supervisor.
    ///
    /// # Errors
    /// When the lock file can not be made, opened or locked.
    pub fn try_lock(&self) -> Result<Option<Lock>, StoreError> {
        self.make()?;
        let directory = self.directory()?.ok_or_else(|| StoreError::NotFound { path: self.path() })?;
        let lock = Lock::try_take(&directory, LOCK, IfMissing::Create, Sharing::Exclusive)?;
        if lock.is_some() {
            fault::point(points::SUPERVISOR_LOCKED).at(directory.path_of(LOCK))?;
        }
        Ok(lock)
    }

    /// Takes the lock under which a daemon of another kind is started for this root, in a directory that is made when it is
    /// missing; `None` while somebody else starts one.
    ///
    /// # Errors
    /// When the lock file can not be made, opened or locked.
    pub fn try_start_lock(&self) -> Result<Option<Lock>, StoreError> {
        self.make()?;
        let directory = self.directory()?.ok_or_else(|| StoreError::NotFound { path: self.path() })?;
        Lock::try_take(&directory, START_LOCK, IfMissing::Create, Sharing::Exclusive)
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

    /// Writes down who holds the lock.
    ///
    /// # Errors
    /// When the file can not be written.
    pub fn name_holder(&self, lock: &Lock, holder: &str) -> Result<(), StoreError> {
        lock.name_holder(holder.as_bytes()).at(self.path().join(LOCK))
    }

    /// Who wrote that last; `None` when nobody did, or it can not be read.
    pub fn holder(&self) -> Option<String> {
        let bytes = self.directory().ok()??.read_file(LOCK, HOLDER_MAX_BYTES).ok()??;
        String::from_utf8(bytes).ok()
    }

    fn directory(&self) -> Result<Option<Directory>, StoreError> {
        self.root.directory().required_child(SUPERVISOR)?.child(&self.machine, Privacy::Private)
    }
}
