//! `events`: the journal, line by line, and what comes later (STATE.md 9). Starts nothing.

use std::os::fd::BorrowedFd;

use record::failure::{FailureCode, Stage};
use record::history::EventLine;
use store::{Cursor, JournalReader, Root, StoreError};

use crate::changes::Changes;
use crate::context::Context;
use crate::error::{At, TurnError};
use crate::limits::WATCH_RHYTHM;

/// The events of a root behind a cursor.
pub struct Events {
    root: Root,
    reader: Option<JournalReader>,
    changes: Changes,
}

impl Events {
    /// Begins behind a cursor, or at the beginning.
    ///
    /// # Errors
    /// `invalid_request` for a text that is no cursor, `cursor_expired` for one of an earlier journal; the root can not be
    /// opened.
    pub fn open(context: &Context, since: Option<&str>) -> Result<Self, TurnError> {
        let since: Option<Cursor> = since
            .map(|text| {
                text.parse().map_err(|error: store::InvalidCursor| {
                    let (code, stage) = (FailureCode::InvalidRequest, Stage::ValidateRequest);
                    TurnError::new(code, stage, format!("--since: {error}"))
                })
            })
            .transpose()?;
        let root = Root::open(&context.root).at(Stage::OpenState)?;
        // Before the first look, so that nothing comes between it and the first wait.
        let changes = Changes::new();
        changes.watch_content(context.root.as_path());
        let reader = root.journal().read_from(since).at(Stage::ObserveTask)?;
        Ok(Self { root, reader, changes })
    }

    /// The next event that is there.
    ///
    /// # Errors
    /// `cursor_expired` when the journal was made again meanwhile: the events behind it are another history.
    pub fn next_line(&mut self) -> Result<Option<EventLine>, TurnError> {
        if self.reader.is_none() {
            self.reader = self.root.journal().read_from(None).at(Stage::ObserveTask)?;
        }
        let Some(reader) = &mut self.reader else { return Ok(None) };
        let mut next = || reader.next().transpose().at(Stage::ObserveTask);
        let mut line = next()?;
        if line.is_none() && !reader.is_current().at(Stage::ObserveTask)? {
            // The last one may have been appended just before.
            line = reader.next().transpose().at(Stage::ObserveTask)?;
            if line.is_none() {
                return Err(StoreError::CursorExpired).at(Stage::ObserveTask);
            }
        }
        Ok(line.map(|line| EventLine {
            cursor: line.cursor.to_string(),
            at: line.event.at,
            task_id: line.event.task_id,
            event: line.event.event,
            detail: line.event.detail,
        }))
    }

    /// Waits until there may be more. Returns whether anybody can still read what is written to `output`.
    pub fn wait(&self, output: BorrowedFd<'_>) -> bool {
        self.changes.wait_for_reader(WATCH_RHYTHM, output)
    }
}
