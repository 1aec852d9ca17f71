//! The command line of a runner (STATE.md 3.3).

use std::ffi::{CString, OsString};
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use nix::spawn::{PosixSpawnAttr, PosixSpawnFileActions, PosixSpawnFlags, posix_spawn};
use nix::sys::signal::SigSet;
use record::{AbsolutePath, TaskId};

use crate::environment::handed_on;
use crate::{RUN_WORD, SuperviseError};

/// Name of the runner's own executable.
const RUNNER_NAME: &str = "delegate-run";
const STANDARD_INPUT: i32 = 0;
const STANDARD_OUTPUT: i32 = 1;

/// The program of a runner and what stands before its own arguments.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Runner {
    program: PathBuf,
    word: Option<&'static str>,
}

impl Runner {
    /// The runner of a task that names none: `delegate-run` beside our own executable, else that one itself (CLI.md).
    pub(crate) fn beside(delegate: &Path) -> Self {
        let beside = delegate.with_file_name(RUNNER_NAME);
        if beside.is_file() {
            Self { program: beside, word: None }
        } else {
            Self { program: delegate.to_path_buf(), word: Some(RUN_WORD) }
        }
    }

    /// The runner that a task names.
    pub(crate) fn named(program: &AbsolutePath) -> Self {
        Self { program: program.to_path_buf(), word: None }
    }

    /// Starts it as a child of this detached process and answers its process id. It gets the working directory `/`, no
    /// input, an output that goes nowhere, the log as standard error, default dispositions and no blocked signal. Whoever
    /// reaps all children learns how it ended.
    ///
    /// # Errors
    /// The program can not be executed.
    pub(crate) fn start(&self, root: &AbsolutePath, task: TaskId) -> Result<u32, SuperviseError> {
        self.spawn(root, task)
            .map_err(|source| SuperviseError::Start { program: self.program.clone(), source })
    }

    /// By `posix_spawn`, since the standard library would hand on the signals that are blocked here.
    fn spawn(&self, root: &AbsolutePath, task: TaskId) -> io::Result<u32> {
        let mut attributes = PosixSpawnAttr::init()?;
        attributes
            .set_flags(PosixSpawnFlags::POSIX_SPAWN_SETSIGMASK | PosixSpawnFlags::POSIX_SPAWN_SETSIGDEF)?;
        attributes.set_sigmask(&SigSet::empty())?;
        attributes.set_sigdefault(&SigSet::all())?;
        let mut descriptors = PosixSpawnFileActions::init()?;
        // A detached process has `/dev/null`, open in both directions, as its input.
        descriptors.add_dup2(STANDARD_INPUT, STANDARD_OUTPUT)?;
        let pid = posix_spawn(
            self.program.as_path(),
            &descriptors,
            &attributes,
            &self.words(root, task).into_iter().map(c_string).collect::<io::Result<Vec<_>>>()?,
            &environment()?,
        )?;
        u32::try_from(pid.as_raw()).map_err(io::Error::other)
    }

    /// Its command line, the program first and the task's id last.
    pub(crate) fn words(&self, root: &AbsolutePath, task: TaskId) -> Vec<OsString> {
        let program = self.program.clone().into_os_string();
        let word = self.word.map(OsString::from);
        let rest = ["--root".into(), root.as_str().into(), task.to_string().into()];
        [program].into_iter().chain(word).chain(rest).collect()
    }
}

fn environment() -> io::Result<Vec<CString>> {
    handed_on(std::env::vars_os())
        .map(|(mut entry, value)| {
            entry.push("=");
            entry.push(value);
            c_string(entry)
        })
        .collect()
}

fn c_string(text: OsString) -> io::Result<CString> {
    Ok(CString::new(text.into_vec())?)
}
