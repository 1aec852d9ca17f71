//! The end of a task of which the request, the plan or the submission is damaged: nothing is launched for it any more, what
//! runs for it is ended, and its outcome says what is damaged. Under the run lock, as every end.

use process::Tree;
use record::json::Record;
use record::launch::Running;
use record::outcome::{Outcome, Reason};
use record::seal::Seal;
use record::words::{ReasonCode, StopCause, Verdict};
use store::{Loaded, Root, RunLock, StoreError, Task};

use crate::context::Context;
use crate::evidence::{self, Ended, Sealing};
use crate::ground::{Remains, apart};
use crate::publish::{commit, cut_to_the_seal, refusal};
use crate::recover::{Place, everything, place};
use crate::{containment, launch, observe, points, stop};

/// Brings the task to its outcome.
///
/// # Errors
/// A sentence: its processes can not be seen from here or can not be ended, or the storage refuses. Trying again is harmless.
pub(crate) fn end(
    context: &Context,
    root: &Root,
    task: &Task,
    lock: &RunLock,
    remains: &Remains,
) -> Result<(), String> {
    let sentence = |error: StoreError| error.to_string();
    let seal = match task.read_apart::<Seal>().map_err(sentence)? {
        Some(seal) => seal,
        None => {
            let ended = ended(task, &remains.why, || observe::job_is_over(context, root, task))?;
            evidence::bring_to_seal(&sealing(root, task, lock, remains), ended)?
        }
    };
    publish(root, task, lock, remains, &seal).map_err(sentence)
}

/// Seals and publishes an end that needs no runner.
///
/// # Errors
/// Those of the store.
pub(crate) fn conclude(
    root: &Root,
    task: &Task,
    lock: &RunLock,
    remains: &Remains,
    ended: &Ended,
) -> Result<(), StoreError> {
    let seal = match task.read_apart::<Seal>()? {
        Some(seal) => seal,
        None => evidence::seal(&sealing(root, task, lock, remains), ended)?,
    };
    publish(root, task, lock, remains, &seal)
}

/// Ends what runs of a task that can not be given an outcome. The caller holds the run lock.
///
/// # Errors
/// Something still runs, or it can not be seen from here.
pub(crate) fn end_processes(task: &Task) -> Result<(), String> {
    ended(task, "", || false).and_then(|mut ended| ended.sweep())
}

/// Whether a process of a task that was launched on this machine is left.
pub(crate) fn something_runs(task: &Task) -> bool {
    matches!(place(task), Ok(Some(Place::Here))) && tree(task).usage().is_ok_and(|usage| usage.processes > 0)
}

/// Everything of the task, from its process on where a record names one.
fn tree(task: &Task) -> Tree {
    match apart::<Running>(task) {
        Some(running) => containment::tree(task, launch::identity(&running.record)),
        None => everything(task),
    }
}

/// `job_is_over` asks the supervisor of a turn whose processes can not be seen from here.
fn ended(task: &Task, why: &str, job_is_over: impl FnOnce() -> bool) -> Result<Ended, String> {
    let cause = match stop::is_requested(task) {
        Ok(true) => StopCause::User,
        _ => StopCause::None,
    };
    match place(task).map_err(|error| error.to_string())? {
        None => Ok(Ended { stop: cause, ..Ended::not_started(ReasonCode::EvidenceDamaged, why.to_owned()) }),
        Some(Place::Here) => Ok(Ended { unswept: Some(tree(task).into()), ..Ended::lost(cause, why) }),
        // A number of an earlier boot may be another process by now.
        Some(Place::EarlierBoot) => {
            Ok(Ended { unswept: Some(everything(task).into()), ..Ended::lost(cause, why) })
        }
        // What the other machine still runs of it, its supervisor ends.
        Some(Place::Elsewhere) if job_is_over() => Ok(Ended::lost(cause, why)),
        Some(Place::Elsewhere | Place::Undetermined) => {
            Err(format!("{why}; whether the task {} still runs can not be seen from here", task.id()))
        }
    }
}

fn sealing<'a>(root: &'a Root, task: &'a Task, lock: &'a RunLock, remains: &Remains) -> Sealing<'a> {
    Sealing {
        root,
        task,
        lock,
        request_sha256: remains.request_sha256,
        plan_sha256: remains.plan_sha256,
        cap: remains.cap,
        plan: None,
    }
}

fn publish(
    root: &Root,
    task: &Task,
    lock: &RunLock,
    remains: &Remains,
    seal: &Loaded<Seal>,
) -> Result<(), StoreError> {
    cut_to_the_seal(task, lock, &seal.record)?;
    commit(root, task, lock, || {
        let reason =
            Reason { code: ReasonCode::EvidenceDamaged, message: Some(remains.why.clone()), retry_at: None };
        let payload = task.write_refusal(lock, refusal(&reason).as_bytes())?;
        points::reached(points::PAYLOAD);
        Ok(Outcome {
            schema_version: Outcome::SCHEMA_VERSION,
            root_id: root.id(),
            task_id: task.id(),
            request_sha256: remains.request_sha256,
            plan_sha256: remains.plan_sha256,
            verdict: Verdict::Rejected,
            reason,
            launched: seal.record.launched,
            stop: seal.record.stop,
            evidence_sha256: seal.sha256,
            predicate: remains.predicate.clone(),
            payload,
            artifacts: Vec::new(),
            session: None,
            usage: Vec::new(),
            recovered: seal.record.recovered,
            containment: seal.record.containment,
            fence: seal.record.fence,
            leaked_processes: seal.record.leaked_processes,
            git_control_changed: seal.record.git_control_changed,
            notes: Vec::new(),
        })
    })
    .map(drop)
}
