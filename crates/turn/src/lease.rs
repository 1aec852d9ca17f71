//! The write lease of a workspace: one writer at a time in a tree, seen from every directory of it (STATE.md 3.3).

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use record::TaskId;
use record::launch::Launch;
use record::outcome::Outcome;
use record::words::Permission;
use store::{Root, StoreError};

/// The locks that a writer holds: its own tree exclusively, every directory above it shared.
#[derive(Debug)]
pub(crate) struct Lease {
    /// The tree's own, then those of the directories above it.
    locks: Vec<store::Lease>,
}

impl Lease {
    /// Gives it up after a turn of which nothing is left: nobody has to look after its holder.
    pub(crate) fn give_back(self) {
        // A name too much only makes the next writer look at a task that has ended.
        let _ = self.locks.first().map(store::Lease::clear_holder);
    }
}

/// Why a lease could not be had.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LeaseError {
    /// Somebody writes in the same tree.
    #[error("another task writes in this workspace")]
    Busy {
        /// The task named by the lease, if it names one.
        holder: Option<TaskId>,
    },
    /// The locks can not be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The workspace can not be looked at.
    #[error(transparent)]
    Workspace(#[from] std::io::Error),
}

/// Takes the lease that `permission` needs; a reader needs none.
///
/// # Errors
/// [`LeaseError::Busy`] at once when it is taken; nobody waits here.
pub(crate) fn take(
    root: &Root,
    task: TaskId,
    permission: Permission,
    workspace: &Path,
) -> Result<Option<Lease>, LeaseError> {
    if permission == Permission::ReadOnly {
        return Ok(None);
    }
    let tree = top_level(workspace);
    let mut locks = Vec::new();
    let own = root.lease(&key(tree)?)?;
    match own.try_exclusive()? {
        Some(lease) => {
            // A lock goes with its runner; what the runner had launched may still write (STATE.md 3.3).
            if let Some(holder) = lease.holder()?.filter(|holder| *holder != task)
                && may_still_write(root, holder)?
            {
                return Err(LeaseError::Busy { holder: Some(holder) });
            }
            lease.name_holder(task)?;
            locks.push(lease);
        }
        None => return Err(LeaseError::Busy { holder: own.holder()? }),
    }
    for ancestor in tree.ancestors().skip(1) {
        let lease = root.lease(&key(ancestor)?)?;
        match lease.try_shared()? {
            Some(lock) => locks.push(lock),
            None => return Err(LeaseError::Busy { holder: lease.holder()? }),
        }
    }
    Ok(Some(Lease { locks }))
}

/// Whether a task was launched and has no outcome.
fn may_still_write(root: &Root, holder: TaskId) -> Result<bool, StoreError> {
    let Some(task) = root.task(holder)? else { return Ok(false) };
    Ok(task.read::<Launch>()?.is_some() && task.read::<Outcome>()?.is_none())
}

/// The git top level that holds `workspace`, else the workspace itself.
fn top_level(workspace: &Path) -> &Path {
    workspace.ancestors().find(|directory| directory.join(".git").exists()).unwrap_or(workspace)
}

fn key(directory: &Path) -> std::io::Result<String> {
    let metadata = std::fs::metadata(directory)?;
    Ok(format!("{:x}-{:x}", metadata.dev(), metadata.ino()))
}
