//! The task answer: what every command on one task prints (CLI.md "The task answer", predecessor-core 1.4).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::activity::Activity;
use crate::capability::Capability;
use crate::failure::{Failure, NextAction};
use crate::id::Nonce;
use crate::limits::{ANSWER_MAX_BYTES, DIAGNOSTIC_MAX_BYTES};
use crate::outcome::{Outcome, Payload};
use crate::vocabulary::vocabulary;
use crate::words::{Admission, ContinuationMode, Liveness, Publication, SupervisorKind};
use crate::{RootId, Sha256Digest, TaskId};

/// One answer; one line of JSON on standard output. Answer text of the provider is never in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// Always 1.
    pub schema_version: u32,
    /// The command that answers.
    pub command: String,
    /// The root, when it is open.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub root_id: Option<RootId>,
    /// The task, when known: also in every failure of a command that names one, or that has come so far as to choose one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub task_id: Option<TaskId>,
    /// The predecessor, with `continue`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub parent_task_id: Option<TaskId>,
    /// What is known of the task record, with `dispatch` and `continue`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub task_record: Option<TaskRecord>,
    /// Is the task in the root for good.
    pub admission: Admission,
    /// Does it run.
    pub liveness: Liveness,
    /// Is there a verdict.
    pub publication: Publication,
    /// A word beside the three.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub status: Option<Status>,
    /// The outcome of a terminal task.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub outcome: Option<Box<Outcome>>,
    /// The payload of a terminal task.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub payload: Option<Payload>,
    /// The raw evidence.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub raw: Option<Vec<RawFile>>,
    /// Set when the content of the task was removed by retention: there is no answer to read any more, and no raw output.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub pruned: bool,
    /// Digest of the bytes of `seal.json`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub evidence_sha256: Option<Sha256Digest>,
    /// The supervisor's view.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub supervisor: Option<SupervisorView>,
    /// The stop request, with `cancel`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub stop: Option<StopView>,
    /// All stop requests; at most one here.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub stops: Option<Vec<StopView>>,
    /// What a watch still waits for.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub pending: Option<Pending>,
    /// What the profile can do, after planning.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub capability: Option<Capability>,
    /// Whether and how to go on with the conversation.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub continuation: Option<Continuation>,
    /// What a running turn does.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub activity: Option<Activity>,
    /// What the caller should do.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub next_action: Option<NextAction>,
    /// The structured failure.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub failure: Option<Failure>,
    /// The failure in words.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub error: Option<String>,
    /// Set when `error` was shortened.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub error_truncated: bool,
}

impl Answer {
    /// An answer that knows nothing yet.
    pub fn new(command: &str) -> Self {
        Self {
            schema_version: 1,
            command: command.to_owned(),
            root_id: None,
            task_id: None,
            parent_task_id: None,
            task_record: None,
            admission: Admission::Unknown,
            liveness: Liveness::Undetermined,
            publication: Publication::Unknown,
            status: None,
            outcome: None,
            payload: None,
            raw: None,
            pruned: false,
            evidence_sha256: None,
            supervisor: None,
            stop: None,
            stops: None,
            pending: None,
            capability: None,
            continuation: None,
            activity: None,
            next_action: None,
            failure: None,
            error: None,
            error_truncated: false,
        }
    }

    /// Sets the failure and its words.
    #[must_use]
    pub fn failed(mut self, failure: Failure, error: impl Into<String>) -> Self {
        self.next_action = Some(failure.next_action);
        self.failure = Some(failure);
        self.error = Some(error.into());
        self
    }

    /// What a lead must know of one among very many tasks: which it is, where it stands, what failed and what to do. Of bounded
    /// length, so that [`WAIT_TASKS_MAX_COUNT`](crate::limits::WAIT_TASKS_MAX_COUNT) of them fit into one answer.
    #[must_use]
    pub fn abridged(&self) -> Self {
        Self {
            root_id: self.root_id,
            task_id: self.task_id,
            admission: self.admission,
            liveness: self.liveness,
            publication: self.publication,
            status: self.status,
            pruned: self.pruned,
            pending: self.pending,
            next_action: self.next_action,
            failure: self.failure,
            ..Self::new(&self.command)
        }
    }

