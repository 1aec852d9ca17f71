//! `reserve/`: space set aside at admission, so that a full disk does not keep a task from ending (STATE.md 1).

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;

use record::Sha256Digest;
use record::outcome::Outcome;
use record::seal::Seal;
use rustix::fs::FallocateFlags;
use rustix::io::Errno;

use crate::directory::{Access, Directory, FILE_MODE, Privacy, identity};
use crate::error::{At, StoreError};
use crate::kind::ReservedRecord;
use crate::limits::RESERVE_BYTES;
use crate::once::{Kind, Place, Placed, TEMPORARY_PREFIX, place, sync_entry, write_once};
use crate::payload::REFUSAL_RESERVE;
use crate::points::{self, RecordPoints};
use crate::task::{Created, RunLock, Task};

const RESERVE: &str = "reserve";
const FILES: [&str; 3] = [Seal::RESERVE, REFUSAL_RESERVE, Outcome::RESERVE];

/// Makes `reserve/` and fills it.
pub(crate) fn fill(task: &Directory) -> Result<(), StoreError> {
    task.make(RESERVE).at(task.path_of(RESERVE))?;
    let directory = task.required_child(RESERVE)?;
    for name in FILES {
        directory.create_file(name, FILE_MODE).and_then(|file| allocate(&file)).at(directory.path_of(name))?;
    }
    Ok(())
}

fn allocate(file: &File) -> io::Result<()> {
    match rustix::fs::fallocate(file, FallocateFlags::empty(), 0, RESERVE_BYTES) {
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => write_zeros(file),
        result => Ok(result?),
    }
}

fn write_zeros(mut file: &File) -> io::Result<()> {
    file.write_all(&[0; RESERVE_BYTES as usize])
}

/// A reserved file, ready to be given its name.
pub(crate) struct Reserved {
    directory: Directory,
    name: &'static str,
    file: File,
}

impl Reserved {
    /// The reserved file; `None` when it is used up, gone or damaged, or somebody else has another name for it: then a task
    /// ends without the space that was set aside.
    pub(crate) fn open(task: &Directory, name: &'static str) -> Result<Option<Self>, StoreError> {
        let opened = || -> Result<Option<Self>, StoreError> {
            let Some(directory) = task.child(RESERVE, Privacy::Private)? else { return Ok(None) };
            let Some(file) = directory.open_file(name, Access::ReadWrite)? else { return Ok(None) };
            let alone = file.metadata().at(directory.path_of(name))?.nlink() == 1;
            Ok(alone.then_some(Self { directory, name, file }))
        };
        match opened() {
            Err(StoreError::Damaged { .. }) => Ok(None),
            result => result,
        }
    }

    /// Writes into the reserved blocks, cuts the rest and syncs.
    pub(crate) fn write(&mut self, bytes: &[u8], points: &RecordPoints) -> Result<(), StoreError> {
        let mut write = || {
            fault::point(points.created)?;
            self.file.write_all(bytes)?;
            self.file.set_len(bytes.len() as u64)?;
            fault::point(points.written)?;
            self.file.sync_all()?;
            fault::synced(&self.file);
            fault::point(points.synced)
        };
        write().at(self.directory.path_of(self.name))
    }

    /// Gives it its name in the task directory, unless that is taken.
    pub(crate) fn place_once(
        self,
        task: &Directory,
        name: &str,
        points: &RecordPoints,
    ) -> Result<Placed, StoreError> {
        let ours = identity(&self.file).at(self.directory.path_of(self.name))?;
        let from = Place { directory: &self.directory, name: self.name };
        let placed = place(from, Place { directory: task, name }, ours, Kind::File, points.renamed)?;
        if placed == Placed::Ours {
            sync_entry(task, name, points)?;
        }
        Ok(placed)
    }

    /// Gives it its name in the task directory, whatever had it before.
    pub(crate) fn replace(
        self,
        task: &Directory,
        name: &str,
        points: &RecordPoints,
    ) -> Result<(), StoreError> {
        rustix::fs::renameat(self.directory.file(), self.name, task.file(), name).at(task.path_of(name))?;
        fault::point(points.renamed).at(task.path_of(name))?;
        sync_entry(task, name, points)
    }
}

impl Task {
    /// Adds a record, once, in the space that was set aside for it; when that is gone as [`Task::create`] does.
    ///
    /// # Errors
    /// As [`Task::create`].
    ///
    /// # Panics
    /// When the lock is another task's.
    pub fn create_reserved<R: ReservedRecord>(
        &self,
        lock: &RunLock,
        record: &R,
    ) -> Result<Created<R>, StoreError> {
        self.assert_locked_by(lock);
        let bytes = self.encode(record)?;
        if self.directory().identity_of(R::FILE)?.is_some() {
            return self.existing();
        }
        let placed = match Reserved::open(self.directory(), R::RESERVE)? {
            Some(mut reserved) => {
                reserved.write(&bytes, R::POINTS)?;
                reserved.place_once(self.directory(), R::FILE, R::POINTS)?
            }
            None => write_once(self.directory(), R::FILE, &bytes, R::POINTS)?,
        };
        match placed {
            Placed::Ours => Ok(Created::New(Sha256Digest::of(&bytes))),
            Placed::Taken => self.existing(),
        }
    }

    /// Gives back the space that was set aside, and what lost writers left half-written; for a task that has its outcome. Not
    /// synced: it can be done again.
    ///
    /// # Errors
    /// When something can not be removed; what is missing is no error.
    ///
    /// # Panics
    /// When the lock is another task's.
    pub fn remove_reserve(&self, lock: &RunLock) -> Result<(), StoreError> {
        self.assert_locked_by(lock);
        for name in self.directory().names()? {
            if name.starts_with(TEMPORARY_PREFIX) {
                self.directory().remove_file(&name).at(self.directory().path_of(&name))?;
            }
        }
        let Some(directory) = self.directory().child(RESERVE, Privacy::Private)? else { return Ok(()) };
        for name in FILES {
            directory.remove_file(name).at(directory.path_of(name))?;
        }
        self.directory().remove_directory(RESERVE).at(directory.path())?;
        fault::point(points::RESERVE_REMOVED).at(directory.path())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_reserve_the_same_space() {
        let file = tempfile::tempfile().unwrap();
        write_zeros(&file).unwrap();
        assert_eq!(file.metadata().unwrap().len(), RESERVE_BYTES);
    }
}
