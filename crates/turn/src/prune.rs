//! Retention: the content of old tasks goes, what they are stays (STATE.md 9).

use record::answer::truncated;
use record::event::EventKind;
use record::failure::{FailureCode, Stage};
use record::json::Record;
use record::launch::{Launch, Running, Session};
use record::outcome::Outcome;
use record::request::Request;
use record::retention::{Kept, Pruned, Retention};
use record::seal::Seal;
use record::{RootId, Span, TaskId, Timestamp};
use store::{Root, Task, TaskEntry};

use crate::clock::ClockEvidence;
use crate::context::{Context, now};
use crate::error::{At, TurnError};
use crate::limits::{KEPT_REASON_MAX_BYTES, RETENTION_LIST_MAX_COUNT};
use crate::runner::journal;

/// What a lead asks for with `prune`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PruneInput {
    /// Tasks that ended at least so long ago.
    pub older_than: Span,
    /// Say what would be removed, and remove nothing.
    pub dry_run: bool,
    /// Go on although the clock can not be believed.
    pub yes: bool,
}

/// Removes the content of tasks that ended long ago. Open tasks are never touched, nor are those whose conversation goes on in
/// an open one. `progress` is called with the number of tasks that were looked at.
///
/// # Errors
/// The root can not be read, or the clock can not be believed. What stands in the way of one task keeps that one.
pub fn prune(
    context: &Context,
    input: PruneInput,
    progress: &mut dyn FnMut(u64),
) -> Result<(RootId, Retention), TurnError> {
    let root = Root::open(&context.root).at(Stage::OpenState)?;
    let mut retention = Retention { dry_run: input.dry_run, ..Retention::default() };
    let mut clock = ClockEvidence::default();
    let mut candidates = Vec::new();
    let began = now();
    let mut looked_at = 0;
    for entry in root.task_entries().at(Stage::ObserveTask)? {
        let TaskEntry::Task(id) = entry.at(Stage::ObserveTask)? else { continue };
        match age(&root, id, began, &mut clock) {
            Ok(Some(nanoseconds)) if nanoseconds >= nanoseconds_of(input.older_than) => candidates.push(id),
            Ok(_) => {}
            Err(why) => keep(&mut retention, id, why),
        }
        looked_at += 1;
        progress(looked_at);
    }
    if let Some(complaint) = clock.complaint()
        && !input.yes
    {
        return Err(TurnError::new(
            FailureCode::TaskOperationFailed,
            Stage::ValidateRequest,
            format!("{complaint}: how old a task is can not be told; correct the clock, or say --yes"),
        ));
    }
    candidates.sort_unstable();
    for id in candidates {
        match prune_one(&root, id, input.dry_run) {
            Ok(bytes) => {
                retention.pruned_count += 1;
                retention.freed_bytes = retention.freed_bytes.saturating_add(bytes);
                if retention.pruned.len() < RETENTION_LIST_MAX_COUNT {
                    retention.pruned.push(id);
                }
            }
            Err(why) => keep(&mut retention, id, why),
        }
    }
    Ok((root.id(), retention))
}

fn keep(retention: &mut Retention, task_id: TaskId, why: String) {
    retention.kept_count += 1;
    if retention.kept.len() < RETENTION_LIST_MAX_COUNT {
        retention.kept.push(Kept { task_id, why: truncated(&why, KEPT_REASON_MAX_BYTES) });
    }
}

fn nanoseconds_of(span: Span) -> i128 {
    span.duration().as_nanos() as i128
}

fn sentence(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// How long ago a task ended, in nanoseconds; `None` for one that has not ended, or has nothing left to remove. It ended when
/// it was sealed, or when the outcome's file was last touched, whichever is later.
fn age(root: &Root, id: TaskId, now: Timestamp, clock: &mut ClockEvidence) -> Result<Option<i128>, String> {
    let Some(task) = root.task(id).map_err(sentence)? else { return Ok(None) };
    if task.is_pruned_whole().map_err(sentence)? {
        return Ok(None);
    }
    let Some(changed_at) = task.outcome_changed_at().map_err(sentence)? else { return Ok(None) };
    let seal = task.read::<Seal>().map_err(sentence)?.ok_or("it has an outcome and no seal")?.record;
    // Both are missing for a turn that was not launched; a damaged one tells nothing about the clock.
    if let (Ok(Some(launch)), Ok(Some(running))) = (task.read::<Launch>(), task.read::<Running>()) {
        clock.see_turn(&launch.record, &running.record);
    }
    let ended_at = changed_at.max(seal.sealed_at);
    clock.see(ended_at);
    Ok(Some(now.nanoseconds_since(ended_at)))
}

/// Removes the content of one task, or finds out whether it would; returns the size of what goes, in bytes.
fn prune_one(root: &Root, id: TaskId, dry_run: bool) -> Result<u64, String> {
    const BUSY: &str = "somebody acts on it right now";
    let task = root.task(id).map_err(sentence)?.ok_or("it has vanished")?;
    if dry_run {
        if task.run_locked().map_err(sentence)? {
            return Err(BUSY.to_owned());
        }
        allowed(root, &task)?;
        return content_bytes(&task);
    }
    let lock = task.try_run_lock().map_err(sentence)?.ok_or(BUSY)?;
    allowed(root, &task)?;
    let bytes = content_bytes(&task)?;
    let outcome = task.read::<Outcome>().map_err(sentence)?.ok_or("it has no outcome")?;
    let record = Pruned {
        schema_version: Pruned::SCHEMA_VERSION,
        root_id: root.id(),
        task_id: id,
        request_sha256: outcome.record.request_sha256,
        plan_sha256: outcome.record.plan_sha256,
        outcome_sha256: outcome.sha256,
        pruned_at: now(),
    };
    let is_new = !task.is_pruned().map_err(sentence)?;
    task.prune(&lock, &record).map_err(sentence)?;
    if is_new {
        journal(root, &task, EventKind::Pruned, None);
    }
    Ok(bytes)
}

/// Refuses a task whose conversation goes on in an open one.
fn allowed(root: &Root, task: &Task) -> Result<(), String> {
    let Some(session) = task.read::<Session>().map_err(sentence)? else { return Ok(()) };
    let Session { provider, conversation_id, .. } = session.record;
    for claimant in root.claimants(&provider, &conversation_id).map_err(sentence)? {
        let has_ended = match root.task(claimant).map_err(sentence)? {
            // Its dispatcher was lost, or has not come to the commit; it needs nothing that goes.
            None => true,
            Some(claimant) => claimant.read::<Outcome>().map_err(sentence)?.is_some(),
        };
        if claimant != task.id() && !has_ended {
            return Err(format!("its conversation goes on in the open task {claimant}"));
        }
    }
    Ok(())
}

/// Size of the brief, the answer and the raw output, as the records name it, in bytes.
fn content_bytes(task: &Task) -> Result<u64, String> {
    let request = task.read::<Request>().map_err(sentence)?.ok_or("it has no request")?.record;
    let outcome = task.read::<Outcome>().map_err(sentence)?.ok_or("it has no outcome")?.record;
    let seal = task.read::<Seal>().map_err(sentence)?.ok_or("it has no seal")?.record;
    let raw = seal.manifest.iter().map(|entry| entry.size);
    Ok(raw.fold(request.brief_length.saturating_add(outcome.payload.length), u64::saturating_add))
}
