//! One question to the queue: a process of the client that is ours, bounded in time and output.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Instant;

use record::AbsolutePath;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::process::{PidfdFlags, pidfd_open};

use super::error::{PueueError, at};
use super::rows::{self, Row};
use crate::environment::handed_on;
use crate::limits::{PUEUE_ANSWER_MAX_BYTES, PUEUE_QUESTION_MAX_TIME, PUEUE_REASON_MAX_BYTES};

/// A client with the configuration of one queue.
#[derive(Clone, Debug)]
pub(super) struct Client {
    pub(super) program: PathBuf,
    pub(super) config: AbsolutePath,
}

/// What a client left behind.
struct Ended {
    status: ExitStatus,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
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
        let question = words.first().map(|word| word.to_string_lossy().into_owned()).unwrap_or_default();
        let ended = self
            .run(&words)
            .map_err(at(&self.program))?
            .ok_or_else(|| PueueError::Silent { question: question.clone() })?;
        if ended.status.success() {
            return Ok(ended.stdout);
        }
        let said = reason(&ended.stderr);
        let why = if said.is_empty() { ended.status.to_string() } else { said };
        Err(PueueError::Question { question, why })
    }

    /// Runs the client; `None` when it had to be ended. It writes into memory, so nothing has to be drained meanwhile. The
    /// environment is an allow-list, for `pueue add` stores it.
    fn run(&self, words: &[OsString]) -> io::Result<Option<Ended>> {
        let mut stdout = File::from(memfd_create("answer", MemfdFlags::CLOEXEC)?);
        let mut stderr = File::from(memfd_create("reason", MemfdFlags::CLOEXEC)?);
        let directory = self.config.as_path().parent().unwrap_or(Path::new("/"));
        let mut child = Command::new(&self.program)
            .arg("-c")
            .arg(self.config.as_path())
            .args(words)
            .env_clear()
            .envs(handed_on(std::env::vars_os()))
            .current_dir(directory)
            .stdin(Stdio::null())
            .stdout(stdout.try_clone()?)
            .stderr(stderr.try_clone()?)
            .spawn()?;
        let ended = end_in_time(&child);
        if !matches!(ended, Ok(true)) {
            child.kill()?;
        }
        let status = child.wait()?;
        if !ended? {
            return Ok(None);
        }
        Ok(Some(Ended { status, stdout: written(&mut stdout)?, stderr: written(&mut stderr)? }))
    }
}

/// Waits for a child; `false` when it takes too long.
fn end_in_time(child: &Child) -> io::Result<bool> {
    let pid = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw);
    let pidfd = pidfd_open(pid.ok_or(io::ErrorKind::InvalidData)?, PidfdFlags::empty())?;
    let deadline = Instant::now() + PUEUE_QUESTION_MAX_TIME;
    loop {
        let left = Timespec::try_from(deadline.saturating_duration_since(Instant::now())).ok();
        match poll(&mut [PollFd::new(&pidfd, PollFlags::IN)], left.as_ref()) {
            Ok(ready) => return Ok(ready > 0),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

fn written(file: &mut File) -> io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(0))?;
    let mut bytes = Vec::new();
    file.take(PUEUE_ANSWER_MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > PUEUE_ANSWER_MAX_BYTES {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "its answer is too long"));
    }
    Ok(bytes)
}

/// The first words of an error report, on one line and without the colours that Pueue always adds.
fn reason(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(&stderr[..stderr.len().min(PUEUE_REASON_MAX_BYTES)]);
    let mut plain = String::new();
    let mut signs = text.chars();
    while let Some(sign) = signs.next() {
        if sign == '\u{1b}' {
            // A colour: ESC, `[`, numbers, one letter.
            let _ = signs.by_ref().find(char::is_ascii_alphabetic);
        } else {
            plain.push(if sign.is_control() { ' ' } else { sign });
        }
    }
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
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

    #[test]
    fn the_reason_of_a_failure_is_one_plain_line() {
        let (_directory, client) = client(r"printf '\033[31mError:\033[0m\n   0: no\tdaemon\n' >&2; exit 1");
        let error = client.rows().unwrap_err().to_string();
        assert_eq!(error, "pueue status: Error: 0: no daemon");
    }

    #[test]
    fn the_environment_is_an_allow_list_and_the_input_empty() {
        let (_directory, client) = client("cat; env");
        let said = String::from_utf8(client.ask(["x"]).unwrap()).unwrap();
        let names: Vec<&str> = said.lines().filter_map(|line| Some(line.split_once('=')?.0)).collect();
        assert!(names.contains(&"PATH"), "{said}");
        assert!(!names.iter().any(|name| name.starts_with("CARGO")), "{said}");
    }
}
