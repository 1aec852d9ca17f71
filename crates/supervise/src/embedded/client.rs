//! The side of the commands: is there a supervisor, and if not, start one.

use std::path::PathBuf;
use std::{fs, io};

use record::Sha256Digest;
use record::answer::{SupervisorState, SupervisorView};
use record::outcome::Outcome;
use record::words::SupervisorKind;
use rustix::fs::{StatVfsMountFlags, statvfs};
use store::{Root, Task};

use super::gave_up::GaveUp;
use super::holder;
use super::look::{self, Sight};
use super::options::ServeOptions;
use crate::detached;
use crate::limits::ENSURE_LOOKS_MAX_COUNT;
use crate::{SuperviseError, Supervisor, machine, submission};

/// The built-in supervisor as its callers see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Embedded {
    /// Our own executable, absolute; it takes the hidden words [`super::SUPERVISE_WORD`] and [`crate::RUN_WORD`].
    pub delegate: PathBuf,
    /// Runners at once of a supervisor that has to be started; `None` for its default.
    pub slots: Option<u32>,
}

impl Supervisor for Embedded {
    fn kind(&self) -> SupervisorKind {
        SupervisorKind::Embedded
    }

    /// The task is committed and its marker is there, so a supervisor that lives will find it: it watches the directory,
    /// and it scans once more after it has released its lock.
    fn submit(&self, root: &Root, task: &Task) -> Result<(), SuperviseError> {
        let machine = machine()?;
        let submission = submission(task)?;
        if submission.supervisor != SupervisorKind::Embedded {
            return Err(SuperviseError::OtherSupervisor { recorded: submission.supervisor });
        }
        if submission.machine_id != machine {
            return Err(SuperviseError::OtherMachine);
        }
        let gave_up = GaveUp::of(root, &machine);
        gave_up
            .remove(task.id())
            .map_err(|source| SuperviseError::File { path: gave_up.directory().to_path_buf(), source })?;
        self.start_if_missing(root, &machine, || Ok(true))
    }

    fn view(&self, root: &Root, task: &Task) -> SupervisorView {
        SupervisorView {
            kind: SupervisorKind::Embedded,
            state: state(root, task).unwrap_or(SupervisorState::Unknown),
            matched: None,
            numeric_task_id: None,
            job: None,
            node: None,
            reason: None,
        }
    }

    fn ensure(&self, root: &Root) -> Result<(), SuperviseError> {
        let machine = machine()?;
        // The lock first: what a look at one task costs must not grow with the tasks that are open.
        self.start_if_missing(root, &machine, || {
            let gave_up = GaveUp::of(root, &machine);
            let open = root.open_tasks()?;
            // With very many open tasks that are none of ours, the supervisor itself finds out.
            Ok(open.len() > ENSURE_LOOKS_MAX_COUNT
                || open.iter().any(|task| {
                    matches!(look::at(root, *task, &machine), Ok(Sight::Ours { .. }))
                        && !gave_up.contains(*task)
                }))
        })
    }
}

/// The supervisor of this machine if it is stopped, so that it starts nothing until it is told to go on; its process id. A
/// diagnosis only: whoever stopped it may have had a reason.
pub fn stopped(root: &Root) -> Option<u32> {
    let directory = root.supervisor_directory(&machine().ok()?);
    holder::stopped(&directory).map(|process| process.pid)
}

impl Embedded {
    fn start_if_missing(
        &self,
        root: &Root,
        machine: &Sha256Digest,
        is_needed: impl FnOnce() -> Result<bool, SuperviseError>,
    ) -> Result<(), SuperviseError> {
        if holder::is_served(&root.supervisor_directory(machine))? || !is_needed()? || is_read_only(root) {
            return Ok(());
        }
        self.start(root).map_err(|source| SuperviseError::Start { program: self.delegate.clone(), source })
    }

    /// Starts the process and waits for nothing: it detaches itself, and when another one was faster it leaves.
    fn start(&self, root: &Root) -> io::Result<()> {
        detached::start(&self.delegate, ServeOptions::to_arguments(root.path(), self.slots)).map(drop)
    }
}

/// Where nothing can be written a supervisor can not hold its lock, let alone run anything.
fn is_read_only(root: &Root) -> bool {
    statvfs(root.path().as_path()).is_ok_and(|system| system.f_flag.contains(StatVfsMountFlags::RDONLY))
}

fn state(root: &Root, task: &Task) -> Result<SupervisorState, SuperviseError> {
    if task.read::<Outcome>()?.is_some() {
        return Ok(SupervisorState::Ended);
    }
    let submission = submission(task)?;
    let machine = machine()?;
    if submission.supervisor != SupervisorKind::Embedded || submission.machine_id != machine {
        return Ok(SupervisorState::Unknown);
    }
    Ok(if task.run_locked()? {
        SupervisorState::Running
    } else if GaveUp::of(root, &machine).contains(task.id()) {
        SupervisorState::GaveUp
    } else if fs::symlink_metadata(root.open_directory_path().join(task.id().to_string())).is_ok() {
        // The directory is the queue, whether or not its supervisor lives at this moment.
        SupervisorState::Queued
    } else {
        SupervisorState::Unknown
    })
}
