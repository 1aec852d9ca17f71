//! What Claude Code may write, read and execute (runners.md 2.3, 2.4).

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use process::{Fence, WriteFence};

use super::BUILDER;
use super::launch::Private;
use crate::common::libraries::without_programs;
use crate::common::run_directory::RunDirectory;
use crate::common::sandbox::{Access, Reads, Sandbox};
use crate::common::surroundings::executable_file;

/// What an evaluation may read beside what belongs to it.
const READABLE: &[&str] = &["/usr/share", "/dev", "/etc", "/proc/self"];
/// What it may read but for the programs in it.
const LIBRARIES: &[&str] = &["/usr/lib", "/usr/lib64", "/lib", "/lib64"];
/// The one program beside Claude Code that an evaluation may execute. It does nothing.
const HARMLESS: &str = "/usr/bin/true";
const GIT_DIRECTORY: &str = ".git";

/// Nothing but the private directories may be written.
///
/// # Errors
/// The means of proof can not be made.
pub(super) fn of_probe(private: &Private, run_directory: &RunDirectory) -> io::Result<Fence> {
    Sandbox { writable: private.all(), ..Sandbox::default() }.fence(run_directory)
}

/// An ordinary run: the private directories, and the workspace for the builder, may be written. Reading and executing are not
/// limited.
///
/// # Errors
/// The means of proof can not be made.
pub(super) fn of_run(
    lane: &str,
    workdir: &Path,
    private: &Private,
    run_directory: &RunDirectory,
) -> io::Result<Fence> {
    let builds = lane == BUILDER;
    let mut sandbox = Sandbox { writable: private.all(), makes_terminals: builds, ..Sandbox::default() };
    let place = if builds { &mut sandbox.writable } else { &mut sandbox.forbidden };
    place.push(workdir.to_path_buf());
    sandbox.fence(run_directory)
}

/// An evaluation: reading and executing are limited as well, and the git directory is never written.
///
/// The kernel allows by whole directories, so that the git directory can be left out only by granting what lies beside it: the
/// builder changes files and directories that are there, and makes new ones in those directories, but not at the top.
///
/// # Errors
/// The workspace can not be listed, or the means of proof can not be made.
pub(super) fn of_evaluation(
    lane: &str,
    workdir: &Path,
    claude: &Path,
    private: &Private,
    run_directory: &RunDirectory,
) -> io::Result<Fence> {
    let mut readable: Vec<PathBuf> = READABLE.iter().map(PathBuf::from).collect();
    readable.extend(LIBRARIES.iter().flat_map(|libraries| without_programs(Path::new(libraries))));
    readable.push(workdir.to_path_buf());
    let mut executable = vec![claude.to_path_buf()];
    // A link to a program of many names would let all of them be executed.
    executable.extend(executable_file(Path::new(HARMLESS)).filter(|program| program.ends_with("true")));
    let mut sandbox = Sandbox {
        writable: private.all(),
        access: Some(Access { reads: Reads::Only(readable), executable }),
        forbidden: vec![workdir.to_path_buf()],
        ..Sandbox::default()
    };
    let mut files = Vec::new();
    if lane == BUILDER {
        sandbox.forbidden.push(workdir.join(GIT_DIRECTORY));
        for entry in fs::read_dir(workdir)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            if entry.file_name() == GIT_DIRECTORY {
                continue;
            }
            if kind.is_dir() {
                sandbox.writable.push(entry.path());
            } else if kind.is_file() {
                files.push(entry.path());
            }
        }
    }
    let mut fence = sandbox.fence(run_directory)?;
    if let Fence::Ours(WriteFence { files: granted, .. }) = &mut fence {
        granted.extend(files);
    }
    Ok(fence)
}
