//! Going on with the conversation of an exact predecessor (STATE.md 5).

use std::time::Instant;

use record::TaskId;
use record::failure::{FailureCode, Stage};
use record::launch::Session;
use record::outcome::Outcome;
use record::request::{PriorSession, Request};
use record::submission::Submission;
use record::words::Launched;
use record::{AbsolutePath, ProfileId, words::Permission};
use store::{ConversationLock, Root};

use crate::error::{At, TurnError};
use crate::limits::{CONVERSATION_LOCK_PATIENCE, RUN_LOCK_RHYTHM};
use crate::observe::existing_task;

/// A conversation that a new task may claim, under its lock.
pub(crate) struct Claim {
    pub(crate) prior: PriorSession,
    lock: ConversationLock,
}

impl Claim {
    /// Claims the conversation for the task, durably. Called before the task is committed: a claim without a task does not
    /// count.
    ///
    /// # Errors
    /// Those of the store.
    pub(crate) fn make(&self, task: TaskId) -> Result<(), TurnError> {
        self.lock.claim(task).at(Stage::ValidateContinuation)
    }
}

/// What a continuation must have in common with its predecessor.
pub(crate) struct Successor<'a> {
    pub(crate) task: TaskId,
    pub(crate) provider: &'a ProfileId,
    pub(crate) permission: Permission,
    pub(crate) workspace: &'a AbsolutePath,
    /// Whether to go on from a task after which the conversation has already gone on.
    pub(crate) from_earlier: bool,
}

fn unavailable(message: impl Into<String>) -> TurnError {
    TurnError::new(FailureCode::ContinuationUnavailable, Stage::ValidateContinuation, message)
}

/// Checks that `successor` may go on with the conversation of `predecessor`, and holds the conversation for it.
///
/// # Errors
/// `continuation_unavailable` when the predecessor has not ended, has no known conversation, or differs in provider, mode or
/// workspace, or when the conversation has already gone on; `session_busy` when another task goes on with it now.
pub(crate) fn claim(root: &Root, predecessor: TaskId, successor: &Successor<'_>) -> Result<Claim, TurnError> {
    if predecessor == successor.task {
        return Err(unavailable("a task can not go on with its own conversation"));
    }
    let task = existing_task(root, predecessor)?;
    let request = request_of(root, predecessor)?;
    let difference = if request.provider != *successor.provider {
        Some("another provider")
    } else if request.requested_config.permission != successor.permission {
        Some("another permission mode")
    } else if request.canonical_cwd != *successor.workspace {
        Some("another workspace")
    } else {
        None
    };
    if let Some(difference) = difference {
        return Err(unavailable(format!(
            "the task {predecessor} had {difference}; a continuation must have the same"
        )));
    }
    if task.read::<Outcome>().at(Stage::ResolvePredecessor)?.is_none() {
        return Err(unavailable(format!(
            "the task {predecessor} has not ended; wait for its end, then continue it"
        )));
    }
    let session = task.read::<Session>().at(Stage::ResolvePredecessor)?;
    let conversation = session
        .ok_or_else(|| {
            unavailable(format!("no conversation of the task {predecessor} is known; dispatch a new task"))
        })?
        .record;
    let lock = lock(root, &conversation.provider, &conversation.conversation_id)?;
    let later_task_ids = later_tasks(root, predecessor, successor.task, &lock)?;
    if !later_task_ids.is_empty() && !successor.from_earlier {
        let ids: Vec<String> = later_task_ids.iter().map(TaskId::to_string).collect();
        return Err(unavailable(format!(
            "the conversation has already gone on in {}; continue that one, or say --from-earlier",
            ids.join(", ")
        )));
    }
    let prior = PriorSession {
        provider: conversation.provider,
        conversation_id: conversation.conversation_id,
        predecessor_task_id: predecessor,
        later_task_ids,
    };
    Ok(Claim { prior, lock })
}

fn busy() -> TurnError {
    TurnError::new(
        FailureCode::SessionBusy,
        Stage::ValidateContinuation,
        "another task goes on with this conversation now; wait for its end",
    )
}

/// Puts the claim of a task that is there back into its conversation.
///
/// # Errors
/// Those of the store; `session_busy` when the conversation is locked for too long.
pub(crate) fn restore(root: &Root, task: TaskId, prior: &PriorSession) -> Result<(), TurnError> {
    lock(root, &prior.provider, &prior.conversation_id)?.claim(task).at(Stage::ValidateContinuation)
}

fn lock(root: &Root, provider: &ProfileId, conversation: &str) -> Result<ConversationLock, TurnError> {
    let deadline = Instant::now() + CONVERSATION_LOCK_PATIENCE;
    loop {
        let lock = root.try_lock_conversation(provider, conversation).at(Stage::ValidateContinuation)?;
        match lock {
            Some(lock) => return Ok(lock),
            None if Instant::now() >= deadline => return Err(busy()),
            // It is held for one admission, and the kernel offers no wait for it that ends by itself.
            None => std::thread::sleep(RUN_LOCK_RHYTHM),
        }
    }
}

/// The tasks beside `successor` in which the conversation went on after `predecessor`, sorted. All of them must have ended.
fn later_tasks(
    root: &Root,
    predecessor: TaskId,
    successor: TaskId,
    lock: &ConversationLock,
) -> Result<Vec<TaskId>, TurnError> {
    let admitted_at = |id: TaskId| -> Result<_, TurnError> {
        let submission = existing_task(root, id)?.read::<Submission>().at(Stage::ValidateContinuation)?;
        Ok(submission.map(|submission| submission.record.admitted_at))
    };
    let begun = admitted_at(predecessor)?;
    let mut later = Vec::new();
    for claimant in lock.claimants().at(Stage::ValidateContinuation)? {
        if claimant == predecessor || claimant == successor {
            continue;
        }
        let Some(task) = root.task(claimant).at(Stage::ValidateContinuation)? else { continue };
        let Some(outcome) = task.read::<Outcome>().at(Stage::ValidateContinuation)? else {
            return Err(busy());
        };
        if outcome.record.launched != Launched::No && admitted_at(claimant)? > begun {
            later.push(claimant);
        }
    }
    later.sort();
    Ok(later)
}

/// The request of a predecessor.
///
/// # Errors
/// `task_not_found`, or a damaged record.
pub(crate) fn request_of(root: &Root, predecessor: TaskId) -> Result<Request, TurnError> {
    let request = existing_task(root, predecessor)?.read::<Request>().at(Stage::ResolvePredecessor)?;
    Ok(request.ok_or_else(|| unavailable(format!("the task {predecessor} has no request")))?.record)
}

/// The brief of a predecessor.
///
/// # Errors
/// `task_not_found`, or a damaged brief.
pub(crate) fn brief_of(root: &Root, predecessor: TaskId) -> Result<Vec<u8>, TurnError> {
    let task = existing_task(root, predecessor)?;
    let brief = task.brief().at(Stage::ResolvePredecessor);
    if brief.is_err() && task.is_pruned().at(Stage::ResolvePredecessor)? {
        return Err(unavailable(format!(
            "the brief of the task {predecessor} was removed by prune; give the next one with --brief"
        )));
    }
    brief
}
