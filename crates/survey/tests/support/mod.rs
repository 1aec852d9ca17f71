//! Made-up workspaces, real repositories, and what the survey says of them.
#![allow(dead_code, reason = "each test file uses its part")]

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use survey::protocol::Message;
use tempfile::TempDir;

/// A repository with the branch `main`, untouched by the settings of whoever runs the test.
pub(crate) struct Repository {
    home: TempDir,
    folder: TempDir,
}

impl Repository {
    pub(crate) fn new() -> Self {
        let repository = Self { home: tempfile::tempdir().unwrap(), folder: tempfile::tempdir().unwrap() };
        repository.git(&["init", "-q", "-b", "main"]);
        repository
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn commit(&self, subject: &str) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "-q", "-m", subject]);
    }

    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        let (is_done, output) = self.try_git(arguments, "");
        assert!(is_done, "git {arguments:?}");
        output
    }

    pub(crate) fn git_fails(&self, arguments: &[&str]) {
        assert!(!self.try_git(arguments, "").0, "git {arguments:?}");
    }

    pub(crate) fn git_with_input(&self, arguments: &[&str], input: &str) -> String {
        let (is_done, output) = self.try_git(arguments, input);
        assert!(is_done, "git {arguments:?}");
        output
    }

    fn try_git(&self, arguments: &[&str], input: &str) -> (bool, String) {
        let stdin = self.home.path().join("stdin");
        fs::write(&stdin, input).unwrap();
        let output = Command::new("git")
            .args(arguments)
            .current_dir(self.path())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", self.home.path())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_AUTHOR_NAME", "A")
            .env("GIT_AUTHOR_EMAIL", "a@example.com")
            .env("GIT_AUTHOR_DATE", "2026-11-30T12:00:00Z")
            .env("GIT_COMMITTER_NAME", "A")
            .env("GIT_COMMITTER_EMAIL", "a@example.com")
            .env("GIT_COMMITTER_DATE", "2026-11-30T12:00:00Z")
            .stdin(fs::File::open(&stdin).unwrap())
            .stderr(Stdio::null())
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        (output.status.success(), text.trim_end().to_owned())
    }
}

/// Writes one file of a workspace, and its folders.
pub(crate) fn write(root: &Path, name: &str, text: &str) {
    let path = root.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Runs the worker: its exit code and its messages, one a line.
pub(crate) fn messages_of(workspace: &Path, brief: &mut dyn Read) -> (u8, Vec<Message>) {
    let mut output = Vec::new();
    let code = survey::run(workspace, brief, &mut output).unwrap();
    assert_eq!(output.last(), Some(&b'\n'));
    let messages = output.lines().map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect();
    (code, messages)
}

/// The answer: all its parts, joined.
pub(crate) fn joined(messages: &[Message]) -> String {
    messages
        .iter()
        .filter_map(|message| match message {
            Message::Answer { text } => Some(text.as_str()),
            _ => None,
        })
        .collect()
}

/// The answer on a workspace.
pub(crate) fn answer_of(workspace: &Path) -> String {
    let (code, messages) = messages_of(workspace, &mut &b"Look around\n"[..]);
    assert_eq!(code, survey::EXIT_DONE);
    joined(&messages)
}

/// Every file below a folder, `.git` included, and what it holds.
pub(crate) fn snapshot(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.symlink_metadata().unwrap().is_dir() {
                folders.push(path);
            } else {
                files.insert(path.clone(), fs::read(path).unwrap());
            }
        }
    }
    files
}
