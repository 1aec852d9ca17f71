//! What a child of the runner may read, write and execute (runners.md 3.5).

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use process::Fence;

use super::home::Home;
use super::knobs::Knobs;
use super::lane::Lane;
use super::ripgrep::Ripgrep;
use crate::common::libraries::directories_of_programs;
use crate::common::run_directory::RunDirectory;
use crate::common::sandbox::{Access, Reads, Sandbox, temporary_directories};
use crate::common::surroundings::{Surroundings, executable_file};

/// The shell that a child finds in its environment: it does nothing.
pub(super) const SHELL: &str = "/usr/bin/true";
/// Directories of programs.
const PROGRAMS: &[&str] = &[
    "/bin",
    "/sbin",
    "/usr/bin",
    "/usr/sbin",
    "/usr/games",
    "/usr/libexec",
    "/usr/local/bin",
    "/usr/local/sbin",
    "/usr/local/games",
    "/usr/local/libexec",
    "/opt",
    "/snap",
];
/// Directories of libraries, some of which hold programs too.
const LIBRARIES: &[&str] = &["/usr/lib", "/usr/lib64", "/usr/local/lib"];

/// What is the same for every child of one run.
#[derive(Clone, Debug)]
pub(super) struct Confinement {
    user_home: PathBuf,
    hidden: Vec<PathBuf>,
}

impl Confinement {
    /// Looks at the machine: everything may be read but what lies in the home directory, in the vendor's directory, in the data
    /// home, and in directories of programs; and but what is temporary.
    ///
    /// Programs are closed off for reading because the loader, which must be executable, would start whatever it can read.
    pub(super) fn of(knobs: &Knobs, surroundings: &Surroundings) -> Self {
        let path = surroundings.variable("PATH").unwrap_or_default();
        let mut hidden: BTreeSet<PathBuf> = [&knobs.user_home, &knobs.ambient, &knobs.data_home]
            .into_iter()
            .cloned()
            .chain(std::env::split_paths(&path))
            .chain(PROGRAMS.iter().map(PathBuf::from))
            .filter(|path| path.is_absolute())
            .filter_map(|path| path.canonicalize().ok())
            .filter(|path| path != Path::new("/"))
            .collect();
        for libraries in LIBRARIES {
            hidden.extend(directories_of_programs(Path::new(libraries)));
        }
        Self { user_home: knobs.user_home.clone(), hidden: hidden.into_iter().collect() }
    }

    /// The fence of one child.
    ///
    /// # Errors
    /// A directory on the way to a hidden one can not be listed, or the means of proof can not be made.
    pub(super) fn fence(&self, inside: Inside<'_>, run_directory: &RunDirectory) -> io::Result<Fence> {
        let Inside { home, kimi, ripgrep, workspace, writable } = inside;
        let mut forbidden = vec![self.user_home.clone(), home.programs.clone()];
        let mut writable: Vec<PathBuf> =
            [&home.home, &home.scratch].into_iter().chain(writable).cloned().collect();
        let mut except = vec![home.policy.clone(), home.programs.clone()];
        except.extend(ripgrep.libraries.keys().cloned());
        if let Some((workdir, lane)) = workspace {
            except.push(workdir.to_path_buf());
            if lane.edits() { &mut writable } else { &mut forbidden }.push(workdir.to_path_buf());
        }
        let mut executable = vec![kimi.to_path_buf(), home.ripgrep.clone()];
        // A link to a program of many names would let all of them be executed.
        executable.extend(executable_file(Path::new(SHELL)).filter(|shell| shell.ends_with("true")));
        let mut hidden = self.hidden.clone();
        // Other runs keep their keys there.
        hidden.extend(temporary_directories(run_directory));
        let access = Some(Access { reads: Reads::AllBut { hidden, except }, executable });
        Sandbox { writable, access, forbidden, ..Sandbox::default() }.fence(run_directory)
    }
}

/// What is granted to one child.
#[derive(Clone, Copy, Debug)]
pub(super) struct Inside<'a> {
    /// Its home.
    pub(super) home: &'a Home,
    /// The vendor's program.
    pub(super) kimi: &'a Path,
    /// The pinned program, whose copy lies in the home.
    pub(super) ripgrep: &'a Ripgrep,
    /// The workspace, for a run.
    pub(super) workspace: Option<(&'a Path, Lane)>,
    /// Further directories that it may write.
    pub(super) writable: &'a [PathBuf],
}
