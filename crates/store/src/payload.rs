//! `result.txt` and `refusal.txt` (STATE.md 3.8). Until there is an outcome a payload is a left-over, which the holder of the
//! run lock replaces.

use std::fs::File;
use std::io::{self, BufWriter, Seek, Write};

use record::Sha256Digest;
use record::outcome::{Outcome, Payload};

use crate::directory::Access;
use crate::error::{At, StoreError};
use crate::kind::TaskRecord;
use crate::once::Temporary;
use crate::points;
use crate::reserve::Reserved;
use crate::task::{RunLock, Task};

/// Name of the refusal's file in `reserve/`.
pub(crate) const REFUSAL_RESERVE: &str = "refusal";

/// Which payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PayloadName {
    /// The answer.
    Result,
    /// Why there is none.
    Refusal,
}

impl PayloadName {
    /// Its name in the task directory.
    pub const fn basename(self) -> &'static str {
        match self {
            Self::Result => "result.txt",
            Self::Refusal => "refusal.txt",
        }
    }

    const fn other(self) -> Self {
        match self {
            Self::Result => Self::Refusal,
            Self::Refusal => Self::Result,
        }
    }
}

/// An answer being written. It becomes `result.txt` by [`ResultDraft::commit`]; dropping it discards it.
pub struct ResultDraft<'a> {
    task: &'a Task,
    temporary: BufWriter<Temporary<'a>>,
}

impl Write for ResultDraft<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.temporary.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.temporary.flush()
    }
}

impl ResultDraft<'_> {
    /// Makes the draft `result.txt`, in place of a left-over, and removes a left-over `refusal.txt`.
    ///
    /// # Errors
    /// When it can not be written, synced or named.
    pub fn commit(self) -> Result<Payload, StoreError> {
        let name = PayloadName::Result;
        let path = || self.task.directory().path_of(name.basename());
        let temporary = self.temporary.into_inner().map_err(io::IntoInnerError::into_error).at(path())?;
        temporary.file().rewind().at(path())?;
        let (sha256, length) = Sha256Digest::of_reader(temporary.file()).at(path())?;
        temporary.replace(name.basename())?;
        self.task.remove_payload(name.other())?;
        Ok(Payload { basename: name.basename().to_owned(), length, sha256 })
    }
}

impl Task {
    /// Begins the answer.
    ///
    /// # Errors
    /// [`StoreError::AlreadyPublished`] when there is an outcome; [`StoreError::Full`] without space.
    ///
    /// # Panics
    /// When the lock is another task's.
    pub fn draft_result(&self, lock: &RunLock) -> Result<ResultDraft<'_>, StoreError> {
        self.assert_unpublished(lock)?;
        let temporary = BufWriter::new(Temporary::create(self.directory(), &points::RESULT)?);
        Ok(ResultDraft { task: self, temporary })
    }

    /// Writes the refusal, in place of a left-over, and removes a left-over `result.txt`. It goes into the space that was
    /// set aside, while there is some.
    ///
    /// # Errors
    /// [`StoreError::AlreadyPublished`] when there is an outcome; else when it can not be written, synced or named.
    ///
    /// # Panics
    /// When the lock is another task's.
    pub fn write_refusal(&self, lock: &RunLock, text: &[u8]) -> Result<Payload, StoreError> {
        self.assert_unpublished(lock)?;
        let name = PayloadName::Refusal;
        // First, for it may be what fills the disk.
        self.remove_payload(name.other())?;
        match Reserved::open(self.directory(), REFUSAL_RESERVE)? {
            Some(mut reserved) => {
                reserved.write(text, &points::REFUSAL)?;
                reserved.replace(self.directory(), name.basename(), &points::REFUSAL)?;
            }
            None => {
                let mut temporary = Temporary::create(self.directory(), &points::REFUSAL)?;
                temporary.write_all(text).at(self.directory().path_of(name.basename()))?;
                temporary.replace(name.basename())?;
            }
        }
        let (length, sha256) = (text.len() as u64, Sha256Digest::of(text));
        Ok(Payload { basename: name.basename().to_owned(), length, sha256 })
    }

    /// Opens a payload; `None` when it is not there. Whether it is the one that the outcome names is for the reader to see.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] when it is no private regular file.
    pub fn open_payload(&self, name: PayloadName) -> Result<Option<File>, StoreError> {
        self.directory().open_file(name.basename(), Access::Read)
    }

    fn assert_unpublished(&self, lock: &RunLock) -> Result<(), StoreError> {
        self.assert_locked_by(lock);
        match self.directory().identity_of(Outcome::FILE)? {
            None => Ok(()),
            Some(_) => Err(StoreError::AlreadyPublished { path: self.directory().path_of(Outcome::FILE) }),
        }
    }

    fn remove_payload(&self, name: PayloadName) -> Result<(), StoreError> {
        let path = || self.directory().path_of(name.basename());
        self.directory().remove_file(name.basename()).at(path())?;
        fault::point(points::OTHER_PAYLOAD_REMOVED).at(path())
    }
}
