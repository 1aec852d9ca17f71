//! The git checkout that a runner under evaluation is started from.

use std::path::Path;

use crate::common::git::Git;

/// A checkout without any change.
pub(super) struct Checkout {
    git: Git,
    /// The commit that it is at.
    pub(super) head: String,
}

impl Checkout {
    /// Demands a checkout at `root` without a tracked, staged or untracked change, and without another checkout in it.
    pub(super) fn clean(root: &Path) -> Result<Self, String> {
        let unusable = || "the root of the runner is no usable git checkout".to_owned();
        let git = Git::of(root).ok_or_else(|| "git is not on PATH".to_owned())?;
        if !git.is_top().ok_or_else(unusable)? {
            return Err("the runner does not lie in a checkout of its own".to_owned());
        }
        if git.has_gitlinks().ok_or_else(unusable)? {
            return Err("the checkout of the runner has submodules".to_owned());
        }
        let status = ["status", "--porcelain=v1", "--untracked-files=all", "--ignore-submodules=all"];
        if !git.ask(&status).ok_or_else(unusable)?.is_empty() {
            return Err("the checkout of the runner has changes".to_owned());
        }
        let head = git.head().ok_or_else(unusable)?;
        Ok(Self { git, head })
    }

    /// Demands that a commit is the head or one of its ancestors.
    pub(super) fn demand_ancestor(&self, commit: &str) -> Result<(), String> {
        let is_id =
            commit.len() == 40 && commit.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        if !is_id {
            return Err("runner_source_commit is no commit id".to_owned());
        }
        let is_ancestor = self.git.ask(&["merge-base", "--is-ancestor", commit, "HEAD"]);
        is_ancestor
            .map(|_| ())
            .ok_or_else(|| "runner_source_commit is no ancestor of the checkout".to_owned())
    }
}
