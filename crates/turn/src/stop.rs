//! Cancel: one stop request per task, obeyed by whoever holds the run lock (STATE.md 4).

use record::answer::{Answer, StopView};
use record::event::EventKind;
use record::failure::{FailureCode, Stage};
use record::json::Record;
use record::launch::{Launch, StopRequest, StopRequestCause};
use record::outcome::Outcome;
use record::{TaskId, words::Admission};
use store::{Created, Root, Task};

use crate::context::{Context, now};
use crate::error::{At, TurnError};
use crate::observe;
use crate::recover::is_here;
use crate::runner::{cancel_before_launch, journal};

/// The stop request of a task, if there is one. A request that can not be read is a request: it was made to be obeyed.
pub(crate) fn requested(task: &Task) -> Option<StopRequestCause> {
    match task.read::<StopRequest>() {
        Ok(None) => None,
        Ok(Some(request)) => Some(request.record.cause),
        Err(_) => Some(StopRequestCause::User),
    }
}

/// Whether the lead declared the turn lost.
pub(crate) fn declared_lost(task: &Task) -> bool {
    requested(task) == Some(StopRequestCause::DeclaredLost)
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
            check_lost(&task)?;
        }
        let cause = if declare_lost { StopRequestCause::DeclaredLost } else { StopRequestCause::User };
        request(&root, &task, cause)?;
        carry_out(context, &root, &task)?;
    }
    observe::fill(context, &root, &task, answer)?;
    if let Some(stops) = &answer.stops {
        answer.stop = stops.first().cloned();
    }
    Ok(())
}

fn check_lost(task: &Task) -> Result<(), TurnError> {
    let refused = |message: &str| Err(TurnError::new(FailureCode::InvalidRequest, Stage::StopTask, message));
    let Some(launch) = task.read::<Launch>().at(Stage::StopTask)? else {
        return refused("the task was not launched; cancel it without --declare-lost");
    };
    if task.run_locked().at(Stage::StopTask)? {
        return refused("somebody acts on the task right now, so it is not lost");
    }
    if is_here(&launch.record) {
        return refused(
            "the task's process can be looked for on this machine; cancel it without --declare-lost",
        );
    }
    Ok(())
}

fn request(root: &Root, task: &Task, cause: StopRequestCause) -> Result<(), TurnError> {
    let request = StopRequest {
        schema_version: StopRequest::SCHEMA_VERSION,
        root_id: root.id(),
        task_id: task.id(),
        request_id: store::random_nonce(),
        cause,
        requested_at: now(),
    };
    if let Created::New(_) = task.create(&request).at(Stage::StopTask)? {
        journal(root, task, EventKind::StopRequested, Some(cause.as_str().to_owned()));
    }
    Ok(())
}

/// Ends a task that nobody acts on; a living runner sees the request by itself.
fn carry_out(context: &Context, root: &Root, task: &Task) -> Result<(), TurnError> {
    let launched = || task.read::<Launch>().map(|launch| launch.is_some()).at(Stage::StopTask);
    let Some(lock) = task.try_run_lock().at(Stage::StopTask)? else { return Ok(()) };
    if launched()? {
        drop(lock);
        observe::start_runner(context, task);
        return Ok(());
    }
    cancel_before_launch(root, task, &lock).at(Stage::StopTask)
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
