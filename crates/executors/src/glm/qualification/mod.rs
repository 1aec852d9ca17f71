//! The evaluation of clerk, scout and builder (runners.md 2.5): a manifest of its own kind, a workspace that is known to the byte
//! before and after, and a receipt of what became of it.

mod git;
mod inventory;
mod schema;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use gates::json::Json;
use record::Sha256Digest;
use serde_json::{Value, json};

pub(super) use self::schema::compiled as compiled_schema;
use super::BUILDER;
use super::launch::permission_mode;
use super::limits::{BUDGET_EVALUATION_USD, TASKS_COUNT};
use crate::common::evaluation::Manifest;
use crate::common::exit::{Exit, Failure, Phase, Refusal};
use crate::common::git::Git;

/// Schema of the manifest.
pub(super) const SCHEMA: &str = "delegation_glm_lane_evaluation_v1";
/// The keys of the manifest beyond those of all evaluations.
pub(super) const FURTHER_KEYS: &[&str] =
    &["max_cost_usd", "permission_mode", "task_count", "workdir_commit", "workdir_mode"];
const RECEIPT_SCHEMA: &str = "delegation_glm_lane_evaluation_attempt_receipt_v2";

/// What the manifest binds beyond the keys of all evaluations.
#[derive(Clone, Debug)]
pub(super) struct Terms {
    /// In US dollars.
    pub(super) max_cost_usd: String,
    task_count: u64,
    workdir_commit: String,
    /// Whether the workspace must stay as it is.
    is_read_only: bool,
}

/// Reads them.
///
/// # Errors
/// 78.
pub(super) fn terms(manifest: &Manifest, lane: &str) -> Result<Terms, Refusal> {
    let refused = |why: &str| Refusal::gate(format!("evaluation manifest: {why}"));
    let text = |key: &str| manifest.members.get(key).and_then(Json::as_str);
    let number = |key: &str| match manifest.members.get(key) {
        Some(Json::Number(number)) => Some(number.clone()),
        _ => None,
    };
    let cost = number("max_cost_usd");
    let cost = cost.filter(|cost| cost.as_f64().is_some_and(|usd| BUDGET_EVALUATION_USD.contains(&usd)));
    let tasks =
        number("task_count").and_then(|count| count.as_u64()).filter(|count| TASKS_COUNT.contains(count));
    let is_id =
        |id: &&str| id.len() == 40 && id.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let is_read_only = lane != BUILDER;
    let workdir_mode = if is_read_only { "read-only" } else { "writable-fixture" };
    if text("permission_mode") != Some(permission_mode(lane)) {
        return Err(refused("permission_mode is not that of the lane"));
    }
    if text("workdir_mode") != Some(workdir_mode) {
        return Err(refused("workdir_mode is not that of the lane"));
    }
    if manifest.source_commit != manifest.head {
        return Err(refused("runner_source_commit is not what the checkout of the runner is at"));
    }
    Ok(Terms {
        max_cost_usd: cost.ok_or_else(|| refused("max_cost_usd is no amount in 0.01..25"))?.to_string(),
        task_count: tasks.ok_or_else(|| refused("task_count is no whole number in 1..100"))?,
        workdir_commit: text("workdir_commit")
            .filter(is_id)
            .ok_or_else(|| refused("workdir_commit is no commit id"))?
            .to_owned(),
        is_read_only,
    })
}

impl Terms {
    /// Demands a checkout of its own at the commit, without any change and without any ignored file, of which git can be asked
    /// without starting anything.
    ///
    /// # Errors
    /// 78.
    pub(super) fn demand_workdir(&self, workdir: &Path) -> Result<(), Refusal> {
        let refused = |why: &str| Refusal::gate(format!("the workspace of the evaluation {why}"));
        git::demand_plain(workdir).map_err(refused)?;
        let unusable = || refused("is no usable git checkout");
        let git = Git::of(workdir).ok_or_else(unusable)?;
        if git.has_gitlinks().ok_or_else(unusable)? {
            return Err(refused("has submodules"));
        }
        if git::passes_over_files(&git).ok_or_else(unusable)? {
            return Err(refused("has files that git is told not to look at"));
        }
        if !git::is_clean(&git).ok_or_else(unusable)? {
            return Err(refused("has changes or ignored files"));
        }
        if git.head().as_deref() != Some(self.workdir_commit.as_str()) {
            return Err(refused("is not at workdir_commit"));
        }
        Ok(())
    }
}

