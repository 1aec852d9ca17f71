//! `seal.json`: how the turn ended, and what the evidence is (STATE.md 3.7).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::json::Record;
use crate::vocabulary::vocabulary;
use crate::words::{Containment, Fence, Launched, ReasonCode, StopCause};
use crate::{RootId, Sha256Digest, Span, TaskId, Timestamp};

/// The content of `seal.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Seal {
    /// Always [`Record::SCHEMA_VERSION`].
    pub schema_version: u32,
    /// The root that holds the task.
    pub root_id: RootId,
    /// The task.
    pub task_id: TaskId,
    /// Digest of the bytes of `request.json`.
    pub request_sha256: Sha256Digest,
    /// Digest of the bytes of `plan.json`.
    pub plan_sha256: Sha256Digest,
    /// How the process ended.
    pub invocation: Invocation,
    /// What stopped it, first cause.
    pub stop: StopCause,
    /// May the provider have run.
    pub launched: Launched,
    /// Whether another runner than the one that launched it saw the end.
    pub recovered: bool,
    /// The containment, when there was a process.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub containment: Option<Containment>,
    /// The fence, when there was a process.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub fence: Option<Fence>,
    /// Processes that the final sweep had to end; absent when nobody could count.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub leaked_processes: Option<u32>,
    /// Whether what git obeys in the workspace (settings, attributes, hooks) is not what it was before the turn; absent = the
    /// turn only read, did not run, or it could not be determined (STATE.md 7).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub git_control_changed: Option<bool>,
    /// Resource use of the child and what it waited for; absent when not counted.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub resources: Option<Resources>,
    /// When the process was recorded, if it was.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub started_at: Option<Timestamp>,
    /// When the seal was made.
    pub sealed_at: Timestamp,
    /// A record or stream of the run was damaged before it could be sealed: whatever is in the manifest is no evidence.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub damaged: bool,
    /// Every file of `raw/`, sorted by path.
    pub manifest: Vec<ManifestEntry>,
}

impl Record for Seal {}

/// How the process of a turn ended. One object with the word in `state`; the other fields belong to that word.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Invocation {
    /// Which kind of end.
    pub state: InvocationState,
    /// Exit code, with `exited` only.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub exit_code: Option<i32>,
    /// Signal number, with `signalled` only.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub signal: Option<i32>,
    /// Why it was not started, with `not-started` only.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reason: Option<ReasonCode>,
    /// One sentence more, with `not-started` and `lost`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub message: Option<String>,
}

vocabulary! {
    /// Kinds of end (STATE.md 3.7).
    InvocationState {
        /// It exited with a code.
        Exited = "exited",
        /// A signal ended it.
        Signalled = "signalled",
        /// It ended; how is not known.
        Ended = "ended",
        /// No provider ran.
        NotStarted = "not-started",
        /// Nobody saw it end.
        Lost = "lost",
    }
}

impl Invocation {
    /// An end of which only the kind is known.
    pub fn of(state: InvocationState) -> Self {
        Self { state, exit_code: None, signal: None, reason: None, message: None }
    }

    /// An exit with a code.
    pub fn exited(code: i32) -> Self {
        Self { exit_code: Some(code), ..Self::of(InvocationState::Exited) }
    }

    /// An end by a signal.
    pub fn signalled(signal: i32) -> Self {
        Self { signal: Some(signal), ..Self::of(InvocationState::Signalled) }
    }

    /// No provider ran, and why.
    pub fn not_started(reason: ReasonCode, message: Option<String>) -> Self {
        Self { reason: Some(reason), message, ..Self::of(InvocationState::NotStarted) }
    }
}

/// Resource use of the turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Resources {
    /// Processor time, user and system.
    pub cpu: Span,
    /// Largest resident set of one process, in bytes.
    pub max_resident_bytes: u64,
}

/// One sealed file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ManifestEntry {
    /// Path relative to the task directory, for example `raw/stdout`.
    pub path: String,
    /// Size in bytes.
    pub size: u64,
    /// Digest of the content.
    pub sha256: Sha256Digest,
    /// The file got shorter than what had been read of it.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub rewritten: bool,
    /// Size before it was cut to the cap, in bytes.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cut_from: Option<u64>,
}
