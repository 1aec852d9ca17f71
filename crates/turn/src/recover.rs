//! What to do with a task that was launched and whose runner is gone (STATE.md 3.6). Never a second launch.

use process::{Child, Tree};
use record::launch::{Launch, Running};
use record::words::{Launched as MayHaveRun, ReasonCode, StopCause};
use store::{StoreError, Task};

use crate::evidence::Ended;
use crate::launch::{self, Launched};
use crate::{stop, streams};

/// What was found.
pub(crate) enum Recovery {
    /// The provider still runs and is watched from here on.
    Adopted(Box<Launched>),
    /// The turn is over.
    Ended(Ended),
    /// The process could not be seen from here: nothing may be written.
    Elsewhere,
}

/// Whether a process of that launch could be seen from here: same machine, same process-id namespace.
pub(crate) fn is_here(launch: &Launch) -> bool {
    process::machine_id().is_ok_and(|machine| machine == launch.machine_id.to_string())
        && process::pid_namespace().is_ok_and(|namespace| namespace == launch.pid_namespace)
}

/// Looks for the process of a launch. The caller holds the run lock.
///
/// # Errors
/// The records or `/proc` could not be read; nothing is known then.
pub(crate) fn recover(task: &Task, launch: &Launch) -> Result<Recovery, StoreError> {
    let cause = if stop::requested(task).is_some() { StopCause::User } else { StopCause::None };
    if stop::declared_lost(task) {
        return Ok(Recovery::Ended(Ended::lost(
            may_have_run(task)?,
            cause,
            "the lead declared the turn lost",
        )));
    }
    if !is_here(launch) {
        return Ok(Recovery::Elsewhere);
    }
    let Some(running) = task.read::<Running>()? else {
        let mut ended =
            Ended::not_started(ReasonCode::RunnerLost, "the runner was lost before the launch".to_owned());
        ended.recovered = true;
        return Ok(Recovery::Ended(ended));
    };
    let running = running.record;
    let identity = launch::identity(&running);
    let cookie = task.id().to_string();
    let lost = |message: &str| -> Result<Recovery, StoreError> {
        let mut ended = Ended::lost(may_have_run(task)?, cause, message);
        ended.unswept = Some(Tree::new(identity, &cookie));
        Ok(Recovery::Ended(ended))
    };
    if process::boot_id().is_ok_and(|boot| boot != launch.boot_id) {
        return Ok(Recovery::Ended(Ended::lost(may_have_run(task)?, cause, "the machine was started again")));
    }
    let unseen = |source| StoreError::Io { path: "/proc".into(), source };
    if process::is_at_gate(identity).map_err(unseen)? {
        // Its runner is gone, so it can only leave; nobody can let it go on.
        return lost("the runner was lost at the launch");
    }
    match Child::adopt(identity).map_err(unseen)? {
        None => lost("the provider had ended when it was looked for"),
        Some(child) => {
            let tree = Tree::new(identity, &cookie);
            Ok(Recovery::Adopted(Box::new(Launched { child, tree, running, recovered: true })))
        }
    }
}

/// Certain only when the provider has said something.
fn may_have_run(task: &Task) -> Result<MayHaveRun, StoreError> {
    let said_something =
        ["stdout", "stderr"].iter().any(|name| streams::raw_size(task, name).is_some_and(|size| size > 0));
    Ok(if said_something { MayHaveRun::Yes } else { MayHaveRun::Unknown })
}
