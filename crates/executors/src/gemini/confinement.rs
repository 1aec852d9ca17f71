//! What the vendor's program is held to by the kernel, beside its own sandbox: nothing of the user's home is read, and nothing is
//! written but the directories of the run.

use std::io;
use std::path::{Path, PathBuf};

use process::Fence;

use super::home::Home;
use crate::common::run_directory::RunDirectory;
use crate::common::sandbox::{Access, Reads, Sandbox, temporary_directories};

/// Where programs of the system lie. What the user has beside them is not executed.
const PROGRAMS: &[&str] = &["/bin", "/sbin", "/lib", "/lib64", "/usr", "/opt", "/snap", "/nix"];

/// The fence of one child.
///
/// # Errors
/// A directory on the way to a hidden one can not be listed, or the means of proof can not be made.
pub(super) fn fence(
    user_home: &Path,
    agy: &Path,
    home: &Home,
    run_directory: &RunDirectory,
) -> io::Result<Fence> {
    let mut hidden = vec![user_home.to_path_buf()];
    // Other runs keep their keys there.
    hidden.extend(temporary_directories(run_directory));
    let executable = PROGRAMS.iter().map(PathBuf::from).chain([agy.to_path_buf()]).collect();
    Sandbox {
        writable: vec![home.home.clone(), home.scratch.clone(), home.workspace.clone()],
        access: Some(Access { reads: Reads::AllBut { hidden, except: Vec::new() }, executable }),
        forbidden: vec![user_home.to_path_buf()],
        ..Sandbox::default()
    }
    .fence(run_directory)
}
