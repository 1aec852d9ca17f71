//! `leases/<key>.lock`: who writes to a workspace (STATE.md 1, 3.3). Which keys, and what a named holder means, is decided by
//! the caller.

use record::TaskId;

use crate::directory::Directory;
use crate::error::{At, StoreError};
use crate::limits::LEASE_MAX_BYTES;
use crate::lock::{IfMissing, Lock, Sharing};
use crate::points;
use crate::root::{LEASES, Root};

/// The lock file of a lease.
#[derive(Clone, Debug)]
pub struct LeaseFile {
    root: Root,
    name: String,
}

/// A held lease; dropping it gives it up. The file goes on naming its last holder, so that a holder that was lost is known.
#[derive(Debug)]
pub struct Lease {
    lock: Lock,
    file: LeaseFile,
}

impl LeaseFile {
    pub(crate) fn new(root: Root, key: &str) -> Self {
        Self { root, name: format!("{key}.lock") }
    }

    /// Takes the lease for oneself; `None` when somebody has it.
    ///
    /// # Errors
    /// When the file can not be made, opened or locked.
    pub fn try_exclusive(&self) -> Result<Option<Lease>, StoreError> {
        self.try_take(Sharing::Exclusive)
    }

    /// Takes the lease together with others that share it; `None` when somebody has it alone.
    ///
    /// # Errors
    /// As [`LeaseFile::try_exclusive`].
    pub fn try_shared(&self) -> Result<Option<Lease>, StoreError> {
        self.try_take(Sharing::Shared)
    }

    fn try_take(&self, sharing: Sharing) -> Result<Option<Lease>, StoreError> {
        let leases = self.directory()?;
        let Some(lock) = Lock::try_take(&leases, &self.name, IfMissing::Create, sharing)? else {
            return Ok(None);
        };
        fault::point(points::LEASE_LOCKED).at(leases.path_of(&self.name))?;
        Ok(Some(Lease { lock, file: self.clone() }))
    }

    /// The task that the file names, whether it still has the lease or not. A damaged name is none.
    ///
    /// # Errors
    /// When the file can not be read.
    pub fn holder(&self) -> Result<Option<TaskId>, StoreError> {
        let bytes = self.directory()?.read_file(&self.name, LEASE_MAX_BYTES)?;
        Ok(bytes.and_then(|bytes| str::from_utf8(&bytes).ok()?.trim_end().parse().ok()))
    }

    fn directory(&self) -> Result<Directory, StoreError> {
        self.root.directory().required_child(LEASES)
    }
}

impl Lease {
    /// The task that the file names: the holder before, until [`Lease::name_holder`].
    ///
    /// # Errors
    /// When the file can not be read.
    pub fn holder(&self) -> Result<Option<TaskId>, StoreError> {
        self.file.holder()
    }

    /// Names the holder; for one that has the lease alone. Not synced: a power cut ends holders too.
    ///
    /// # Errors
    /// When the file can not be written.
    pub fn name_holder(&self, task: TaskId) -> Result<(), StoreError> {
        self.write(format!("{task}\n").as_bytes())
    }

    /// Names nobody any more; for a holder that has ended well.
    ///
    /// # Errors
    /// When the file can not be written.
    pub fn clear_holder(&self) -> Result<(), StoreError> {
        self.write(b"")
    }

    fn write(&self, content: &[u8]) -> Result<(), StoreError> {
        self.lock.name_holder(content).at(self.file.root.directory().path_of(LEASES).join(&self.file.name))
    }
}