    /// The answer as one line of JSON with its newline, at most [`ANSWER_MAX_BYTES`] long: an `error` that would make it
    /// longer is shortened on a character border, to 4096 bytes, then to half of that again and again.
    ///
    /// `None` when the other fields alone are too long.
    pub fn to_line(&self) -> Option<String> {
        let line = to_json_line(self);
        if line.len() <= ANSWER_MAX_BYTES {
            return Some(line);
        }
        let mut limit = DIAGNOSTIC_MAX_BYTES;
        let mut shortened = self.clone();
        loop {
            if let Some(error) = &self.error {
                shortened.error = Some(truncated(error, limit));
                shortened.error_truncated = true;
            }
            let line = to_json_line(&shortened);
            if line.len() <= ANSWER_MAX_BYTES {
                return Some(line);
            }
            if limit == 0 {
                return None;
            }
            limit /= 2;
        }
    }
}

fn to_json_line<T: Serialize>(value: &T) -> String {
    let mut line = serde_json::to_string(value).expect("answers hold only strings as keys");
    line.push('\n');
    line
}

/// The marker that stands at the end of a shortened text.
const TRUNCATION_MARKER: &str = "[truncated]";

/// `text` cut on a character border so that it and its marker fit into `limit` bytes; the bare marker when there is no room
/// for more (predecessor-core 1.4).
pub fn truncated(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    let room = limit.saturating_sub(TRUNCATION_MARKER.len());
    format!("{}{TRUNCATION_MARKER}", &text[..text.floor_char_boundary(room)])
}

vocabulary! {
    /// What is known of the task record.
    TaskRecord {
        /// It was not made.
        NotCreated = "not_created",
        /// It is there.
        Created = "created",
        /// Not known.
        Unknown = "unknown",
    }
}

vocabulary! {
    /// A word beside admission, liveness and publication.
    Status {
        /// Preflight passed.
        Ready = "ready",
        /// A login is missing.
        Blocked = "blocked",
        /// The host can not do it.
        Unsupported = "unsupported",
        /// The budget ended the turn.
        TimedOut = "timed_out",
    }
}

/// One file of the evidence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RawFile {
    /// Absolute path.
    pub path: String,
    /// Whether it is there.
    pub available: bool,
    /// Whether it was found to be what the seal names: length and digest were compared for this answer.
    pub sealed: bool,
    /// Size in bytes; by the seal when it is not there any more.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub size: Option<u64>,
    /// Digest by the seal, where the seal names it. With `sealed` false the file was not compared with it, or is another one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub sha256: Option<Sha256Digest>,
}

/// What the supervisor knows of a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SupervisorView {
    /// Which supervisor.
    pub kind: SupervisorKind,
    /// What it says.
    pub state: SupervisorState,
    /// Whether exactly one job of it is ours.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub matched: Option<bool>,
    /// Its numeric id of the job.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub numeric_task_id: Option<u64>,
    /// Its name of the job.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub job: Option<String>,
    /// The machine that it gave the job to, where there are several.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub node: Option<String>,
    /// Why the job waits, or how it ended, in the supervisor's own word. Says nothing about the turn.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reason: Option<String>,
}

vocabulary! {
    /// A supervisor's word on a task.
    SupervisorState {
        /// It could not be asked.
        Unknown = "unknown",
        /// Waiting for a slot.
        Queued = "queued",
        /// A runner was started.
        Running = "running",
        /// The job is over.
        Ended = "ended",
        /// Five starts without progress (STATE.md 3.2).
        GaveUp = "gave-up",
    }
}

/// One stop request and what came of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StopView {
    /// Names the request.
    pub request_id: Nonce,
    /// Why it was made.
    pub cause: crate::launch::StopRequestCause,
    /// The request is on disk.
    pub requested: bool,
    /// Whether the task has ended.
    pub terminated: bool,
}

/// What a watch still waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Pending {
    /// The kind of thing.
    pub kind: PendingKind,
}

vocabulary! {
    /// What can be pending.
    PendingKind {
        /// The outcome.
        Publication = "publication",
        /// A command of the supervisor.
        SupervisorCommand = "supervisor-command",
    }
}

/// Whether and how the conversation can go on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Continuation {
    /// Whether it can.
    pub resumable: bool,
    /// By what.
    pub mode: ContinuationMode,
    /// The task to continue: the one that was asked about, when it can be.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub predecessor_task_id: Option<TaskId>,
    /// A ready command line for a shell, without a brief of its own.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub continue_command: Option<String>,
    /// Why it can not.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reason: Option<String>,
}
