//! What a child of the runner may read, write and execute (runners.md 3.5).

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use process::Fence;

use super::home::Home;
use super::knobs::Knobs;
use super::lane::Lane;
use super::limits::PROGRAM_SEARCH_MAX_COUNT;
use super::ripgrep::Ripgrep;
use crate::common::run_directory::RunDirectory;
use crate::common::sandbox::{Access, Sandbox, everything_but};
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
    readable: Vec<PathBuf>,
    forbidden: Vec<PathBuf>,
}

impl Confinement {
    /// Looks at the machine: everything may be read but what lies in the home directory, in the vendor's directory, in the data
    /// home, where temporary files of other runs lie, and in directories of programs.
    ///
    /// Programs are closed off for reading because the loader, which must be executable, would start whatever it can read.
    ///
    /// # Errors
    /// A directory on the way can not be listed.
    pub(super) fn of(knobs: &Knobs, surroundings: &Surroundings) -> io::Result<Self> {
        let path = surroundings.variable("PATH").unwrap_or_default();
        let mut hidden: BTreeSet<PathBuf> =
            [&knobs.user_home, &knobs.ambient, &knobs.data_home, &std::env::temp_dir()]
                .into_iter()
                .chain(&std::env::split_paths(&path).collect::<Vec<_>>())
                .chain(&PROGRAMS.iter().map(PathBuf::from).collect::<Vec<_>>())
                .filter(|path| path.is_absolute())
                .filter_map(|path| path.canonicalize().ok())
                .filter(|path| path != Path::new("/"))
                .collect();
        for libraries in LIBRARIES {
            hidden.extend(directories_of_programs(Path::new(libraries)));
        }
        let hidden: Vec<&Path> = hidden.iter().map(PathBuf::as_path).collect();
        Ok(Self { readable: everything_but(&hidden)?, forbidden: vec![knobs.user_home.clone()] })
    }

    /// The fence of one child.
    ///
    /// # Errors
    /// The means of proof can not be made.
    pub(super) fn fence(&self, inside: Inside<'_>, run_directory: &RunDirectory) -> io::Result<Fence> {
        let Inside { home, kimi, ripgrep, workspace, writable } = inside;
        let mut sandbox = Sandbox {
            writable: [&home.home, &home.scratch].into_iter().chain(writable).cloned().collect(),
            forbidden: self.forbidden.iter().cloned().chain([home.programs.clone()]).collect(),
            access: None,
        };
        let mut access = Access {
            readable: self.readable.clone(),
            executable: vec![kimi.to_path_buf(), home.ripgrep.clone()],
        };
        // A link to a program of many names would let all of them be executed.
        let shell = executable_file(Path::new(SHELL));
        access.executable.extend(shell.filter(|shell| shell.ends_with("true")));
        access.readable.extend([home.policy.clone(), home.programs.clone()]);
        access.readable.extend(ripgrep.libraries.keys().cloned());
        if let Some((workdir, lane)) = workspace {
            access.readable.push(workdir.to_path_buf());
            if lane.edits() { &mut sandbox.writable } else { &mut sandbox.forbidden }
                .push(workdir.to_path_buf());
        }
        sandbox.access = Some(access);
        sandbox.fence(run_directory)
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

/// The directories just below one that hold a program at any depth. A directory that holds libraries itself stays readable,
/// since nothing would start without them.
fn directories_of_programs(libraries: &Path) -> Vec<PathBuf> {
    let Ok(libraries) = libraries.canonicalize() else { return Vec::new() };
    let entries = fs::read_dir(&libraries).into_iter().flatten().flatten();
    let directories = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    directories
        .map(|entry| entry.path())
        .filter(|path| !holds_libraries(path) && holds_program(path))
        .collect()
}

fn holds_libraries(directory: &Path) -> bool {
    let mut entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.any(|entry| is_library(&entry.file_name().to_string_lossy()))
}

fn is_library(name: &str) -> bool {
    name.starts_with("lib") && name.contains(".so")
}

/// A directory with too much in it counts as one that holds a program.
fn holds_program(directory: &Path) -> bool {
    let mut open = vec![directory.to_path_buf()];
    let mut seen = 0;
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
            seen += 1;
            let Ok(metadata) = entry.metadata() else { continue };
            if metadata.is_dir() {
                open.push(entry.path());
            }
            let is_program = metadata.is_file()
                && metadata.permissions().mode() & 0o111 != 0
                && !entry.file_name().to_string_lossy().contains(".so");
            if is_program || seen > PROGRAM_SEARCH_MAX_COUNT {
                return true;
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_with_programs_are_found_at_any_depth_and_those_of_libraries_are_left() {
        let root = tempfile::tempdir().expect("a directory");
        let root = root.path().canonicalize().expect("a path");
        for (path, mode) in [
            ("tool/libexec/deep/program", 0o755),
            ("data/file", 0o644),
            ("machine/libc.so.6", 0o755),
            ("machine/program", 0o755),
            ("plugins/plugin.so", 0o755),
        ] {
            let path = root.join(path);
            fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
            fs::write(&path, "").expect("written");
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("a mode");
        }
        assert_eq!(directories_of_programs(&root), [root.join("tool")]);
    }
}
