//! What `list`, `events` and `logs --follow` print (CLI.md "Other answers").

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::event::EventKind;
use crate::failure::Failure;
use crate::vocabulary::vocabulary;
use crate::words::ReasonCode;
use crate::{ProfileId, RootId, TaskId, Timestamp};

vocabulary! {
    /// One word for how a task stands, from its liveness and its publication.
    TaskState {
        /// Admitted, not launched.
        Queued = "queued",
        /// A provider was licensed and may run.
        Running = "running",
        /// Nothing of the turn runs any more, and the verdict is still to come.
        Pending = "pending",
        /// Ended with an answer.
        Committed = "committed",
        /// Ended without one.
        Rejected = "rejected",
        /// Could not be determined from here.
        Undetermined = "undetermined",
    }
}

/// The answer of `list`: tasks, newest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Listing {
    /// Always 1.
    pub schema_version: u32,
    /// Always `list`.
    pub command: String,
    /// The root, when there is one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub root_id: Option<RootId>,
    /// The tasks; absent after a failure.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tasks: Option<Vec<ListedTask>>,
    /// Whether there are more tasks of this kind than `--limit` let through.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub truncated: Option<bool>,
    /// Where `events --since` goes on after everything that was seen here; absent while there is no journal.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cursor: Option<String>,
    /// The structured failure.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub failure: Option<Failure>,
    /// The failure in words.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub error: Option<String>,
}

/// One task of a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ListedTask {
    /// The task.
    pub task_id: TaskId,
    /// The profile that serves it.
    pub provider: ProfileId,
    /// How it stands.
    pub state: TaskState,
    /// When it was admitted.
    pub admitted_at: Timestamp,
    /// When its evidence was sealed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ended_at: Option<Timestamp>,
    /// Why its outcome is what it is.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reason: Option<ReasonCode>,
}

/// One line of `events`: an event of the journal and the place behind it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EventLine {
    /// Where `events --since` goes on after this event.
    pub cursor: String,
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

/// One line of `logs --follow --json`: a piece of raw output. The last line of that command is the task answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LogLine {
    /// The task.
    pub task_id: TaskId,
    /// Which stream.
    pub stream: LogStream,
    /// Where the piece begins in the file, in bytes.
    pub offset: u64,
    /// How long it is in the file, in bytes.
    pub length: u64,
    /// The piece. What is no UTF-8 in it is replaced by U+FFFD, and it ends between two characters.
    pub text: String,
}

vocabulary! {
    /// A stream of the provider.
    LogStream {
        /// Standard output: `raw/stdout`.
        Stdout = "stdout",
        /// Standard error: `raw/stderr`.
        Stderr = "stderr",
    }
}
