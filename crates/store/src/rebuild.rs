//! A new journal from the records, while others go on appending to the old one (STATE.md 9).

use std::io::{BufReader, BufWriter, Seek, SeekFrom, Write};
use std::path::PathBuf;

use record::event::Event;
use record::json::{self, Limits};
use rustix::fs::{AtFlags, FileType};

use crate::directory::{Access, Directory};
use crate::error::{At, StoreError};
use crate::journal::{self, Journal, read_line};
use crate::once::Temporary;
use crate::points;
use crate::random::random_nonce;

/// A journal being rebuilt. Nothing is changed before [`JournalRebuild::finish`].
#[derive(Debug)]
pub struct JournalRebuild {
    journal: Journal,
    events: Vec<Event>,
    /// Where the old journal ended before any record was read: what is appended later may be in no record yet.
    begun_at: u64,
}

/// A journal that was made again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rebuilt {
    /// How many events it tells.
    pub events: u64,
    /// Where the directory is now that stood in its place, if one did.
    pub aside: Option<PathBuf>,
}

impl Journal {
    /// Begins a rebuild. To be called before the records are read.
    ///
    /// # Errors
    /// When the root can not be read.
    pub fn begin_rebuild(&self) -> Result<JournalRebuild, StoreError> {
        let begun_at = match self.directory().open_file(journal::FILE, Access::Read) {
            Ok(Some(file)) => file.metadata().at(self.path())?.len(),
            // What can not be opened as a journal has nothing to take over.
            Ok(None) | Err(StoreError::Damaged { .. }) => 0,
            Err(error) => return Err(error),
        };
        Ok(JournalRebuild { journal: self.clone(), events: Vec::new(), begun_at })
    }
}

impl JournalRebuild {
    /// Adds an event that a record tells of.
    pub fn add(&mut self, event: Event) {
        self.events.push(event);
    }

    /// Puts a journal of a new generation in the place of the old one: the events of the records in the order of time, then
    /// what was appended meanwhile. A directory in its place is moved aside with all that is in it.
    ///
    /// # Errors
    /// When it can not be written; the old one stays then.
    pub fn finish(self) -> Result<Rebuilt, StoreError> {
        let Self { journal, mut events, begun_at } = self;
        events.sort_by_key(|event| (event.at, event.task_id, event.event));
        let directory = journal.directory();
        let path = journal.path();
        let temporary = Temporary::create(directory, &points::JOURNAL)?;
        let mut file = BufWriter::new(temporary);
        file.write_all(&journal::header(&path)?).at(&path)?;
        for event in &events {
            write(&mut file, event, &path)?;
        }
        // Nobody appends from here on. One that can not be locked is no journal, and nobody can append to it either.
        let lock = match journal.lock() {
            Ok(lock) => Some(lock),
            Err(StoreError::Damaged { .. }) => None,
            Err(error) => return Err(error),
        };
        let mut known: Vec<_> = events.iter().map(|event| (event.task_id, event.event)).collect();
        known.sort_unstable();
        let mut count = events.len() as u64;
        for event in appended_since(directory, begun_at)? {
            if known.binary_search(&(event.task_id, event.event)).is_err() {
                write(&mut file, &event, &path)?;
                count += 1;
            }
        }
        let temporary = file.into_inner().map_err(std::io::IntoInnerError::into_error).at(&path)?;
        // A directory is the one thing that a rename of a file does not replace.
        let aside = if lock.is_none() { move_directory_aside(directory)? } else { None };
        temporary.replace(journal::FILE)?;
        drop(lock);
        Ok(Rebuilt { events: count, aside })
    }
}

fn move_directory_aside(directory: &Directory) -> Result<Option<PathBuf>, StoreError> {
    let (parent, path) = (directory.file(), directory.path_of(journal::FILE));
    let stat = rustix::fs::statat(parent, journal::FILE, AtFlags::SYMLINK_NOFOLLOW).at(&path)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::Directory {
        return Ok(None);
    }
    let name = format!("{}.aside-{}", journal::FILE, random_nonce());
    rustix::fs::renameat(parent, journal::FILE, parent, &name).at(&path)?;
    Ok(Some(directory.path_of(&name)))
}

fn write(file: &mut impl Write, event: &Event, path: &std::path::Path) -> Result<(), StoreError> {
    let line =
        json::encode(event).map_err(|source| StoreError::Unwritable { path: path.to_owned(), source })?;
    file.write_all(&line).at(path)
}

/// The whole events behind an offset; what is torn there was torn before.
fn appended_since(directory: &Directory, offset: u64) -> Result<Vec<Event>, StoreError> {
    let path = directory.path_of(journal::FILE);
    let mut file = match directory.open_file(journal::FILE, Access::Read) {
        Ok(Some(file)) => BufReader::new(file),
        Ok(None) | Err(StoreError::Damaged { .. }) => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    file.seek(SeekFrom::Start(offset)).at(&path)?;
    let (mut events, mut line) = (Vec::new(), Vec::new());
    while read_line(&mut file, &mut line).at(&path)?.is_some() {
        events.extend(json::decode::<Event>(&line, Limits::RECORD).ok());
    }
    Ok(events)
}
