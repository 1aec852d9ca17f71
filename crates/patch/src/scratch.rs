//! The private directory of one check, and what killed checks left behind.
//!
//! A check that is killed can not remove its directory. While it lives it holds a lock on it, so whoever gets that lock
//! knows that the owner is gone, also when it ran in another process namespace.

use std::ffi::OsStr;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rustix::fs::{FlockOperation, flock};
use tempfile::TempDir;

use crate::limits::{SCRATCH_MIN_AGE, SWEEP_MAX_ENTRIES};
use crate::tree;

const PREFIX: &str = "patch-verify-";

/// A private directory, removed at the end.
#[derive(Debug)]
pub(crate) struct Scratch {
    directory: TempDir,
    /// Locked for as long as this lives.
    _lock: File,
}

impl Scratch {
    /// Makes one in a physical directory, and removes what dead checks of the same user left there.
    ///
    /// # Errors
    /// It can not be made.
    pub(crate) fn new(temporary: &Path) -> io::Result<Self> {
        sweep(temporary);
        let directory = tempfile::Builder::new()
            .prefix(PREFIX)
            .permissions(std::fs::Permissions::from_mode(0o700))
            .tempdir_in(temporary)?;
        let lock = lock(directory.path())?;
        Ok(Self { directory, _lock: lock })
    }

    /// The path of something in it.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Makes a directory in it.
    ///
    /// # Errors
    /// Those of the system.
    pub(crate) fn make_directory(&self, name: &str) -> io::Result<()> {
        DirBuilder::new().mode(0o700).create(self.path(name))
    }

    /// Makes a file in it; answers its path.
    ///
    /// # Errors
    /// It is there, or those of the system.
    pub(crate) fn write(&self, name: &str, bytes: &[u8]) -> io::Result<PathBuf> {
        let path = self.path(name);
        OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?.write_all(bytes)?;
        Ok(path)
    }
}

/// Opens a directory and locks it.
fn lock(path: &Path) -> io::Result<File> {
    let directory = File::from(tree::open_directory(rustix::fs::CWD, path)?);
    flock(&directory, FlockOperation::NonBlockingLockExclusive)?;
    Ok(directory)
}

/// Removes what dead checks left. What can not be looked at or removed stays for the next one.
fn sweep(temporary: &Path) {
    let Ok(entries) = temporary.read_dir() else { return };
    for entry in entries.take(SWEEP_MAX_ENTRIES).flatten() {
        if is_named_so(&entry.file_name()) && is_left_behind(&entry.path()) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

fn is_named_so(name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| name.starts_with(PREFIX))
}

/// Whether this is a directory of this user, whose owner is gone. Between making one and locking it passes a moment, so a
/// young one is let alone.
fn is_left_behind(path: &Path) -> bool {
    let Ok(directory) = lock(path) else { return false };
    directory.metadata().is_ok_and(|facts| {
        let age = facts.modified().ok().and_then(|made| SystemTime::now().duration_since(made).ok());
        facts.uid() == rustix::process::geteuid().as_raw() && age.is_some_and(|age| age >= SCRATCH_MIN_AGE)
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    /// A directory as a check that was killed an hour ago would leave it.
    fn left(temporary: &Path, name: &str) -> PathBuf {
        let path = temporary.join(name);
        fs::create_dir(&path).unwrap();
        fs::write(path.join("patch"), "x").unwrap();
        let hour = std::time::Duration::from_secs(3600);
        File::open(&path).unwrap().set_modified(SystemTime::now() - hour).unwrap();
        path
    }

    #[test]
    fn what_the_dead_left_goes_and_nothing_else() {
        let temporary = tempfile::tempdir().unwrap();
        let dead = left(temporary.path(), "patch-verify-dead");
        let alive = left(temporary.path(), "patch-verify-alive");
        let foreign = left(temporary.path(), "foreign");
        let elsewhere = left(temporary.path(), "elsewhere");
        symlink(&elsewhere, temporary.path().join("patch-verify-link")).unwrap();
        let young = temporary.path().join("patch-verify-young");
        fs::create_dir(&young).unwrap();
        let held = lock(&alive).unwrap();

        let scratch = Scratch::new(temporary.path()).unwrap();
        assert!(!dead.exists());
        for path in [&alive, &foreign, &elsewhere, &young] {
            assert!(path.exists(), "{}", path.display());
        }
        assert!(elsewhere.join("patch").exists());
        drop(held);
        sweep(temporary.path());
        assert!(!alive.exists());

        let own = scratch.path("x").parent().unwrap().to_owned();
        assert!(!is_left_behind(&own) && own.exists());
        drop(scratch);
        assert!(!own.exists());
    }
}
