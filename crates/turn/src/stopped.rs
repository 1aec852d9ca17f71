//! Runners and supervisors that a signal or a debugger stopped: they hold their locks, so that nobody takes their place, and do
//! nothing. That is said, and nothing is done about it: whoever stopped them may have had a reason, and a process that is told
//! to go on does.

use process::{Condition, ProcessIdentity};
use record::words::Liveness;
use store::{Root, Task};
use supervise::embedded;

/// What an observer of a task that is not over must know: who stands still, and how it goes on.
pub(crate) fn warning(root: &Root, task: &Task, liveness: Liveness) -> Option<String> {
    if let Some(runner) = runner(task) {
        return Some(format!(
            "the runner of the task, process {pid}, is stopped: nobody watches the turn, its limits and its cancel wait; let it \
             go on with: kill -CONT {pid}",
            pid = runner.pid
        ));
    }
    let supervisor = embedded::stopped(root).filter(|_| liveness == Liveness::Queued)?;
    Some(format!(
        "the supervisor, process {supervisor}, is stopped: nobody starts queued tasks; let it go on with: kill -CONT {supervisor}"
    ))
}

/// The runner that holds the task and is stopped. One on another machine is not seen.
pub(crate) fn runner(task: &Task) -> Option<ProcessIdentity> {
    let holder: ProcessIdentity = task.holder()?.parse().ok()?;
    let is_stopped =
        matches!(task.run_locked(), Ok(true)) && matches!(process::condition(holder), Ok(Condition::Stopped));
    is_stopped.then_some(holder)
}
