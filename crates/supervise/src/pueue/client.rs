//! One question to the queue: a process of the client that is ours, bounded in time and output.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use record::AbsolutePath;

use super::error::PueueError;
use super::rows::{self, Row};
use crate::limits::PUEUE_QUESTION_MAX_TIME;
use crate::question::Questioner;

/// A client with the configuration of one queue.
#[derive(Clone, Debug)]
pub(super) struct Client {
    pub(super) program: PathBuf,
    pub(super) config: AbsolutePath,
}

impl Client {
    /// What the client says of its version, one line.
    ///
    /// # Errors
    /// It says nothing, or not that it is Pueue 4, whose command line is the one used here.
    pub(super) fn version(&self) -> Result<String, PueueError> {
        let said = String::from_utf8_lossy(&self.ask(["--version"])?).trim().to_owned();
        let number = said.strip_prefix("pueue ").unwrap_or_default();
        if number.starts_with("4.") && number.chars().all(|sign| sign.is_ascii_graphic()) {
            Ok(said)
        } else {
            let said = said.chars().filter(|sign| !sign.is_control()).take(80).collect();
            Err(PueueError::Version { program: self.program.clone(), said })
        }
    }

    /// All rows of the queue.
    ///
    /// # Errors
    /// The daemon could not be asked, or its answer is not one.
    pub(super) fn rows(&self) -> Result<Vec<Row>, PueueError> {
        rows::read(&self.ask(["status", "--json"])?)
    }

    /// Queues a command. `exec` leaves no shell between the daemon and the command: a signal to the job reaches it, and its
    /// exit code is the job's.
    ///
    /// # Errors
    /// As for every question; it may be queued all the same.
    pub(super) fn add(&self, label: &str, command: &[OsString]) -> Result<(), PueueError> {
        // With the `/` as its working directory a job keeps no file system busy.
        let words = ["add", "--escape", "--label", label, "--print-task-id", "--working-directory", "/"];
        let words = words.into_iter().chain(["--", "exec"]).map(OsStr::new);
        self.ask(words.chain(command.iter().map(OsString::as_os_str))).map(drop)
    }

    /// Asks one question and returns the standard output of the answer.
    ///
    /// # Errors
    /// The client can not be run, does not end in time, or ends with a failure.
    pub(super) fn ask<S: AsRef<OsStr>>(
        &self,
        words: impl IntoIterator<Item = S>,
    ) -> Result<Vec<u8>, PueueError> {
        let words: Vec<OsString> = words.into_iter().map(|word| word.as_ref().to_owned()).collect();
        let shown = words.first().map(|word| word.to_string_lossy().into_owned()).unwrap_or_default();
        let config = ["-c".into(), self.config.as_path().into()];
        let words: Vec<OsString> = config.into_iter().chain(words).collect();
        let questioner = Questioner {
            program: &self.program,
            directory: self.config.as_path().parent().unwrap_or(Path::new("/")),
            variable: None,
            patience: PUEUE_QUESTION_MAX_TIME,
        };
        Ok(questioner.ask(&words, &shown)?)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn client(script: &str) -> (tempfile::TempDir, Client) {
        let directory = tempfile::tempdir().unwrap();
        let program = directory.path().join("pueue");
        std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
        let config = AbsolutePath::new(&directory.path().join("pueue.yml")).unwrap();
        (directory, Client { program, config })
    }

    #[test]
    fn only_version_four_is_taken() {
        assert_eq!(client("echo pueue 4.0.4").1.version().unwrap(), "pueue 4.0.4");
        for other in ["pueue 3.4.1", "pueue 40.1", "", "pueue 4.0 beta"] {
            let (_directory, client) = client(&format!("echo '{other}'"));
            assert!(matches!(client.version(), Err(PueueError::Version { .. })), "{other}");
        }
    }
}
