//! What to do with a task that was launched and whose runner is gone (STATE.md 3.6). Never a second launch.

use process::Child;
use record::launch::{Launch, Running};
use record::words::{Launched as MayHaveRun, ReasonCode, StopCause};
use store::{StoreError, Task};

use crate::evidence::{Ended, unless_damaged};
use crate::launch::{self, Launched};
use crate::{containment, stop, streams};

/// What was found.
pub(crate) enum Recovery {
    /// The provider still runs and is watched from here on.
    Adopted(Box<Launched>),
    /// The turn is over.
    Ended(Ended),
    /// The process could not be seen from here: nothing may be written.
    Elsewhere,
}

/// Where a launch was made, seen from this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// On this machine, in this boot and in this process-id namespace: its process can be looked for.
    Here,
    /// On this machine, before it was started again: its process is gone.
    EarlierBoot,
    /// On another machine or in another process-id namespace: its process can not be seen.
    Elsewhere,
    /// That could not be determined now.
    Undetermined,
}

/// Where that launch was made.
pub(crate) fn where_launched(launch: &Launch) -> Place {
    let facts = (process::machine_id(), process::boot_id(), process::pid_namespace());
    let (Ok(machine), Ok(boot), Ok(namespace)) = facts else { return Place::Undetermined };
    if machine != launch.machine_id.to_string() {
        Place::Elsewhere
    } else if boot != launch.boot_id {
        Place::EarlierBoot
    } else if namespace != launch.pid_namespace {
        Place::Elsewhere
    } else {
        Place::Here
    }
}

/// Looks for the process of a launch. The caller holds the run lock. `job_is_over` asks the supervisor of a turn whose process
/// can not be seen from here.
///
/// # Errors
/// The records or `/proc` could not be read; nothing is known then.
pub(crate) fn recover(
    task: &Task,
    launch: &Launch,
    job_is_over: impl FnOnce() -> bool,
) -> Result<Recovery, StoreError> {
    let is_cancelled = stop::is_requested(task)?;
    let cause = if is_cancelled { StopCause::User } else { StopCause::None };
    let place = where_launched(launch);
    if place == Place::Undetermined || (place == Place::Elsewhere && !job_is_over()) {
        return Ok(Recovery::Elsewhere);
    }
    let (running, is_damaged) = unless_damaged(task.read::<Running>())?;
    if is_damaged {
        return Ok(Recovery::Ended(unreadable(task, cause)?));
    }
    let Some(running) = running else {
        // A licence without this record proves that no provider ran (STATE.md 3.4).
        let ended = if is_cancelled {
            Ended::cancelled()
        } else {
            Ended::not_started(ReasonCode::RunnerLost, "the runner was lost before the launch".to_owned())
        };
        return Ok(Recovery::Ended(Ended { recovered: true, ..ended }));
    };
    let running = running.record;
    let identity = launch::identity(&running);
    let lost = |message: &str| -> Result<Recovery, StoreError> {
        let mut ended = Ended::lost(may_have_run(task)?, cause, message);
        ended.unswept = Some(containment::tree(task, identity).into());
        Ok(Recovery::Ended(ended))
    };
    let why = match place {
        Place::EarlierBoot => Some("the machine was started again".to_owned()),
        Place::Elsewhere => {
            Some(format!("the job on {} is over, and its runner left no end", launch.host_name))
        }
        _ => None,
    };
    if let Some(why) = why {
        return Ok(Recovery::Ended(Ended::lost(may_have_run(task)?, cause, &why)));
    }
    let unseen = |source| StoreError::Io { path: "/proc".into(), source };
    if process::is_at_gate(identity).map_err(unseen)? {
        // Its runner is gone, so it can only leave; nobody can let it go on.
        return lost("the runner was lost at the launch");
    }
    match Child::adopt(identity).map_err(unseen)? {
        None => lost("the provider had ended when it was looked for"),
        Some(child) => {
            let tree = containment::tree(task, identity);
            Ok(Recovery::Adopted(Box::new(Launched { child, tree, running, recovered: true })))
        }
    }
}

/// The end of a turn whose records no longer say which process it was: what carries its mark is ended.
pub(crate) fn unreadable(task: &Task, cause: StopCause) -> Result<Ended, StoreError> {
    let nobody = process::ProcessIdentity { pid: 0, start_time: 0 };
    let mut ended = Ended::lost(may_have_run(task)?, cause, "the records of the launch are damaged");
    ended.unswept = Some(containment::tree(task, nobody).into());
    Ok(ended)
}

/// Certain only when the provider has said something.
pub(crate) fn may_have_run(task: &Task) -> Result<MayHaveRun, StoreError> {
    let said_something =
        ["stdout", "stderr"].iter().any(|name| streams::raw_size(task, name).is_some_and(|size| size > 0));
    Ok(if said_something { MayHaveRun::Yes } else { MayHaveRun::Unknown })
}
