//! `outcome.json`: the only terminal authority (STATE.md 3.8). No clock, so that judging again gives the same bytes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::json::Record;
use crate::plan::Predicate;
use crate::usage::Usage;
use crate::words::{Containment, Fence, Launched, ReasonCode, StopCause, Verdict};
use crate::{ProfileId, RootId, Sha256Digest, TaskId, Timestamp};

/// The content of `outcome.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Outcome {
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
    /// Committed or rejected.
    pub verdict: Verdict,
    /// Why.
    pub reason: Reason,
    /// May money have been spent.
    pub launched: Launched,
    /// What stopped it, first cause.
    pub stop: StopCause,
    /// Digest of the bytes of `seal.json`.
    pub evidence_sha256: Sha256Digest,
    /// Who judged.
    pub predicate: Predicate,
    /// The answer or the refusal.
    pub payload: Payload,
    /// Sealed artifacts beside the streams.
    pub artifacts: Vec<Artifact>,
    /// The conversation, when known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub session: Option<OutcomeSession>,
    /// What the provider says it used.
    pub usage: Vec<Usage>,
    /// Whether another runner than the one that launched it saw the end.
    pub recovered: bool,
    /// The containment, when there was a process.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub containment: Option<Containment>,
    /// The fence, when there was a process.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub fence: Option<Fence>,
    /// Processes that the final sweep had to end.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub leaked_processes: Option<u32>,
    /// Whether what git obeys in the workspace (settings, attributes, hooks) is not what it was before the turn; absent = the
    /// turn only read, did not run, or it could not be determined (STATE.md 7).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub git_control_changed: Option<bool>,
    /// Facts beside the verdict that a lead should know.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub notes: Vec<Note>,
}

impl Record for Outcome {}

/// Why an outcome is what it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reason {
    /// The class.
    pub code: ReasonCode,
    /// One sentence.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub message: Option<String>,
    /// When the provider says it may be asked again.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub retry_at: Option<Timestamp>,
}

/// The file that holds the answer or the refusal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Payload {
    /// `result.txt` or `refusal.txt`, in the task directory.
    pub basename: String,
    /// Length in bytes, more than zero.
    pub length: u64,
    /// Digest of the content.
    pub sha256: Sha256Digest,
}

/// One sealed artifact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Artifact {
    /// Path relative to the task directory.
    pub path: String,
    /// Size in bytes.
    pub size: u64,
    /// Digest of the content.
    pub sha256: Sha256Digest,
}

/// The provider's conversation at the end of the turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OutcomeSession {
    /// The profile.
    pub provider: ProfileId,
    /// The CLI's id of the conversation.
    pub conversation_id: String,
    /// The tasks whose turns came before this one in the conversation: the predecessor, then those in which it had already
    /// gone on.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub after: Vec<TaskId>,
    /// Whether a continuation is possible.
    pub resumable: bool,
    /// Why not.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub why_not: Option<String>,
}

crate::vocabulary::vocabulary! {
    /// Facts beside the verdict.
    Note {
        /// The CLI's own sandbox refused a write during the turn (providers.md, Decisions 5).
        ProviderDeniedWrite = "provider-denied-write",
        /// Lines before the first event were no JSON.
        ChatterBeforeEvents = "chatter-before-events",
        /// The judge that the plan named is not in this build; the newest judged (STATE.md 3.8).
        NewerJudge = "newer-judge",
        /// The process ended with another exit code than zero after a complete success.
        ExitCodeNotZero = "exit-code-not-zero",
        /// A stream was shortened by somebody while it was read.
        StreamRewritten = "stream-rewritten",
    }
}
