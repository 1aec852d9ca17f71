//! `journal.ndjson`: the append-only stream of events (STATE.md 9). Derived: it is never synced, and can be rebuilt.
//!
//! The first line names the generation, a nonce that a rebuilt journal does not share. A cursor is a generation and an
//! offset, the end of a line.

use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::str::FromStr;

use record::event::Event;
use record::id::Nonce;
use record::json::{self, Limits, Record};
use serde::{Deserialize, Serialize};

use crate::backwards::JournalBackwards;
use crate::directory::{Access, Directory, identity};
use crate::error::{At, StoreError};
use crate::limits::{JOURNAL_HEADER_MAX_BYTES, JOURNAL_LINE_MAX_BYTES, LOCK_REOPEN_MAX_TRIES};
use crate::lock::Lock;
use crate::once::write_once;
use crate::points;
use crate::random::random_nonce;
use crate::root::Root;

pub(crate) const FILE: &str = "journal.ndjson";

/// The first line of the journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    schema_version: u32,
    generation: Nonce,
}

impl Record for Header {}

/// A place in the journal: everything before it has been seen. Text form: generation, `-`, offset in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor {
    generation: Nonce,
    offset: u64,
}

/// The text is no cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a cursor is copied from an event")]
pub struct InvalidCursor;

impl Cursor {
    pub(crate) fn offset(self) -> u64 {
        self.offset
    }

    /// Another place in the same journal.
    pub(crate) fn at(self, offset: u64) -> Self {
        Self { offset, ..self }
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}-{}", self.generation, self.offset)
    }
}

impl FromStr for Cursor {
    type Err = InvalidCursor;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (generation, offset) = text.split_once('-').ok_or(InvalidCursor)?;
        let generation = generation.parse().map_err(|_| InvalidCursor)?;
        let offset = offset.parse().map_err(|_| InvalidCursor)?;
        let cursor = Self { generation, offset };
        if cursor.to_string() == text { Ok(cursor) } else { Err(InvalidCursor) }
    }
}

/// The journal of a root.
#[derive(Clone, Debug)]
pub struct Journal {
    root: Root,
}

impl Journal {
    pub(crate) fn new(root: Root) -> Self {
        Self { root }
    }

    /// Where it is, for watching.
    pub fn path(&self) -> std::path::PathBuf {
        self.root.directory().path_of(FILE)
    }

    /// Appends an event as one line; the journal is made when it is missing.
    ///
    /// # Errors
    /// When it can not be written, also because another process stands still while it writes. What is missing in it is found
    /// again when it is rebuilt, so that this need not fail what the event is about.
    pub fn append(&self, event: &Event) -> Result<(), StoreError> {
        let mut line =
            json::encode(event).map_err(|source| StoreError::Unwritable { path: self.path(), source })?;
        let lock = self.lock()?;
        let mut file = lock.file();
        let mut append = || {
            // A line that was torn ends here, so that it spoils itself alone.
            if !ends_with_line_feed(file, file.metadata()?.len())? {
                line.insert(0, b'\n');
            }
            file.write_all(&line)?;
            fault::point(points::JOURNAL_APPENDED)
        };
        append().at(self.path())
    }

    pub(crate) fn directory(&self) -> &Directory {
        self.root.directory()
    }

    pub(crate) fn lock(&self) -> Result<Lock, StoreError> {
        let directory = self.root.directory();
        for _ in 0..LOCK_REOPEN_MAX_TRIES {
            let Some(file) = directory.open_file(FILE, Access::Append)? else {
                self.make()?;
                continue;
            };
            let Some(lock) = Lock::wait_for(file).at(self.path())? else {
                return Err(StoreError::at(self.path(), io::Error::from(io::ErrorKind::TimedOut)));
            };
            // Another journal may have taken its place while this one was locked.
            if directory.identity_of(FILE)? == Some(identity(lock.file()).at(self.path())?) {
                return Ok(lock);
            }
        }
        Err(StoreError::damaged(self.path(), "is replaced again and again"))
    }

    fn make(&self) -> Result<(), StoreError> {
        let line = header(&self.path())?;
        write_once(self.root.directory(), FILE, &line, &points::JOURNAL).map(drop)
    }

    /// Reads the events after a cursor, or all; `None` when there is no journal yet and no cursor.
    ///
    /// # Errors
    /// [`StoreError::CursorExpired`] when the cursor is of another journal; [`StoreError::Damaged`] when the journal does
    /// not say which one it is.
    pub fn read_from(&self, cursor: Option<Cursor>) -> Result<Option<JournalReader>, StoreError> {
        let Some((mut file, start)) = self.open()? else {
            return if cursor.is_some() { Err(StoreError::CursorExpired) } else { Ok(None) };
        };
        let position = cursor.unwrap_or(start);
        let length = file.get_ref().metadata().at(self.path())?.len();
        if position.generation != start.generation
            || !(start.offset..=length).contains(&position.offset)
            || !ends_with_line_feed(file.get_ref(), position.offset).at(self.path())?
        {
            return Err(StoreError::CursorExpired);
        }
        file.seek(SeekFrom::Start(position.offset)).at(self.path())?;
        Ok(Some(JournalReader { file, journal: self.clone(), position, skipped: 0 }))
    }

