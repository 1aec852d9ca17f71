//! `root.json` and `submission.json`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::json::Record;
use crate::words::SupervisorKind;
use crate::{AbsolutePath, RootId, Sha256Digest, TaskId, Timestamp};

/// The content of `root.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RootRecord {
    /// Always [`Record::SCHEMA_VERSION`].
    pub schema_version: u32,
    /// The root's identity; enters every record.
    pub root_id: RootId,
    /// When it was made.
    pub created_at: Timestamp,
}

impl Record for RootRecord {}

/// The content of `submission.json`: who will own the run, and when the task was admitted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Submission {
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
    /// Who owns the runner's life.
    pub supervisor: SupervisorKind,
    /// Which service of that kind; absent for one that needs no naming (STATE.md 3.2).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub supervisor_binding: Option<SupervisorBinding>,
    /// The runner given with `--runner`; absent = the supervisor's own.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub runner_executable: Option<AbsolutePath>,
    /// The machine of admission (top of STATE.md).
    pub machine_id: Sha256Digest,
    /// Orders tasks together with the task id (STATE.md 9).
    pub admitted_at: Timestamp,
}

impl Record for Submission {}

/// The job queue outside of the root that a task was admitted for. Which kind it is, the record's `supervisor` says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum SupervisorBinding {
    /// A queue of Pueue.
    Pueue(PueueBinding),
    /// A cluster with Slurm.
    Slurm(SlurmBinding),
}

/// A queue of Pueue. Configuration and endpoint say which queue it is and
/// must be the same whenever the task is handed over or looked up; the executables and the version are evidence of what was
/// used at admission, and may be upgraded since.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PueueBinding {
    /// The program that asks the queue.
    pub client: BoundExecutable,
    /// The program that keeps the queue; only where it is ours to start.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub daemon: Option<BoundExecutable>,
    /// What the client said of its version, one line.
    pub version: String,
    /// The configuration file of the queue.
    pub config: AbsolutePath,
    /// Digest of its bytes.
    pub config_sha256: Sha256Digest,
    /// The socket of the queue, as the configuration and the caller's environment gave it.
    pub endpoint: AbsolutePath,
}

/// A cluster with Slurm, and what its jobs are asked for. Which cluster it is, the configuration says, whose content changes
/// with every node; a job is found by a name that no other cluster has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SlurmBinding {
    /// The program that submits; the others lie beside it.
    pub client: BoundExecutable,
    /// What it said of its version, one line.
    pub version: String,
    /// Slurm's configuration when one was named; absent = the one that its programs find by themselves.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub config: Option<AbsolutePath>,
    /// Options for `sbatch` from the lead's settings, each with two dashes and its value behind `=`.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub options: Vec<String>,
}

/// An executable as it was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BoundExecutable {
    /// Its path, symbolic links resolved.
    pub path: AbsolutePath,
    /// Digest of its bytes.
    pub sha256: Sha256Digest,
}
