//! Observers see to it that an open task is taken to its end: they start the supervisor when it is missing, and a runner for a
//! task whose runner was lost (STATE.md 3.2, 3.6).

use std::collections::HashMap;
use std::process::Child;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use record::TaskId;
use record::outcome::Outcome;
use record::submission::Submission;
use store::{Root, Task};
use supervise::SuperviseError;

use crate::context::Context;
use crate::ground::{Found, apart};
use crate::limits::{RESCUE_RHYTHM, RESCUES_MAX_COUNT};
use crate::recover::{Place, place};
use crate::{damaged, ground, observe};

/// The runners that this process has started.
#[derive(Default)]
struct Rescues {
    running: Vec<Child>,
    last: HashMap<TaskId, Instant>,
}

static RESCUES: Mutex<Option<Rescues>> = Mutex::new(None);

/// Does what an observer of the task owes it. An observer that can not is still an observer.
///
/// # Errors
/// The supervisor of the task could not be started.
pub(crate) fn look_after(context: &Context, root: &Root, task: &Task) -> Result<(), SuperviseError> {
    if matches!(task.read::<Outcome>(), Ok(Some(_))) {
        return Ok(());
    }
    let owner = observe::owner(context, task);
    // Asked when there is no runner here that could know more.
    let job_is_over = || observe::job_is_over(context, root, task);
    let needed = matches!(task.run_locked(), Ok(false)) && needs_a_runner(task, job_is_over);
    // Asked last: whoever sealed the turn in between has let go of the lock.
    if needed && matches!(task.run_locked(), Ok(false)) {
        start_runner(context, root, task);
    }
    match owner {
        Ok(supervisor) => supervisor.ensure(root),
        // Who owns it is in a record that is found damaged by whoever reads it.
        Err(_) => Ok(()),
    }
}

/// Whether a task that nobody acts on has lost its runner here, or belongs to nobody who would start one.
fn needs_a_runner(task: &Task, job_is_over: impl FnOnce() -> bool) -> bool {
    match (place(task), ground::read(task)) {
        // All that a runner could do for it.
        (Ok(Some(Place::Here)), Ok(Found::Ruined(_))) => damaged::something_runs(task),
        // Also where nobody starts runners again after a restart of the machine, as a queue does not.
        (Ok(Some(Place::Here | Place::EarlierBoot)), _) => true,
        // A runner here can do something only when the turn is over there.
        (Ok(Some(Place::Elsewhere)), Ok(Found::Whole(_) | Found::Damaged(_))) => job_is_over(),
        // Nobody can tell any more whose supervisor has it in its queue.
        (Ok(None), Ok(Found::Damaged(_))) => apart::<Submission>(task).is_none(),
        _ => false,
    }
}

/// Starts a runner of its own session for the task, unless this process has just done so or has too many already. It is
/// harmless when another one is faster.
fn start_runner(context: &Context, root: &Root, task: &Task) {
    let mut guard: MutexGuard<'_, Option<Rescues>> = RESCUES.lock().unwrap_or_else(PoisonError::into_inner);
    let rescues = guard.get_or_insert_default();
    rescues.running.retain_mut(|child| matches!(child.try_wait(), Ok(None)));
    let is_recent = rescues.last.get(&task.id()).is_some_and(|last| last.elapsed() < RESCUE_RHYTHM);
    if is_recent || rescues.running.len() >= RESCUES_MAX_COUNT {
        return;
    }
    if let Ok(child) = supervise::start_runner(context.program.as_path(), root, task) {
        rescues.running.push(child);
        rescues.last.insert(task.id(), Instant::now());
    }
}
