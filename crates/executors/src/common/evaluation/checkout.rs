//! The git checkout that a runner under evaluation is started from.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A checkout without any change.
pub(super) struct Checkout {
    root: PathBuf,
    /// The commit that it is at.
    pub(super) head: String,
}

impl Checkout {
    /// Demands a checkout at `root` without a tracked, staged or untracked change.
    pub(super) fn clean(root: &Path) -> Result<Self, String> {
        let mut checkout = Self { root: root.to_path_buf(), head: String::new() };
        let top = checkout.git(&["rev-parse", "--show-toplevel"])?;
        if Path::new(&top).canonicalize().ok().as_deref() != Some(root) {
            return Err("the runner does not lie in a checkout of its own".to_owned());
        }
        if !checkout.git(&["status", "--porcelain=v1", "--untracked-files=all"])?.is_empty() {
            return Err("the checkout of the runner has changes".to_owned());
        }
        checkout.head = checkout.git(&["rev-parse", "--verify", "HEAD^{commit}"])?;
        Ok(checkout)
    }

    /// Demands that a commit is the head or one of its ancestors.
    pub(super) fn demand_ancestor(&self, commit: &str) -> Result<(), String> {
        let is_id =
            commit.len() == 40 && commit.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        if !is_id {
            return Err("runner_source_commit is no commit id".to_owned());
        }
        self.git(&["merge-base", "--is-ancestor", commit, "HEAD"])
            .map(|_| ())
            .map_err(|_| "runner_source_commit is no ancestor of the checkout".to_owned())
    }

    fn git<S: AsRef<OsStr>>(&self, words: &[S]) -> Result<String, String> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let output = Command::new("git")
            .args([
                "--no-optional-locks",
                "-c",
                "core.fsmonitor=false",
                "-c",
                "core.hooksPath=/dev/null",
                "-C",
            ])
            .arg(&self.root)
            .args(words)
            .env_clear()
            .envs([("GIT_CONFIG_NOSYSTEM", "1"), ("GIT_CONFIG_GLOBAL", "/dev/null"), ("LC_ALL", "C")])
            .env("PATH", path)
            .stdin(Stdio::null())
            .output()
            .map_err(|error| format!("git can not be asked: {error}"))?;
        if !output.status.success() {
            return Err("the root of the runner is no usable git checkout".to_owned());
        }
        Ok(String::from_utf8_lossy(&output.stdout).trim_end_matches('\n').to_owned())
    }
}
