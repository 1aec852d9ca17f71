//! Reading a task for the queue.

use std::time::{Duration, SystemTime};

use record::launch::{Launch, Running};
use record::outcome::Outcome;
use record::plan::Plan;
use record::request::Request;
use record::seal::Seal;
use record::submission::Submission;
use record::words::{Permission, SupervisorKind};
use record::{Sha256Digest, TaskId, Timestamp};
use store::{Root, StoreError, Task};

use super::queue::{Claim, Progress};
use crate::runner::Runner;

/// What a task is to this supervisor.
#[derive(Debug)]
pub(super) enum Sight {
    /// There is no such task: a marker alone means nothing (STATE.md 3.1).
    Nothing,
    /// It has an outcome.
    Terminal,
    /// It belongs to another supervisor or machine, or nobody can tell to whom.
    Foreign(String),
    /// It is ours to run.
    Ours {
        task: Task,
        admitted_at: Timestamp,
        progress: Progress,
        /// Time until a runner may only end it, while it is not launched.
        expires_in: Option<Duration>,
    },
}

/// Reads what the queue needs.
///
/// # Errors
/// Only those of the system, which may be gone at the next try.
pub(super) fn at(root: &Root, id: TaskId, machine: &Sha256Digest) -> Result<Sight, StoreError> {
    match read(root, id, machine) {
        Err(error) if !is_of_the_system(&error) => Ok(Sight::Foreign(error.to_string())),
        result => result,
    }
}

fn read(root: &Root, id: TaskId, machine: &Sha256Digest) -> Result<Sight, StoreError> {
    let Some(task) = root.task(id)? else {
        return Ok(Sight::Nothing);
    };
    if task.read::<Outcome>()?.is_some() {
        return Ok(Sight::Terminal);
    }
    let Some(submission) = submission(&task)? else {
        return Ok(Sight::Foreign("it has no submission".to_owned()));
    };
    if submission.supervisor != SupervisorKind::Embedded {
        return Ok(Sight::Foreign(format!("it belongs to {}", submission.supervisor)));
    }
    if submission.machine_id != *machine {
        return Ok(Sight::Foreign("it was admitted on another machine".to_owned()));
    }
    let progress = progress(&task)?;
    let expires_in = if progress.launched { None } else { expires_in(&task, submission.admitted_at)? };
    Ok(Sight::Ours { task, admitted_at: submission.admitted_at, progress, expires_in })
}

/// What is left of `--start-by`, and of `--lease-wait` for a task that needs a lease; both count from the admission.
fn expires_in(task: &Task, admitted_at: Timestamp) -> Result<Option<Duration>, StoreError> {
    let request = match task.read::<Request>() {
        Ok(Some(request)) => request,
        // Its runner will say so.
        Ok(None) => return Ok(None),
        Err(error) if error.is_damage() => return Ok(None),
        Err(error) => return Err(error),
    };
    let limits = request.record.limits;
    let writes = request.record.requested_config.permission == Permission::WorkspaceWrite;
    let limit = limits.start_by.into_iter().chain(writes.then_some(limits.lease_wait)).min();
    let now = Timestamp::from_system_time(SystemTime::now()).ok();
    Ok(limit.zip(now).map(|(limit, now)| {
        let waited = u64::try_from(now.nanoseconds_since(admitted_at)).unwrap_or(0);
        limit.duration().saturating_sub(Duration::from_nanos(waited))
    }))
}

/// Whose task it is. That counts also where the request or the plan is damaged: the runner says so, and the task ends.
fn submission(task: &Task) -> Result<Option<Submission>, StoreError> {
    Ok(task.read_apart::<Submission>()?.map(|loaded| loaded.record))
}

/// Which directory the task needs for itself. When that can not be read the runner will say so: it is started.
pub(super) fn claim(root: &Root, id: TaskId) -> Claim {
    let read = || -> Result<Claim, StoreError> {
        let Some(task) = root.task(id)? else {
            return Ok(Claim::Nothing);
        };
        let writes = task
            .read::<Request>()?
            .is_some_and(|request| request.record.requested_config.permission == Permission::WorkspaceWrite);
        if !writes {
            return Ok(Claim::Nothing);
        }
        Ok(task.read::<Plan>()?.map_or(Claim::Nothing, |plan| Claim::Writes(plan.record.workspace)))
    };
    read().unwrap_or(Claim::Nothing)
}

/// The runner that the task is started with.
pub(super) fn runner(root: &Root, id: TaskId, usual: &Runner) -> Result<Runner, StoreError> {
    let submission = match root.task(id)? {
        Some(task) => submission(&task)?,
        None => None,
    };
    let named = submission.and_then(|submission| submission.runner_executable);
    Ok(named.map_or_else(|| usual.clone(), |program| Runner::named(&program)))
}

/// How far it is. A record that is there counts, whatever it holds: that is the runner's to judge.
fn progress(task: &Task) -> Result<Progress, StoreError> {
    let launched = task.has::<Launch>()?;
    Ok(Progress {
        launched,
        // Both come after the launch; most tasks of a long queue have none of the three.
        running: launched && task.has::<Running>()?,
        sealed: task.has::<Seal>()?,
    })
}

fn is_of_the_system(error: &StoreError) -> bool {
    matches!(error, StoreError::Io { .. })
}
