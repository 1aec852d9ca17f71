//! What to do with a task that was launched and whose runner is gone (STATE.md 3.6). Never a second launch.

use process::{Child, ProcessIdentity, Tree};
use record::launch::{Launch, Running};
use record::submission::Submission;
use record::words::{ReasonCode, StopCause, SupervisorKind};
use store::{Loaded, StoreError, Task};

use crate::evidence::{Ended, unless_damaged};
use crate::ground::apart;
use crate::launch::{self, Launched};
use crate::{containment, stop};

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

/// What is known of a launch.
pub(crate) enum Licence {
    /// There was none.
    Missing,
    Whole(Box<Loaded<Launch>>),
    /// There was one, and what is left of it does not say where.
    Damaged,
}

/// The licence of a task, as the record of its process confirms it.
///
/// # Errors
/// It can not be read now.
pub(crate) fn licence(task: &Task) -> Result<Licence, StoreError> {
    let launch = unless_damaged(task.read_apart::<Launch>())?;
    let running = unless_damaged(task.read_apart::<Running>())?;
    Ok(match (launch, running) {
        ((None, false), (None, false)) => Licence::Missing,
        ((Some(launch), _), (Some(running), _)) if running.record.launch_sha256 != launch.sha256 => {
            Licence::Damaged
        }
        ((Some(launch), _), _) => Licence::Whole(Box::new(launch)),
        ((None, _), _) => Licence::Damaged,
    })
}

/// Where the processes of a task are to be looked for, whatever is damaged of it; `None` when it was not launched.
///
/// # Errors
/// As for [`licence`].
pub(crate) fn place(task: &Task) -> Result<Option<Place>, StoreError> {
    Ok(match licence(task)? {
        Licence::Missing => None,
        Licence::Whole(launch) => Some(where_launched(&launch.record)),
        // Its runner was one of the machine on which it was admitted, but for a cluster's.
        Licence::Damaged => {
            let submission = apart::<Submission>(task).map(|submission| submission.record);
            if submission.as_ref().is_some_and(|submission| submission.supervisor == SupervisorKind::Slurm) {
                return Ok(Some(Place::Elsewhere));
            }
            let admitted_on = submission.map(|submission| submission.machine_id);
            Some(match (admitted_on, process::machine_id()) {
                (Some(admitted_on), Ok(here)) if admitted_on.to_string() == here => Place::Here,
                (Some(_), Ok(_)) => Place::Elsewhere,
                _ => Place::Undetermined,
            })
        }
    })
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
        return Ok(Recovery::Ended(unreadable(task, cause)));
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
    let lost = |message: &str| {
        let mut ended = Ended::lost(cause, message);
        ended.unswept = Some(containment::tree(task, identity).into());
        Ok(Recovery::Ended(ended))
    };
    let lost_elsewhere = match place {
        Place::EarlierBoot => {
            Some(("the machine was started again".to_owned(), Some(everything(task).into())))
        }
        // What the other machine still runs of it, its supervisor ends.
        Place::Elsewhere => {
            Some((format!("the job on {} is over, and its runner left no end", launch.host_name), None))
        }
        _ => None,
    };
    if let Some((why, unswept)) = lost_elsewhere {
        return Ok(Recovery::Ended(Ended { unswept, ..Ended::lost(cause, &why) }));
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

/// Why a turn ends whose records no longer say which process it was.
pub(crate) const UNREADABLE: &str = "the records of the launch are damaged";

/// The end of a turn whose records no longer say which process it was: what carries its mark is ended.
pub(crate) fn unreadable(task: &Task, cause: StopCause) -> Ended {
    let ended = Ended::lost(cause, UNREADABLE);
    Ended { unswept: Some(everything(task).into()), ..ended }
}

/// Everything that carries the mark of a task. Where no record can be believed about its process, nothing is left running.
pub(crate) fn everything(task: &Task) -> Tree {
    containment::tree(task, ProcessIdentity { pid: 0, start_time: 0 })
}
