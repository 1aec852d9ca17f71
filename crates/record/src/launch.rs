//! The records of a run: `launch.json`, `running.json`, `session.json`, `stop.json`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::id::Nonce;
use crate::json::Record;
use crate::vocabulary::vocabulary;
use crate::words::{Containment, Fence};
use crate::{AbsolutePath, ProfileId, RootId, Sha256Digest, TaskId, Timestamp};

/// The content of `launch.json`: the only licence to execute the provider (STATE.md 3.4).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Launch {
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
    /// Tells this licence from any other writer's.
    pub nonce: Nonce,
    /// The machine on which the process will be.
    pub machine_id: Sha256Digest,
    /// The boot of that machine.
    pub boot_id: String,
    /// The process-id namespace in which the process can be seen.
    pub pid_namespace: String,
    /// The name of that machine, for people and for observers elsewhere.
    pub host_name: String,
    /// The containment that will be entered.
    pub containment: Containment,
    /// Directory of the cgroup that was made for the turn, with the containment `cgroup` only (STATE.md 6).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cgroup: Option<AbsolutePath>,
    /// Digest of what git obeys in the workspace, for a turn that may change it; absent = it could not be determined
    /// (STATE.md 7).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub git_control_sha256: Option<Sha256Digest>,
    /// When the licence was made.
    pub created_at: Timestamp,
}

impl Record for Launch {}

/// The content of `running.json`: the process that waits at the gate or runs the provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Running {
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
    /// Digest of the bytes of `launch.json`.
    pub launch_sha256: Sha256Digest,
    /// Process id.
    pub pid: u32,
    /// Start time of the process in clock ticks since boot; with the process id it names one process.
    pub start_time: u64,
    /// End of the budget on the boot-time clock, in nanoseconds.
    pub deadline_boot_nanos: u64,
    /// When the budget began on the boot-time clock, in nanoseconds.
    pub started_boot_nanos: u64,
    /// The containment as proved.
    pub containment: Containment,
    /// The fence as proved.
    pub fence: Fence,
    /// When the record was made.
    pub started_at: Timestamp,
}

impl Record for Running {}

/// The content of `session.json`: the provider's conversation, as first seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Session {
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
    /// The profile.
    pub provider: ProfileId,
    /// The CLI's id of the conversation.
    pub conversation_id: String,
    /// When it was seen.
    pub observed_at: Timestamp,
}

impl Record for Session {}

/// The content of `stop.json`: the one request to end the task (STATE.md 4).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StopRequest {
    /// Always [`Record::SCHEMA_VERSION`].
    pub schema_version: u32,
    /// The root that holds the task.
    pub root_id: RootId,
    /// The task.
    pub task_id: TaskId,
    /// Names the request.
    pub request_id: Nonce,
    /// Why.
    pub cause: StopRequestCause,
    /// When it was made.
    pub requested_at: Timestamp,
}

impl Record for StopRequest {}

vocabulary! {
    /// Why a stop was requested from outside.
    StopRequestCause {
        /// `delegate cancel`.
        User = "user",
    }
}
