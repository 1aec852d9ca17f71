//! The workspace: an existing directory that neither contains the root nor lies in it (STATE.md 3.1).

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use record::AbsolutePath;
use record::failure::{FailureCode, Stage};
use record::plan::DirectoryIdentity;

use crate::error::TurnError;

fn invalid(message: impl Into<String>) -> TurnError {
    TurnError::new(FailureCode::WorkspaceInvalid, Stage::ValidateRequest, message)
}

/// The workspace named by `path`, symbolic links resolved.
///
/// # Errors
/// `workspace_invalid` when the path is relative, missing, no directory, not UTF-8, or overlaps the root.
pub(crate) fn resolve(path: &Path, root: &AbsolutePath) -> Result<AbsolutePath, TurnError> {
    let shown = path.display();
    if !path.is_absolute() {
        return Err(invalid(format!("the workspace {shown} must be an absolute path")));
    }
    let canonical = path
        .canonicalize()
        .map_err(|error| invalid(format!("the workspace {shown} can not be used: {error}")))?;
    if !canonical.is_dir() {
        return Err(invalid(format!("the workspace {shown} is not a directory")));
    }
    let workspace = AbsolutePath::new(&canonical)
        .map_err(|error| invalid(format!("the workspace {shown} can not be used: {error}")))?;
    if root.contains(&workspace) {
        return Err(invalid(format!(
            "the workspace {workspace} lies in the state root {root}; choose another root"
        )));
    }
    if workspace.contains(root) {
        return Err(invalid(format!(
            "the workspace {workspace} contains the state root {root}; choose another root"
        )));
    }
    Ok(workspace)
}

/// Which directory stands under that name now.
pub(crate) fn identity(workspace: &AbsolutePath) -> std::io::Result<DirectoryIdentity> {
    let metadata = std::fs::symlink_metadata(workspace)?;
    if !metadata.is_dir() {
        return Err(std::io::ErrorKind::NotADirectory.into());
    }
    Ok(DirectoryIdentity { device: metadata.dev(), inode: metadata.ino() })
}
