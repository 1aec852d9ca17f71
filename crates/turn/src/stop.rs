//! Cancel: one stop request per task, obeyed by whoever holds the run lock (STATE.md 4).

use std::time::Instant;

use record::answer::{Answer, StopView, SupervisorState};
use record::event::EventKind;
use record::failure::{FailureCode, Stage};
use record::json::Record;
use record::launch::{Launch, StopRequest, StopRequestCause};
use record::outcome::Outcome;
use record::{TaskId, words::Admission};
use store::{Created, Root, StoreError, Task};

use crate::activity::Comparison;
use crate::context::{Context, now};
use crate::error::{At, TurnError};
use crate::limits::{CANCEL_PATIENCE, RUN_LOCK_RHYTHM};
use crate::observe;
use crate::recover::{Place, place};
use crate::rescue;
use crate::runner::{cancel_before_launch, end_as_lost, journal};

/// Whether somebody asked for the end of a task. A request that is damaged is a request: it was made to be obeyed.
///
/// # Errors
/// It can not be told now; whoever asks looks again.
pub(crate) fn is_requested(task: &Task) -> Result<bool, StoreError> {
    match task.read::<StopRequest>() {
        Ok(request) => Ok(request.is_some()),
        Err(error) if error.is_damage() => Ok(true),
        Err(error) => Err(error),
    }
}

/// Requests the end of a task. A second request finds the first and reports it; a task that has ended is reported as it is.
///
/// With `declare_lost` the lead says that the process of a launched task is gone although it can not be seen from here; that
/// is refused while somebody acts on the task, and where the process can be seen.
pub fn cancel(context: &Context, id: TaskId, declare_lost: bool) -> Answer {
    let mut answer = Answer::new("cancel");
    answer.task_id = Some(id);
    match attempt(context, id, declare_lost, &mut answer) {
        Ok(()) => answer,
        Err(error) => error.into_answer(answer),
    }
}

fn attempt(context: &Context, id: TaskId, declare_lost: bool, answer: &mut Answer) -> Result<(), TurnError> {
    let root = Root::open(&context.root).at(Stage::OpenState)?;
    answer.root_id = Some(root.id());
    let task = observe::existing_task(&root, id)?;
    answer.admission = Admission::Admitted;
    if task.read::<Outcome>().at(Stage::StopTask)?.is_none() {
        if declare_lost {
            declare_the_turn_lost(context, &root, &task)?;
        } else {
            request(&root, &task)?;
            carry_out(context, &root, &task)?;
        }
    }
    observe::fill(context, &root, &task, Comparison::Nothing, answer)?;
    if let Some(stops) = &answer.stops {
        answer.stop = stops.first().cloned();
    }
    Ok(())
}

/// Ends a task whose process nobody can look for any more, on the lead's word (STATE.md 3.6).
fn declare_the_turn_lost(context: &Context, root: &Root, task: &Task) -> Result<(), TurnError> {
    let refused = |message: &str| Err(TurnError::new(FailureCode::InvalidRequest, Stage::StopTask, message));
    match place(task).at(Stage::StopTask)? {
        Some(Place::Elsewhere | Place::Undetermined) => {}
        None => return refused("the task was not launched; cancel it without --declare-lost"),
        Some(_) => {
            return refused(
                "the task's process can be looked for on this machine; cancel it without --declare-lost",
            );
        }
    }
    let is_running = || {
        observe::owner(context, task)
            .is_ok_and(|owner| owner.view(root, task).state == SupervisorState::Running)
    };
    let is_held = || task.run_locked().at(Stage::StopTask);
    let deadline = Instant::now() + CANCEL_PATIENCE;
    loop {
        // A runner that only finds out that it can do nothing holds the lock for a moment, and looks like the job.
        let (was_held, runs) = (is_held()?, is_running());
        if runs && !was_held && !is_held()? {
            return refused(
                "the task's job still runs, says its supervisor; cancel it without --declare-lost",
            );
        }
        if !runs
            && !was_held
            && let Some(lock) = task.try_run_lock().at(Stage::StopTask)?
        {
            return end_as_lost(root, task, &lock).at(Stage::StopTask);
        }
        if Instant::now() >= deadline {
            return refused("somebody acts on the task right now, so it is not lost");
        }
        std::thread::sleep(RUN_LOCK_RHYTHM);
    }
}

fn request(root: &Root, task: &Task) -> Result<(), TurnError> {
    let request = StopRequest {
        schema_version: StopRequest::SCHEMA_VERSION,
        root_id: root.id(),
        task_id: task.id(),
        request_id: store::random_nonce(),
        cause: StopRequestCause::User,
        requested_at: now(),
    };
    if let Created::New(_) = task.create(&request).at(Stage::StopTask)? {
        journal(root, task, EventKind::StopRequested, None);
    }
    Ok(())
}

/// Ends a task that nobody acts on; a living runner sees the request by itself.
fn carry_out(context: &Context, root: &Root, task: &Task) -> Result<(), TurnError> {
    let is_launched = || task.has::<Launch>().at(Stage::StopTask);
    let deadline = Instant::now() + CANCEL_PATIENCE;
    loop {
        if is_launched()? {
            // The request is durable; whoever looks next tries again.
            let _ = rescue::look_after(context, root, task);
            if observe::is_elsewhere(task) {
                // The runner there sees the request as soon as its machine does.
                let _ = observe::owner(context, task).and_then(|supervisor| supervisor.interrupt(root, task));
            }
            return Ok(());
        }
        if let Some(lock) = task.try_run_lock().at(Stage::StopTask)? {
            if is_launched()? {
                continue;
            }
            cancel_before_launch(root, task, &lock).at(Stage::StopTask)?;
            drop(lock);
            // Its row may stay: whatever is started for it finds the outcome.
            let _ = observe::owner(context, task).and_then(|supervisor| supervisor.withdraw(root, task));
            return Ok(());
        }
        if Instant::now() >= deadline {
            // Whoever holds the lock for so long is a runner, and obeys.
            return Ok(());
        }
        // Somebody holds the lock for a moment, and the kernel offers no wait for it that ends by itself.
        std::thread::sleep(RUN_LOCK_RHYTHM);
    }
}

/// How a stop request looks in an answer.
pub(crate) fn view(task: &Task, terminated: bool) -> Result<Option<StopView>, TurnError> {
    Ok(task.read::<StopRequest>().at(Stage::ObserveTask)?.map(|request| StopView {
        request_id: request.record.request_id,
        cause: request.record.cause,
        requested: true,
        terminated,
    }))
}
