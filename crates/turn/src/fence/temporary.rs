//! The private temporary directory of a turn: the only one that a fenced provider can write.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use record::launch::Running;
use record::plan::Plan;
use record::words::Fence;
use record::{AbsolutePath, TaskId};
use rustix::fs::{CWD, Mode, OFlags, chmod, openat};
use store::Task;

/// The variable that names the caller's temporary directory.
pub(crate) const TEMPORARY_NAME: &str = "TMPDIR";

/// The turn's private temporary directory, named after the task, below `system`, which is the caller's TMPDIR.
pub(crate) fn temporary_directory(system: Option<&str>, task: TaskId) -> AbsolutePath {
    below(system, &format!("dlg-{}", &task.to_string()[..16]))
}

fn below(system: Option<&str>, name: &str) -> AbsolutePath {
    system
        .and_then(|path| path.trim_end_matches('/').parse::<AbsolutePath>().ok())
        .unwrap_or_else(|| "/tmp".parse().expect("a clean path"))
        .join(name)
        .expect("a plain name")
}

/// The same directory by a name without symbolic links, as the gate wants it.
pub(super) fn resolved(path: &AbsolutePath) -> PathBuf {
    let path = path.as_path();
    match (path.parent().map(Path::canonicalize), path.file_name()) {
        (Some(Ok(parent)), Some(name)) => parent.join(name),
        _ => path.to_path_buf(),
    }
}

/// A temporary directory that was made here, and is removed when the value is dropped.
#[derive(Debug)]
pub(crate) struct Temporary(Option<PathBuf>);

impl Temporary {
    /// Makes the directory, for this user alone. One that is there already is somebody else's: a task is launched once, and
    /// only its launch makes it.
    ///
    /// # Errors
    /// It is there already, or can not be made.
    pub(super) fn make(path: &AbsolutePath) -> io::Result<Self> {
        let path = resolved(path);
        DirBuilder::new().mode(0o700).create(&path).map_err(|error| {
            io::Error::new(error.kind(), format!("the temporary directory {}: {error}", path.display()))
        })?;
        Ok(Self(Some(path)))
    }

    /// Makes one for a question to a CLI, with another one in it. No turn uses the name.
    ///
    /// # Errors
    /// It can not be made.
    pub(super) fn make_for_question(system: Option<&str>) -> io::Result<Self> {
        let made = Self::make(&below(system, &format!("dlg-probe-{}", store::random_nonce())))?;
        DirBuilder::new().mode(0o700).create(made.granted())?;
        Ok(made)
    }

    /// The directory in it that the CLI may write while it answers a question.
    pub(crate) fn granted(&self) -> PathBuf {
        self.path().join("tmp")
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        self.0.as_deref().expect("there until it is kept")
    }

    /// Leaves the directory to the turn that runs now; [`remove_of_task`] removes it.
    pub(crate) fn keep(mut self) {
        self.0 = None;
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if let Some(path) = &self.0 {
            remove(path);
        }
    }
}

/// Removes the temporary directory of a task whose provider is gone, if its launch came so far that it is certain to be the
/// task's own. What can not be removed stays: the outcome does not depend on it.
pub(crate) fn remove_of_task(task: &Task) {
    if let Ok(Some(running)) = task.read::<Running>()
        && running.record.fence == Fence::Ours
        && let Ok(Some(plan)) = task.read::<Plan>()
    {
        remove(&resolved(&temporary_directory(plan.record.captured.get(TEMPORARY_NAME), task.id())));
    }
}

/// Removes a tree without following links, also one with directories that its owner closed to himself.
fn remove(path: &Path) {
    let is_denied = |error: &io::Error| error.kind() == io::ErrorKind::PermissionDenied;
    if fs::remove_dir_all(path).is_err_and(|error| is_denied(&error)) && open_up(path).is_ok() {
        // Whatever is left now is nobody's loss.
        let _ = fs::remove_dir_all(path);
    }
}

/// Lets the owner into every directory of a tree.
fn open_up(path: &Path) -> io::Result<()> {
    let mut waiting = vec![path.to_path_buf()];
    while let Some(path) = waiting.pop() {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let directory = File::from(openat(CWD, &path, flags, Mode::empty())?);
        // The name leads to what was opened, whatever stands at the path by now.
        let opened = PathBuf::from(format!("/proc/self/fd/{}", directory.as_raw_fd()));
        chmod(&opened, Mode::RWXU)?;
        for entry in fs::read_dir(&opened)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                waiting.push(path.join(entry.file_name()));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn it_lies_below_the_callers() {
        let task = "0123456789abcdef0123456789abcdef".parse().unwrap();
        for (system, path) in [
            (None, "/tmp/dlg-0123456789abcdef"),
            (Some("/run/user/1//"), "/run/user/1/dlg-0123456789abcdef"),
            (Some("relative"), "/tmp/dlg-0123456789abcdef"),
        ] {
            assert_eq!(temporary_directory(system, task).as_str(), path);
        }
    }

    fn scratch() -> (PathBuf, Temporary) {
        let made = Temporary::make_for_question(None).unwrap();
        (made.path().to_path_buf(), made)
    }

    fn absolute(path: &Path) -> AbsolutePath {
        AbsolutePath::new(path).unwrap()
    }

    #[test]
    fn it_is_private_and_goes_with_the_value() {
        let (path, made) = scratch();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o700);
        drop(made);
        assert!(!path.exists());
    }

    #[test]
    fn one_that_is_there_is_refused_and_left_alone() {
        let (path, _made) = scratch();
        let existing = path.join("existing");
        for make in [|path: &Path| fs::create_dir(path), |path: &Path| symlink("/", path)] {
            make(&existing).unwrap();
            let error = Temporary::make(&absolute(&existing)).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
            assert!(existing.is_dir());
            let _ = fs::remove_dir(&existing);
        }
    }

    #[test]
    fn removal_follows_no_link_and_is_not_kept_out() {
        let (path, _outer) = scratch();
        fs::write(path.join("precious"), "").unwrap();
        let made = Temporary::make(&absolute(&path.join("inner"))).unwrap();
        symlink(&path, made.path().join("link")).unwrap();
        let closed = made.path().join("a/b");
        fs::create_dir_all(&closed).unwrap();
        fs::write(closed.join("file"), "").unwrap();
        for (directory, mode) in [("a/b", 0), ("a", 0o500)] {
            let permissions = fs::Permissions::from_mode(mode);
            fs::set_permissions(made.path().join(directory), permissions).unwrap();
        }
        open_up(made.path()).unwrap();
        assert_eq!(fs::metadata(&closed).unwrap().permissions().mode() & 0o777, 0o700);
        drop(made);
        assert!(!path.join("inner").exists());
        assert!(path.join("precious").exists());
    }
}