/// A workspace under evaluation, as it was before the turn.
#[derive(Clone, Debug)]
pub(super) struct Qualification {
    terms: Terms,
    workdir: PathBuf,
    tree: Sha256Digest,
    control: Sha256Digest,
}

/// A workspace after the turn.
#[derive(Debug)]
pub(super) struct Attested<'a> {
    before: &'a Qualification,
    tree: Sha256Digest,
    control: Sha256Digest,
}

const fn failed(reason: &'static str) -> Failure {
    Failure::new(Exit::Failed, Phase::Dispatch, reason)
}

fn snapshot(workdir: &Path) -> Result<(Sha256Digest, Sha256Digest), Failure> {
    // First the git directory: git itself is asked about a tree only where that one is known.
    let control = inventory::of_git_directory(workdir).ok_or(failed("git_control_snapshot_failed"))?;
    let tree = inventory::of_tree(workdir).ok_or(failed("workdir_snapshot_failed"))?;
    Ok((tree, control))
}

impl Qualification {
    /// Takes the workspace down.
    ///
    /// # Errors
    /// 70: it can not be read.
    pub(super) fn begin(terms: Terms, workdir: &Path) -> Result<Self, Failure> {
        let (tree, control) = snapshot(workdir)?;
        Ok(Self { terms, workdir: workdir.to_path_buf(), tree, control })
    }

    /// Takes it down again and compares.
    ///
    /// # Errors
    /// 70: the git directory changed, or a workspace that was to stay as it is; or it can not be read.
    pub(super) fn attest(&self) -> Result<Attested<'_>, Failure> {
        let control =
            inventory::of_git_directory(&self.workdir).ok_or(failed("git_control_snapshot_failed"))?;
        if control != self.control {
            return Err(failed("git_control_modified"));
        }
        // Else git would be asked about what it does not see, or waits for.
        if !matches!(inventory::oddity(&self.workdir), Ok(None)) {
            return Err(failed("workdir_snapshot_failed"));
        }
        let tree = inventory::of_tree(&self.workdir).ok_or(failed("workdir_snapshot_failed"))?;
        if self.terms.is_read_only && tree != self.tree {
            return Err(failed("workdir_modified"));
        }
        Ok(Attested { before: self, tree, control })
    }
}

impl Attested<'_> {
    /// The member `evaluation_receipt` of the metrics.
    ///
    /// # Errors
    /// 70: git can not say what changed.
    pub(super) fn receipt(&self, manifest: &Manifest, output: &[u8]) -> Result<Value, Failure> {
        let Qualification { terms, workdir, tree, control } = self.before;
        let git = Git::of(workdir).ok_or(failed("workdir_diff_failed"))?;
        let diff = git::diff(&git).ok_or(failed("workdir_diff_failed"))?;
        let changes = || {
            let (untracked, ignored) = (git::untracked(&git)?, git::ignored(&git)?);
            let mut changed = git::changed(&git)?;
            changed.extend(untracked);
            changed.extend(ignored.iter().cloned());
            changed.sort();
            changed.dedup();
            Some((changed, ignored))
        };
        let (changed, ignored) = changes().ok_or(failed("evaluation_receipt_failed"))?;
        let shown = |path: &PathBuf| path.to_string_lossy().into_owned();
        let mode = |path: &PathBuf| {
            let metadata = fs::symlink_metadata(workdir.join(path)).ok();
            let mode = metadata.map(|metadata| format!("{:04o}", metadata.permissions().mode() & 0o7777));
            json!({"path": shown(path), "mode": mode})
        };
        Ok(json!({
            "schema_version": RECEIPT_SCHEMA,
            "evaluation_manifest_sha256": manifest.sha256.to_string(),
            "prompt_sha256": manifest.prompt_sha256.to_string(),
            "runner_sha256": manifest.runner_sha256.to_string(),
            "runner_source_commit": manifest.head,
            "workdir_commit": terms.workdir_commit,
            "task_count": terms.task_count,
            "provider_attempts": 1,
            "post_observation_retries": 0,
            "raw_output_sha256": Sha256Digest::of(output).to_string(),
            "workdir_diff_sha256": Sha256Digest::of(&diff).to_string(),
            "workdir_before_sha256": tree.to_string(),
            "workdir_after_sha256": self.tree.to_string(),
            "git_control_before_sha256": control.to_string(),
            "git_control_after_sha256": self.control.to_string(),
            "changed_paths": changed.iter().map(shown).collect::<Vec<_>>(),
            "ignored_paths": ignored.iter().map(shown).collect::<Vec<_>>(),
            "changed_path_modes": changed.iter().map(mode).collect::<Vec<_>>(),
        }))
    }
}
