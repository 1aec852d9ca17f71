//! The journal from its end: what came last is read first, and what is older costs nothing (STATE.md 9).

use std::fs::File;
use std::os::unix::fs::FileExt;

use record::event::Event;
use record::json::{self, Limits};

use crate::error::{At, StoreError};
use crate::journal::{Cursor, Journal};
use crate::limits::{JOURNAL_BLOCK_BYTES, JOURNAL_LINE_MAX_BYTES};

/// Reads the events of the journal that were there at the beginning, the newest first. Lines that are no events are skipped,
/// and so is a last line without its end.
#[derive(Debug)]
pub struct JournalBackwards {
    file: File,
    journal: Journal,
    /// Behind the first line, which names the generation.
    start: u64,
    end: Cursor,
    /// Where `buffer` begins in the file.
    offset: u64,
    /// What was read and not yet given. Whole lines at its end, unless `torn`.
    buffer: Vec<u8>,
    /// The end of the buffer belongs to a line that is thrown away.
    torn: bool,
}

impl JournalBackwards {
    pub(crate) fn new(file: File, journal: Journal, start: Cursor, length: u64) -> Result<Self, StoreError> {
        let (buffer, torn) = (Vec::new(), true);
        let mut reader =
            Self { file, journal, start: start.offset(), end: start, offset: length, buffer, torn };
        reader.leave_torn_line()?;
        reader.end = start.at(reader.offset + reader.buffer.len() as u64);
        Ok(reader)
    }

    /// The place behind the newest event.
    pub fn end(&self) -> Cursor {
        self.end
    }

    /// The next event of which the line looks as if it could be meant; only those lines are decoded, which is what reading
    /// costs. The line of an event is JSON as [`Journal::append`] writes it, without white space.
    ///
    /// # Errors
    /// When the journal can not be read.
    pub fn next_of(&mut self, is_meant: impl Fn(&[u8]) -> bool) -> Result<Option<Event>, StoreError> {
        while let Some(line) = self.next_line()? {
            if is_meant(&line)
                && let Ok(event) = json::decode(&line, Limits::RECORD)
            {
                return Ok(Some(event));
            }
        }
        Ok(None)
    }

    /// Goes back to the end of the line before the one that is thrown away.
    fn leave_torn_line(&mut self) -> Result<(), StoreError> {
        while self.torn {
            match self.buffer.iter().rposition(|byte| *byte == b'\n') {
                Some(end) => {
                    self.buffer.truncate(end + 1);
                    self.torn = false;
                }
                None => {
                    self.buffer.clear();
                    self.torn = self.read_block()?;
                }
            }
        }
        Ok(())
    }

    /// Puts what stands before the buffer in front of it; `false` when there is nothing.
    fn read_block(&mut self) -> Result<bool, StoreError> {
        let count = (self.offset - self.start).min(JOURNAL_BLOCK_BYTES);
        let mut block = vec![0; count as usize];
        self.file.read_exact_at(&mut block, self.offset - count).at(self.journal.path())?;
        self.offset -= count;
        block.append(&mut self.buffer);
        self.buffer = block;
        Ok(count > 0)
    }

    /// The last whole line of the buffer, taken out of it.
    fn next_line(&mut self) -> Result<Option<Vec<u8>>, StoreError> {
        loop {
            self.leave_torn_line()?;
            let inner = self.buffer.len().saturating_sub(1);
            if let Some(before) = self.buffer[..inner].iter().rposition(|byte| *byte == b'\n') {
                return Ok(Some(self.buffer.split_off(before + 1)));
            }
            if self.buffer.len() > JOURNAL_LINE_MAX_BYTES {
                self.buffer.clear();
                self.torn = true;
            } else if !self.read_block()? {
                let line = std::mem::take(&mut self.buffer);
                return Ok(Some(line).filter(|line| !line.is_empty()));
            }
        }
    }
}

impl Iterator for JournalBackwards {
    type Item = Result<Event, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_of(|_| true).transpose()
    }
}
