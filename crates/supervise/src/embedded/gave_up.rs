//! Notes on tasks whose runner was started too often without progress (STATE.md 3.2): one empty file each, beside the
//! supervisor's lock. Derived: without a note the task is simply tried again.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use record::{Sha256Digest, TaskId};
use store::Root;

/// The notes of one machine's supervisor.
#[derive(Debug)]
pub(super) struct GaveUp {
    directory: PathBuf,
}

impl GaveUp {
    /// The notes of that machine's supervisor. Their own directory is not made.
    pub(super) fn of(root: &Root, machine: &Sha256Digest) -> Self {
        Self { directory: root.supervisor_directory(machine).path().join("gave-up") }
    }

    /// Where the notes are.
    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Makes the directory.
    pub(super) fn make_directory(&self) -> io::Result<()> {
        match DirBuilder::new().mode(0o700).create(&self.directory) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
            result => result,
        }
    }

    /// Whether there is a note on the task; no when it can not be determined, so that the task is tried again.
    pub(super) fn contains(&self, task: TaskId) -> bool {
        fs::symlink_metadata(self.note(task)).is_ok()
    }

    /// Leaves a note on the task.
    pub(super) fn add(&self, task: TaskId) -> io::Result<()> {
        OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(self.note(task))
            .map(drop)
    }

    /// Removes the note on the task, if there is one.
    pub(super) fn remove(&self, task: TaskId) -> io::Result<()> {
        match fs::remove_file(self.note(task)) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            result => result,
        }
    }

    /// Removes the notes on tasks whose id is not in the sorted list of open ones.
    pub(super) fn keep_only(&self, sorted: &[TaskId]) {
        let notes = fs::read_dir(&self.directory).into_iter().flatten().flatten();
        for task in notes.filter_map(|note| note.file_name().to_str()?.parse().ok()) {
            if sorted.binary_search(&task).is_err() {
                // A note on a task that is not open is read by nobody.
                let _ = self.remove(task);
            }
        }
    }

    fn note(&self, task: TaskId) -> PathBuf {
        self.directory.join(task.to_string())
    }
}
