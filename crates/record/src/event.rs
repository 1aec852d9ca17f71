//! The journal's events (CLI.md "Other answers").

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::vocabulary::vocabulary;
use crate::{TaskId, Timestamp};

/// One line of `journal.ndjson`. Its cursor is the place where it stands and is added by the reader.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Event {
    /// When it was written.
    pub at: Timestamp,
    /// The task.
    pub task_id: TaskId,
    /// What happened.
    pub event: EventKind,
    /// One word more: the profile when admitted, the reason when published.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub detail: Option<String>,
}

vocabulary! {
    /// What can happen to a task.
    EventKind {
        /// It was committed to the root.
        Admitted = "admitted",
        /// Its provider was licensed.
        Launched = "launched",
        /// A stop was requested.
        StopRequested = "stop-requested",
        /// Its evidence was sealed.
        Sealed = "sealed",
        /// It has an outcome.
        Published = "published",
        /// Its content was removed.
        Pruned = "pruned",
    }
}
