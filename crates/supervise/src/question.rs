//! One question to a queue by its own program: a process that is ours, bounded in time and output.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::process::{PidfdFlags, pidfd_open};

use crate::environment::handed_on;
use crate::limits::{ANSWER_MAX_BYTES, REASON_MAX_BYTES};

/// Why there is no answer. What was asked for may have been done all the same.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum QuestionError {
    /// The program can not be run.
    #[error("{}: {source}", program.display())]
    Start {
        /// The program.
        program: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The program refused, or could not reach the queue.
    #[error("{question}: {why}")]
    Refused {
        /// Name and first word of the question.
        question: String,
        /// The program's own words, or how it ended.
        why: String,
    },
    /// The program did not answer in time and was ended.
    #[error("{question} did not answer in time")]
    Silent {
        /// Name and first word of the question.
        question: String,
    },
}

/// A program that asks a queue, and how.
#[derive(Clone, Debug)]
pub(crate) struct Questioner<'a> {
    pub(crate) program: &'a Path,
    pub(crate) directory: &'a Path,
    /// What it gets beside the variables that are handed on to everybody.
    pub(crate) variable: Option<(&'static str, &'a str)>,
    pub(crate) patience: Duration,
}

/// What a program left behind.
struct Ended {
    status: ExitStatus,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

impl Questioner<'_> {
    /// Asks one question and returns the standard output of the answer. `shown` says in a failure what was asked.
    ///
    /// # Errors
    /// The program can not be run, does not end in time, or ends with a failure.
    pub(crate) fn ask(&self, words: &[OsString], shown: &str) -> Result<Vec<u8>, QuestionError> {
        let name = self.program.file_name().unwrap_or_default().to_string_lossy();
        let question = format!("{name} {shown}").trim_end().to_owned();
        let ended = self
            .run(words)
            .map_err(|source| QuestionError::Start { program: self.program.to_path_buf(), source })?;
        let Some(ended) = ended else { return Err(QuestionError::Silent { question }) };
        if ended.status.success() {
            return Ok(ended.stdout);
        }
        let said = reason(&ended.stderr);
        let why = if said.is_empty() { ended.status.to_string() } else { said };
        Err(QuestionError::Refused { question, why })
    }

    /// Runs the program; `None` when it had to be ended. It writes into memory, so nothing has to be drained meanwhile. The
    /// environment is an allow-list, for queues store it.
    fn run(&self, words: &[OsString]) -> io::Result<Option<Ended>> {
        let mut stdout = File::from(memfd_create("answer", MemfdFlags::CLOEXEC)?);
        let mut stderr = File::from(memfd_create("reason", MemfdFlags::CLOEXEC)?);
        let mut child = Command::new(self.program)
            .args(words)
            .env_clear()
            .envs(handed_on(std::env::vars_os()))
            .envs(self.variable)
            .current_dir(self.directory)
            .stdin(Stdio::null())
            .stdout(stdout.try_clone()?)
            .stderr(stderr.try_clone()?)
            .spawn()?;
        let ended = end_in_time(&child, self.patience);
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
fn end_in_time(child: &Child, patience: Duration) -> io::Result<bool> {
    let pid = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw);
    let pidfd = pidfd_open(pid.ok_or(io::ErrorKind::InvalidData)?, PidfdFlags::empty())?;
    let deadline = Instant::now().checked_add(patience);
    loop {
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let left = left.and_then(|left| Timespec::try_from(left).ok());
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
    file.take(ANSWER_MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > ANSWER_MAX_BYTES {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "its answer is too long"));
    }
    Ok(bytes)
}

/// The first words of an error report, on one line and without the colours that Pueue always adds.
fn reason(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(&stderr[..stderr.len().min(REASON_MAX_BYTES)]);
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

    const PATIENCE: Duration = Duration::from_secs(60);

    fn ask(script: &str, patience: Duration) -> Result<String, QuestionError> {
        let directory = tempfile::tempdir().unwrap();
        let program = directory.path().join("queue");
        std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
        let variable = Some(("QUEUE_CONFIG", "/q"));
        let questioner = Questioner { program: &program, directory: directory.path(), variable, patience };
        questioner.ask(&["status".into()], "status").map(|bytes| String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn the_reason_of_a_failure_is_one_plain_line() {
        let said = ask(r"printf '\033[31mError:\033[0m\n   0: no\tdaemon\n' >&2; exit 1", PATIENCE);
        assert_eq!(said.unwrap_err().to_string(), "queue status: Error: 0: no daemon");
        assert_eq!(ask("exit 3", PATIENCE).unwrap_err().to_string(), "queue status: exit status: 3");
    }

    #[test]
    fn who_does_not_answer_is_ended() {
        let said = ask("exec sleep 1000", Duration::ZERO);
        assert!(matches!(said, Err(QuestionError::Silent { .. })), "{said:?}");
    }

    #[test]
    fn the_environment_is_an_allow_list_and_the_input_empty() {
        let said = ask("cat; env", PATIENCE).unwrap();
        let names: Vec<&str> = said.lines().filter_map(|line| Some(line.split_once('=')?.0)).collect();
        assert!(names.contains(&"PATH") && names.contains(&"QUEUE_CONFIG"), "{said}");
        assert!(!names.iter().any(|name| name.starts_with("CARGO")), "{said}");
    }
}
