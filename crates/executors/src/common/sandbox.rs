//! Confinement by the kernel (runners.md 0.1): Landlock, all of it or nothing, proved by the gate before the child runs.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use process::{AccessFence, Fence, WriteFence, fence_support};

use super::exit::Refusal;
use super::run_directory::RunDirectory;

/// The value of the member `sandbox` in metrics.
pub const LANDLOCK: &str = "linux-landlock";

/// What every child may write to.
const DEVICES: &[&str] = &["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"];
/// What makes a terminal, and where it is: among the other terminals of the user.
const TERMINALS: &[&str] = &["/dev/ptmx", "/dev/pts"];
/// The dynamic loaders of the platforms that are built for; an executable needs the right to be loaded by it.
const LOADERS: &[&str] = &[
    "/lib64/ld-linux-x86-64.so.2",
    "/lib/ld-linux-aarch64.so.1",
    "/lib/ld-musl-x86_64.so.1",
    "/lib/ld-musl-aarch64.so.1",
];

/// Where every program keeps temporary files.
const TEMPORARY: [&str; 3] = ["/tmp", "/var/tmp", "/dev/shm"];

/// What a child may do. Whatever is not limited here is allowed, the network included.
#[derive(Clone, Debug, Default)]
pub struct Sandbox {
    /// Directories that may be written; they exist. The private temporary directory of the child is one of them.
    pub writable: Vec<PathBuf>,
    /// What may be read and executed; nothing for no limit.
    pub access: Option<Access>,
    /// Whether the child may make terminals for what it starts. It can then write to all terminals of the user.
    pub makes_terminals: bool,
    /// Existing directories of the user that are not to be written, by which the gate proves the fence; the run directory
    /// gives one more.
    pub forbidden: Vec<PathBuf>,
}

/// What a child may read and execute.
#[derive(Clone, Debug)]
pub struct Access {
    /// What may be read.
    pub reads: Reads,
    /// Files that may be executed, beside the dynamic loaders.
    pub executable: Vec<PathBuf>,
}

/// Whose file contents a child may read, beside those of what it may write or execute. Names and modes stay visible.
#[derive(Clone, Debug)]
pub enum Reads {
    /// These files, and files below these directories.
    Only(Vec<PathBuf>),
    /// Everything but what lies below some directories, which exist.
    AllBut {
        /// The directories that are hidden.
        hidden: Vec<PathBuf>,
        /// What is shown of them all the same.
        except: Vec<PathBuf>,
    },
}

/// Demands the kernel's whole confinement.
///
/// # Errors
/// 69 with what is missing.
pub fn demand() -> Result<(), Refusal> {
    let support = fence_support();
    if support.is_sufficient() {
        return Ok(());
    }
    Err(Refusal::sandbox(format!("it needs Landlock 3 (Linux 6.2): {support}")))
}

impl Sandbox {
    /// The fence for a child, with what the gate proves it by: a directory and files in the run directory, so that no part
    /// of the run directory may be granted but directories below it.
    ///
    /// # Errors
    /// The means of proof can not be made.
    pub fn fence(&self, run_directory: &RunDirectory) -> io::Result<Fence> {
        let guard = run_directory.directory("guard")?;
        let mut forbidden = self.forbidden.clone();
        forbidden.push(guard.clone());
        let access = match &self.access {
            None => None,
            Some(access) => {
                let proof_allowed = proof(&guard.join("allowed"))?;
                let proof_refused = proof(&guard.join("refused"))?;
                let loaders = LOADERS.iter().map(PathBuf::from);
                let mut readable = match &access.reads {
                    Reads::Only(paths) => paths.clone(),
                    Reads::AllBut { hidden, except } => {
                        let hidden = hidden.iter().chain([&guard]).map(PathBuf::as_path);
                        let mut paths = everything_but(&hidden.collect::<Vec<_>>())?;
                        paths.extend(except.iter().cloned());
                        paths
                    }
                };
                readable.push(proof_allowed.clone());
                Some(AccessFence {
                    readable,
                    executable: access.executable.iter().cloned().chain(loaders).collect(),
                    proof_allowed,
                    proof_refused,
                })
            }
        };
        let terminals = TERMINALS.iter().filter(|_| self.makes_terminals);
        Ok(Fence::Ours(WriteFence {
            directories: self.writable.clone(),
            files: DEVICES.iter().chain(terminals).map(PathBuf::from).collect(),
            forbidden,
            access,
        }))
    }
}

/// The directories in which other runs and other programs keep what is theirs for a while, the one of this run among them.
pub fn temporary_directories(run_directory: &RunDirectory) -> Vec<PathBuf> {
    let known = TEMPORARY.into_iter().map(PathBuf::from);
    let all = known.chain(places_of_runs(run_directory.path()));
    all.filter_map(|path| path.canonicalize().ok()).collect()
}

/// Where a run directory lies: in `TMPDIR`, which in a task is a directory of that task among those of others (STATE.md 7).
fn places_of_runs(run_directory: &Path) -> Vec<PathBuf> {
    let of_task =
        |path: &Path| path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"dlg-"));
    let own = run_directory.parent();
    let others = own.filter(|own| of_task(own)).and_then(Path::parent);
    own.into_iter().chain(others).filter(|path| *path != Path::new("/")).map(Path::to_path_buf).collect()
}

fn proof(path: &Path) -> io::Result<PathBuf> {
    fs::write(path, "proof\n")?;
    Ok(path.to_path_buf())
}

/// The list to allow where only what is allowed can be said. What is made later beside a directory on the way to a hidden one
/// is not in it.
fn everything_but(hidden: &[&Path]) -> io::Result<Vec<PathBuf>> {
    let hidden: Vec<PathBuf> = hidden.iter().map(|path| path.canonicalize()).collect::<io::Result<_>>()?;
    let mut allowed = Vec::new();
    let mut open = vec![PathBuf::from("/")];
    while let Some(directory) = open.pop() {
        if hidden.contains(&directory) {
            continue;
        }
        if !hidden.iter().any(|path| path.starts_with(&directory)) {
            allowed.push(directory);
            continue;
        }
        for entry in fs::read_dir(&directory)? {
            let entry = entry?;
            // A link grants nothing by itself: its target is listed where it is.
            if !entry.file_type()?.is_symlink() {
                open.push(entry.path());
            }
        }
    }
    allowed.sort();
    Ok(allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_other_tasks_lie_beside_the_directory_of_the_task() {
        for (run, places) in [
            ("/scratch/delegation-kimi.a", &["/scratch"][..]),
            ("/scratch/u/dlg-12/delegation-kimi.a", &["/scratch/u/dlg-12", "/scratch/u"]),
            ("/dlg-12/delegation-kimi.a", &["/dlg-12"]),
        ] {
            let expected: Vec<PathBuf> = places.iter().map(PathBuf::from).collect();
            assert_eq!(places_of_runs(Path::new(run)), expected);
        }
    }
}
