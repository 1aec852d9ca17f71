//! `staging/<random>/`: a task being prepared. Its creator holds the run lock in it until the task has its name, so that
//! whoever gets that lock finds debris (STATE.md 2).

use rustix::io::Errno;

use crate::directory::{Directory, Privacy};
use crate::error::{At, StoreError};
use crate::limits::STAGING_MAX_TRIES;
use crate::lock::{IfMissing, Lock, Sharing};
use crate::once::{Kind, Place, Placed, place};
use crate::points;
use crate::random::random_nonce;
use crate::remove::remove_content;
use crate::root::{Root, STAGING};
use crate::task::RUN_LOCK;

/// A staging directory of our own. Dropping it removes it, unless it became a task.
pub(crate) struct Staging {
    parent: Directory,
    name: String,
    /// Absent once it became a task.
    held: Option<(Directory, Lock)>,
}

impl Staging {
    /// A new directory with its lock held.
    pub(crate) fn create(root: &Root) -> Result<Self, StoreError> {
        let parent = root.directory().required_child(STAGING)?;
        for _ in 0..STAGING_MAX_TRIES {
            let name = random_nonce().to_string();
            parent.make(&name).at(parent.path_of(&name))?;
            // A cleaner may come before the lock is held; it takes the directory away then.
            let Some(directory) = parent.child(&name, Privacy::Private)? else { continue };
            let lock = match Lock::try_take(&directory, RUN_LOCK, IfMissing::Create, Sharing::Exclusive) {
                Err(StoreError::NotFound { .. }) | Ok(None) => continue,
                Err(error) => return Err(error),
                Ok(Some(lock)) => lock,
            };
            let staging = Self { parent, name, held: Some((directory, lock)) };
            fault::point(points::TASK_STAGED).at(staging.parent.path())?;
            return Ok(staging);
        }
        Err(StoreError::damaged(parent.path(), "new directories are taken away again and again"))
    }

    /// The directory.
    pub(crate) fn directory(&self) -> &Directory {
        &self.held.as_ref().expect("only `commit` takes it, and consumes this").0
    }

    /// Gives the directory its name in `tasks/`; `None` when the name is taken. The lock is still held by the answer.
    pub(crate) fn commit(mut self, root: &Root, name: &str) -> Result<Option<(Directory, Lock)>, StoreError> {
        let ours = self.directory().identity()?;
        let from = Place { directory: &self.parent, name: &self.name };
        let to = Place { directory: root.tasks(), name };
        match place(from, to, ours, Kind::Directory, points::TASK_RENAMED)? {
            Placed::Taken => Ok(None),
            Placed::Ours => Ok(self
                .held
                .take()
                .map(|(directory, lock)| (directory.renamed(root.tasks().path_of(name)), lock))),
        }
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        if let Some((directory, _lock)) = self.held.take() {
            // Debris is harmless; a cleaner comes later.
            let _ = remove_staged(&self.parent, &self.name, &directory);
        }
    }
}

impl Root {
    /// Removes what killed dispatchers left in `staging/`; returns how many directories that were.
    ///
    /// # Errors
    /// When `staging/` can not be read or something in it not be removed.
    pub fn clean_staging(&self) -> Result<usize, StoreError> {
        let parent = self.directory().required_child(STAGING)?;
        let mut removed = 0;
        for name in parent.names()? {
            removed += usize::from(clean_one(&parent, &name)?);
        }
        Ok(removed)
    }
}

fn clean_one(parent: &Directory, name: &str) -> Result<bool, StoreError> {
    let Some(directory) = parent.child(name, Privacy::Private)? else { return Ok(false) };
    let ours = directory.identity()?;
    let _lock = match Lock::try_take(&directory, RUN_LOCK, IfMissing::Create, Sharing::Exclusive) {
        Err(StoreError::NotFound { .. }) | Ok(None) => return Ok(false),
        result => result?,
    };
    // It may have become a task since it was opened. Under the lock it no longer can.
    if parent.identity_of(name)? != Some(ours) {
        return Ok(false);
    }
    remove_staged(parent, name, &directory)
}

/// Removes a staging directory whose lock is held; the lock file last. `false` when its creator, who had not come to the
/// lock yet, made a new one in that moment and goes on.
fn remove_staged(parent: &Directory, name: &str, directory: &Directory) -> Result<bool, StoreError> {
    remove_content(directory, RUN_LOCK)?;
    directory.remove_file(RUN_LOCK).at(directory.path_of(RUN_LOCK))?;
    match parent.remove_directory(name) {
        Err(error) if Errno::from_io_error(&error) == Some(Errno::NOTEMPTY) => Ok(false),
        result => result.at(parent.path_of(name)),
    }
}
