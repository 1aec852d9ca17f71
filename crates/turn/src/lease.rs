//! The write lease of a workspace: one writer at a time in a tree, seen from every directory of it (STATE.md 3.3).

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use record::TaskId;
use record::words::Permission;
use store::{Root, StoreError};

/// The locks that a writer holds: its own tree exclusively, every directory above it shared.
#[derive(Debug)]
pub(crate) struct Lease {
    _locks: Vec<store::Lease>,
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
    Ok(Some(Lease { _locks: locks }))
}

/// The git top level that holds `workspace`, else the workspace itself.
fn top_level(workspace: &Path) -> &Path {
    workspace.ancestors().find(|directory| directory.join(".git").exists()).unwrap_or(workspace)
}

fn key(directory: &Path) -> std::io::Result<String> {
    let metadata = std::fs::metadata(directory)?;
    Ok(format!("{:x}-{:x}", metadata.dev(), metadata.ino()))
}
