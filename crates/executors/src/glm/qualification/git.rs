//! What git says of a workspace under evaluation, without letting the workspace's own settings start anything.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const SETTINGS: [&str; 7] = [
    "--no-optional-locks",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "core.quotePath=false",
];

/// The git of one workspace. Every answer is nothing where git can not give it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Git<'a> {
    workdir: &'a Path,
}

impl<'a> Git<'a> {
    pub(super) fn of(workdir: &'a Path) -> Self {
        Self { workdir }
    }

    /// Whether the workspace is the top of a checkout without a change, an untracked or an ignored file.
    pub(super) fn is_clean(self) -> Option<bool> {
        let top = self.ask(&["rev-parse", "--show-toplevel"])?;
        let top = Path::new(OsStr::from_bytes(top.trim_ascii_end())).canonicalize().ok()?;
        let status = self.ask(&["status", "--porcelain=v1", "--untracked-files=all", "--ignored"])?;
        (top == self.workdir).then_some(status.is_empty())
    }

    /// The commit that it is at.
    pub(super) fn head(self) -> Option<String> {
        let head = self.ask(&["rev-parse", "--verify", "HEAD^{commit}"])?;
        Some(String::from_utf8_lossy(head.trim_ascii_end()).into_owned())
    }

    /// The binary difference to that commit.
    pub(super) fn diff(self) -> Option<Vec<u8>> {
        self.ask(&["diff", "--binary", "--no-ext-diff", "--no-textconv", "--no-color", "HEAD", "--"])
    }

    /// The tracked paths that differ from that commit.
    pub(super) fn changed(self) -> Option<Vec<PathBuf>> {
        self.paths(&[
            "diff",
            "--name-only",
            "--no-ext-diff",
            "--no-textconv",
            "--no-renames",
            "-z",
            "HEAD",
            "--",
        ])
    }

    pub(super) fn tracked(self) -> Option<Vec<PathBuf>> {
        self.paths(&["ls-files", "-z"])
    }

    pub(super) fn untracked(self) -> Option<Vec<PathBuf>> {
        self.paths(&["ls-files", "-z", "--others", "--exclude-standard"])
    }

    pub(super) fn ignored(self) -> Option<Vec<PathBuf>> {
        self.paths(&["ls-files", "-z", "--others", "--ignored", "--exclude-standard"])
    }

    fn paths(self, words: &[&str]) -> Option<Vec<PathBuf>> {
        let bytes = self.ask(words)?;
        let names = bytes.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        Some(names.map(|name| PathBuf::from(OsStr::from_bytes(name))).collect())
    }

    fn ask(self, words: &[&str]) -> Option<Vec<u8>> {
        let output = Command::new("git")
            .args(SETTINGS)
            .arg("-C")
            .arg(self.workdir)
            .args(words)
            .env_clear()
            .envs([("GIT_CONFIG_NOSYSTEM", "1"), ("GIT_CONFIG_GLOBAL", "/dev/null"), ("LC_ALL", "C")])
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .stdin(Stdio::null())
            .output()
            .ok()?;
        output.status.success().then_some(output.stdout)
    }
}