    /// Reads the events from the newest to the oldest; `None` when there is no journal yet.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] when the journal does not say which one it is.
    pub fn read_backwards(&self) -> Result<Option<JournalBackwards>, StoreError> {
        let Some((file, start)) = self.open()? else { return Ok(None) };
        let file = file.into_inner();
        let length = file.metadata().at(self.path())?.len();
        JournalBackwards::new(file, self.clone(), start, length).map(Some)
    }

    /// The journal and the place behind its first line.
    fn open(&self) -> Result<Option<(BufReader<File>, Cursor)>, StoreError> {
        let Some(file) = self.root.directory().open_file(FILE, Access::Read)? else { return Ok(None) };
        let mut file = BufReader::new(file);
        let start = read_header(&mut file).at(self.path())?.ok_or_else(|| {
            StoreError::damaged(self.path(), "does not begin with its generation; rebuild it")
        })?;
        Ok(Some((file, start)))
    }
}

/// The first line of a journal of a new generation.
pub(crate) fn header(path: &Path) -> Result<Vec<u8>, StoreError> {
    let header = Header { schema_version: 1, generation: random_nonce() };
    json::encode(&header).map_err(|source| StoreError::Unwritable { path: path.to_owned(), source })
}

/// The cursor behind the first line, if that is whole.
fn read_header(file: &mut impl BufRead) -> io::Result<Option<Cursor>> {
    let mut line = Vec::new();
    file.take(JOURNAL_HEADER_MAX_BYTES as u64).read_until(b'\n', &mut line)?;
    if line.last() != Some(&b'\n') {
        return Ok(None);
    }
    let header = json::decode_record::<Header>(&line).ok();
    Ok(header.map(|header| Cursor { generation: header.generation, offset: line.len() as u64 }))
}

fn ends_with_line_feed(file: &File, length: u64) -> io::Result<bool> {
    let Some(last) = length.checked_sub(1) else { return Ok(true) };
    let mut byte = [0];
    file.read_exact_at(&mut byte, last)?;
    Ok(byte == *b"\n")
}

/// One event and the place behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalLine {
    /// Where to go on reading.
    pub cursor: Cursor,
    /// The event.
    pub event: Event,
}

/// Reads the journal line by line. Lines that are no events are skipped and counted; a last line without its end is left
/// for a later look.
#[derive(Debug)]
pub struct JournalReader {
    file: BufReader<File>,
    journal: Journal,
    position: Cursor,
    skipped: u64,
}

impl JournalReader {
    /// The place up to which was read, skipped lines included.
    pub fn cursor(&self) -> Cursor {
        self.position
    }

    /// How many lines were skipped.
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    /// Whether this is still the journal of the root: after a rebuild it is not, and nothing more will come.
    ///
    /// # Errors
    /// When it can not be asked.
    pub fn is_current(&self) -> Result<bool, StoreError> {
        let own = identity(self.file.get_ref()).at(self.journal.path())?;
        Ok(self.journal.root.directory().identity_of(FILE)? == Some(own))
    }

    fn next_line(&mut self) -> Result<Option<Event>, StoreError> {
        let mut line = Vec::new();
        loop {
            let Some(length) = read_line(&mut self.file, &mut line).at(self.journal.path())? else {
                // What was read of an unfinished line is read again next time.
                self.file.seek(SeekFrom::Start(self.position.offset)).at(self.journal.path())?;
                return Ok(None);
            };
            self.position.offset += length;
            match json::decode(&line, Limits::RECORD) {
                Ok(event) => return Ok(Some(event)),
                Err(_) => self.skipped += 1,
            }
        }
    }
}

impl Iterator for JournalReader {
    type Item = Result<JournalLine, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        let line = self.next_line().transpose()?;
        Some(line.map(|event| JournalLine { cursor: self.position, event }))
    }
}

/// Reads a line with its line feed and returns its length; of a line that is too long only the beginning is kept. `None`
/// when there is no whole line any more.
pub(crate) fn read_line(file: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<Option<u64>> {
    line.clear();
    let mut length = 0;
    loop {
        let buffer = match file.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            result => result?,
        };
        if buffer.is_empty() {
            return Ok(None);
        }
        let end = buffer.iter().position(|byte| *byte == b'\n').map(|place| place + 1);
        let count = end.unwrap_or(buffer.len());
        let room = JOURNAL_LINE_MAX_BYTES.saturating_sub(line.len());
        line.extend_from_slice(&buffer[..count.min(room)]);
        file.consume(count);
        length += count as u64;
        if end.is_some() {
            return Ok(Some(length));
        }
    }
}
