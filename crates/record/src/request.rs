//! `request.json`: what was asked. Everything that changes what is launched or how it is bounded, and no clock, so that the
//! same question always has the same bytes (STATE.md 1).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::json::Record;
use crate::words::{Fence, Permission};
use crate::{AbsolutePath, ByteSize, ProfileId, RootId, Sha256Digest, Span, TaskId};

/// The content of `request.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// Always [`Record::SCHEMA_VERSION`].
    pub schema_version: u32,
    /// The root that holds the task.
    pub root_id: RootId,
    /// The task.
    pub task_id: TaskId,
    /// The profile that serves it.
    pub provider: ProfileId,
    /// The workspace, symbolic links resolved.
    pub canonical_cwd: AbsolutePath,
    /// What the provider was asked to be like.
    pub requested_config: RequestedConfig,
    /// How the turn is bounded.
    pub limits: RequestedLimits,
    /// The fence asked for; absent = the profile's default for the mode (STATE.md 7).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub fence: Option<Fence>,
    /// File of secret environment values (STATE.md 8).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub environment_file: Option<AbsolutePath>,
    /// The conversation that this turn goes on with (STATE.md 5).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub prior_session: Option<PriorSession>,
    /// Digest of `brief.md`.
    pub brief_sha256: Sha256Digest,
    /// Length of `brief.md` in bytes, 1 to [`crate::limits::BRIEF_MAX_BYTES`].
    pub brief_length: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_false(flag: &bool) -> bool {
    !flag
}

impl Record for Request {}

impl Request {
    /// Marks the processes of the turn: the value of `DELEGATION_COOKIE` in their environment. The root is in it too, because
    /// a lead may choose the same task id in two roots.
    pub fn cookie(&self) -> String {
        cookie(self.root_id, self.task_id)
    }
}

/// Name of the cgroup of a task (STATE.md 6).
pub fn cgroup_name(root: RootId, task: TaskId) -> String {
    format!("{}{task}", cgroup_prefix(root))
}

/// What the names of the cgroups of a root's tasks begin with; the task's id follows.
pub fn cgroup_prefix(root: RootId) -> String {
    format!("delegate-{root}-")
}

/// The cookie of a task.
pub fn cookie(root: RootId, task: TaskId) -> String {
    format!("{root}-{task}")
}

/// Model, effort, permission and time of a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RequestedConfig {
    /// The model asked for.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub model: Option<String>,
    /// The effort asked for.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub effort: Option<String>,
    /// The lane of a family runner (runners.md 1.1).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub lane: Option<String>,
    /// Whether the lead accepts a lane that is not qualified (runners.md 1.3).
    #[serde(skip_serializing_if = "is_false", default)]
    pub allow_provisional: bool,
    /// What the turn may change.
    pub permission: Permission,
    /// Wall-clock budget of the turn, more than zero; queue time does not count.
    pub budget: Span,
    /// Time limit handed to the CLI itself, at most the budget.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub native_timeout: Option<Span>,
}

/// The bounds beside the budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RequestedLimits {
    /// Cap per stream and artifact, in bytes.
    pub max_output_bytes: ByteSize,
    /// The first byte of output must come within this time.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub first_output: Option<Span>,
    /// The turn must be launched within this time from admission.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub start_by: Option<Span>,
    /// Longest wait for a workspace lease, counted from admission.
    pub lease_wait: Span,
    /// Main memory of all processes of the turn together, in bytes (STATE.md 6).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub memory_bytes: Option<ByteSize>,
    /// Processes and threads of the turn at once, more than zero (STATE.md 6).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub pids: Option<u32>,
    /// Processors' worth of time for the turn, more than zero (STATE.md 6).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cpus: Option<u32>,
}

/// An exact predecessor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PriorSession {
    /// The predecessor's profile; equals the request's.
    pub provider: ProfileId,
    /// The CLI's id of the conversation.
    pub conversation_id: String,
    /// The predecessor; never the task itself.
    pub predecessor_task_id: TaskId,
    /// Tasks in which the conversation already went on after the predecessor, sorted; not empty only when the lead asked to
    /// go on from the earlier one all the same (STATE.md 5).
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub later_task_ids: Vec<TaskId>,
}
