//! Retention: `pruned.json`, and what `prune` answers (STATE.md 9).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::json::Record;
use crate::{RootId, Sha256Digest, TaskId, Timestamp};

/// The content of `pruned.json`: the brief, the plan, the output and the answer of the task were removed, or are being removed.
/// Every other record stays beside it, so that the id stays used and the conversation can go on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pruned {
    /// Always [`Record::SCHEMA_VERSION`].
    pub schema_version: u32,
    /// The root that holds the task.
    pub root_id: RootId,
    /// The task.
    pub task_id: TaskId,
    /// Digest of the bytes of `request.json`.
    pub request_sha256: Sha256Digest,
    /// Digest of the bytes of `plan.json`, which is removed.
    pub plan_sha256: Sha256Digest,
    /// Digest of the bytes of `outcome.json`.
    pub outcome_sha256: Sha256Digest,
    /// When the removal began.
    pub pruned_at: Timestamp,
}

impl Record for Pruned {}

/// A task that was old enough and whose content stays all the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Kept {
    /// The task.
    pub task_id: TaskId,
    /// Why, in one sentence.
    pub why: String,
}

/// What a run of `prune` did, or would do. The lists have an end; the counts do not.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Retention {
    /// Nothing was removed: this is what would be.
    pub dry_run: bool,
    /// The tasks whose content was removed.
    pub pruned: Vec<TaskId>,
    /// How many those are.
    pub pruned_count: u64,
    /// The tasks that were old enough and were kept.
    pub kept: Vec<Kept>,
    /// How many those are.
    pub kept_count: u64,
    /// Size of the removed briefs, answers and raw output as their records name it, in bytes.
    pub freed_bytes: u64,
}
