//! Retention: what a task can do without is removed, and what it is stays (STATE.md 9).

use record::outcome::Outcome;
use record::plan::Plan;
use record::retention::Pruned;

use crate::admit::{OUTPUT, RAW};
use crate::error::{At, StoreError};
use crate::kind::TaskRecord;
use crate::payload::PayloadName;
use crate::points;
use crate::remove::remove_tree;
use crate::task::{BRIEF, Created, RunLock, Task};

impl Task {
    /// Whether the task's content was removed, or is being removed. One look at one name.
    ///
    /// # Errors
    /// When the directory can not be asked.
    pub fn is_pruned(&self) -> Result<bool, StoreError> {
        Ok(self.directory().identity_of(Pruned::FILE)?.is_some())
    }

    /// Whether the removal of the task's content has come to its end. The brief goes last, and every task has one.
    ///
    /// # Errors
    /// When the directory can not be asked.
    pub fn is_pruned_whole(&self) -> Result<bool, StoreError> {
        Ok(self.is_pruned()? && self.directory().identity_of(BRIEF)?.is_none())
    }

    /// Removes the brief, the plan, the output and the answer of a task that has its outcome. `pruned.json` is durable before
    /// anything goes, so that what is missing is never taken for damage; a removal that was cut off is taken up again.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] without an outcome; else when the record can not be made, or something not be removed.
    ///
    /// # Panics
    /// When the lock is another task's.
    pub fn prune(&self, lock: &RunLock, record: &Pruned) -> Result<(), StoreError> {
        self.assert_locked_by(lock);
        if self.directory().identity_of(Outcome::FILE)?.is_none() {
            return Err(StoreError::NotFound { path: self.directory().path_of(Outcome::FILE) });
        }
        if let Created::Exists(_) = self.create(record)? {
            // Whoever made it may have been lost before it was durable.
            self.sync()?;
        }
        self.remove_reserve(lock)?;
        for name in [RAW, OUTPUT] {
            remove_tree(self.directory(), name)?;
        }
        fault::point(points::OUTPUT_REMOVED).at(self.directory().path())?;
        for name in [PayloadName::Result.basename(), PayloadName::Refusal.basename(), Plan::FILE, BRIEF] {
            self.directory().remove_file(name).at(self.directory().path_of(name))?;
        }
        fault::point(points::CONTENT_REMOVED).at(self.directory().path())
    }
}
