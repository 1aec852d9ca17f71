//! `logs --follow`: the raw output of a task as it grows, to its end.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::os::fd::BorrowedFd;
use std::time::Instant;

use record::TaskId;
use record::answer::Answer;
use record::failure::Stage;
use record::history::LogStream;
use record::outcome::Outcome;
use store::{Root, Task};

use crate::activity::Comparison;
use crate::changes::Changes;
use crate::context::Context;
use crate::error::{At, TurnError};
use crate::limits::{LOG_PIECE_MAX_BYTES, WATCH_RHYTHM};
use crate::observe;

/// A piece of raw output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogPiece {
    /// Which stream.
    pub stream: LogStream,
    /// Where it begins, in bytes.
    pub offset: u64,
    /// What stands there; it ends between two characters where that can be.
    pub bytes: Vec<u8>,
}

/// Follows the raw output of one task.
pub struct LogFollower<'a> {
    context: &'a Context,
    task: Task,
    changes: Changes,
    offsets: [u64; 2],
    answer: Answer,
    has_ended: bool,
    looked_at: Instant,
}

const STREAMS: [LogStream; 2] = [LogStream::Stdout, LogStream::Stderr];

impl<'a> LogFollower<'a> {
    /// Begins at the beginning of each stream, or with at most `tail_max_bytes` of what is there, from the beginning of a line
    /// on.
    ///
    /// # Errors
    /// There is no such task, or its root can not be opened.
    pub fn open(context: &'a Context, id: TaskId, tail_max_bytes: Option<u64>) -> Result<Self, TurnError> {
        let root = Root::open(&context.root).at(Stage::OpenState)?;
        let task = observe::existing_task(&root, id)?;
        let changes = Changes::new();
        changes.watch_names(&task.path());
        if let Some(raw) = task.raw_path(LogStream::Stdout.as_str()).parent() {
            changes.watch_content(raw);
        }
        let offsets = STREAMS.map(|stream| tail_max_bytes.map_or(0, |most| tail_offset(&task, stream, most)));
        let answer = look(context, id);
        Ok(Self { context, task, changes, offsets, answer, has_ended: false, looked_at: Instant::now() })
    }

    /// Whether each stream begins behind its beginning.
    pub fn skipped(&self) -> bool {
        self.offsets.iter().any(|offset| *offset > 0)
    }

    /// Looks whether the task has an outcome, so that nothing more will be written, and does what an observer owes it.
    pub fn has_ended(&mut self) -> bool {
        if self.has_ended {
            return true;
        }
        let has_outcome = self.answer.outcome.is_none() && matches!(self.task.read::<Outcome>(), Ok(Some(_)));
        if has_outcome || self.looked_at.elapsed() >= WATCH_RHYTHM {
            self.answer = look(self.context, self.task.id());
            self.looked_at = Instant::now();
        }
        self.has_ended = self.answer.outcome.is_some() || self.answer.failure.is_some();
        if self.has_ended {
            // Only now are the files what they stay.
            self.answer = observe::logs(self.context, self.task.id());
        }
        self.has_ended
    }

    /// What the last look told.
    pub fn answer(&self) -> &Answer {
        &self.answer
    }

    /// The next piece that is there. With `is_last` also what ends in the middle of a character.
    ///
    /// # Errors
    /// A stream can not be read.
    pub fn next_piece(&mut self, is_last: bool) -> Result<Option<LogPiece>, TurnError> {
        for (stream, offset) in STREAMS.into_iter().zip(&mut self.offsets) {
            let Some(mut file) = self.task.open_raw(stream.as_str()).at(Stage::ObserveTask)? else {
                continue;
            };
            let mut bytes = read_at(&mut file, *offset).map_err(|error| {
                let code = record::failure::FailureCode::TaskOperationFailed;
                TurnError::new(code, Stage::ObserveTask, format!("{stream} can not be read: {error}"))
            })?;
            let is_full = bytes.len() as u64 == LOG_PIECE_MAX_BYTES;
            if is_full || !is_last {
                bytes.truncate(whole_characters(&bytes));
            }
            if !bytes.is_empty() {
                let piece = LogPiece { stream, offset: *offset, bytes };
                *offset += piece.bytes.len() as u64;
                return Ok(Some(piece));
            }
        }
        Ok(None)
    }

    /// Waits until there may be more. Returns whether anybody can still read what is written to `output`.
    pub fn wait(&self, output: BorrowedFd<'_>) -> bool {
        self.changes.wait_for_reader(WATCH_RHYTHM, output)
    }
}

/// How the task stands; its files are not looked at.
fn look(context: &Context, id: TaskId) -> Answer {
    observe::answer_for("logs", context, id, Comparison::Nothing, |_, _| Ok(()))
}

fn read_at(file: &mut File, offset: u64) -> std::io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(offset))?;
    let mut bytes = Vec::new();
    file.take(LOG_PIECE_MAX_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Where the last lines of a stream begin, of which there are at most so many bytes.
fn tail_offset(task: &Task, stream: LogStream, max_bytes: u64) -> u64 {
    let offset = || -> Option<u64> {
        let mut file = task.open_raw(stream.as_str()).ok()??;
        let length = file.metadata().ok()?.len();
        let start = length.checked_sub(max_bytes).filter(|start| *start > 0)?;
        file.seek(SeekFrom::Start(start)).ok()?;
        let mut bytes = Vec::new();
        file.take(max_bytes).read_to_end(&mut bytes).ok()?;
        let line = bytes.iter().position(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        Some(start + line as u64)
    };
    offset().unwrap_or(0)
}

/// Length of `bytes` without the character that they end in the middle of.
fn whole_characters(bytes: &[u8]) -> usize {
    let Some(chunk) = bytes.utf8_chunks().last() else { return 0 };
    let end = chunk.invalid();
    match std::str::from_utf8(end) {
        Err(error) if error.error_len().is_none() => bytes.len() - end.len(),
        _ => bytes.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_not_cut() {
        for (bytes, whole) in
            [(&b""[..], 0), (b"ab", 2), (b"a\xe6\xbc", 1), (b"a\xe6\xbc\xa2", 4), (b"a\xff", 2), (b"\xf0", 0)]
        {
            assert_eq!(whole_characters(bytes), whole, "{bytes:?}");
        }
    }
}
