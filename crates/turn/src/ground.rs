//! What a task stands on since its admission: request, plan and submission, and what is left of them when one is damaged.

use record::Sha256Digest;
use record::limits::OUTPUT_DEFAULT_BYTES;
use record::plan::{Plan, Predicate};
use record::request::Request;
use record::submission::Submission;
use store::{Loaded, StoreError, Task, TaskRecord};

/// The three records, each what the others say that it is.
pub(crate) struct Ground {
    pub(crate) request: Loaded<Request>,
    pub(crate) plan: Loaded<Plan>,
    pub(crate) submission: Loaded<Submission>,
}

/// What the other two tell when one of the three is damaged: enough to end the task, not to run it.
pub(crate) struct Remains {
    /// What is damaged, in a sentence.
    pub(crate) why: String,
    /// Digest of the request with which the task was admitted.
    pub(crate) request_sha256: Sha256Digest,
    /// Digest of the plan with which it was admitted.
    pub(crate) plan_sha256: Sha256Digest,
    /// Who would have judged.
    pub(crate) predicate: Predicate,
    /// Cap of each stream, in bytes.
    pub(crate) cap: u64,
}

/// What was found.
pub(crate) enum Found {
    Whole(Box<Ground>),
    Damaged(Box<Remains>),
    /// So much is damaged that not even an outcome could say whose it is; the first complaint.
    Ruined(StoreError),
}

/// Reads the three records.
///
/// # Errors
/// They could not be read now, or a newer version wrote them.
pub(crate) fn read(task: &Task) -> Result<Found, StoreError> {
    let request = sound::<Request>(task)?;
    let plan = sound::<Plan>(task)?;
    let submission = sound::<Submission>(task)?;
    let (request, plan, error) = match (request, plan, submission) {
        (Ok(request), Ok(plan), Ok(submission)) => {
            return Ok(Found::Whole(Box::new(Ground { request, plan, submission })));
        }
        (Ok(request), Ok(plan), Err(error)) => (Some(request), Some(plan), error),
        (Err(error), _, _) | (_, Err(error), _) => (apart(task), apart(task), error),
    };
    Ok(match remains(task, request, plan, error.to_string()) {
        Some(remains) => Found::Damaged(Box::new(remains)),
        None => Found::Ruined(error),
    })
}

/// A record that every task has; the inner error is its damage.
fn sound<R: TaskRecord>(task: &Task) -> Result<Result<Loaded<R>, StoreError>, StoreError> {
    match task.read::<R>() {
        Ok(Some(loaded)) => Ok(Ok(loaded)),
        Ok(None) => {
            let path = task.path().join(R::FILE);
            Ok(Err(StoreError::Damaged { path, why: "is missing".to_owned() }))
        }
        Err(error) if error.is_damage() => Ok(Err(error)),
        Err(error) => Err(error),
    }
}

/// A record that is not compared with the others; `None` when it says nothing by itself.
pub(crate) fn apart<R: TaskRecord>(task: &Task) -> Option<Loaded<R>> {
    task.read_apart::<R>().ok().flatten()
}

fn remains(
    task: &Task,
    request: Option<Loaded<Request>>,
    plan: Option<Loaded<Plan>>,
    why: String,
) -> Option<Remains> {
    // A plan that names the request beside it speaks for both; else the submission names what was admitted.
    let (request_sha256, plan_sha256) = match (&request, &plan) {
        (Some(request), Some(plan)) if plan.record.request_sha256 == request.sha256 => {
            match apart::<Submission>(task) {
                Some(submission) if submission.record.request_sha256 == request.sha256 => {
                    (request.sha256, submission.record.plan_sha256)
                }
                _ => (request.sha256, plan.sha256),
            }
        }
        _ => {
            let submission = apart::<Submission>(task)?.record;
            (submission.request_sha256, submission.plan_sha256)
        }
    };
    let request = request.filter(|request| request.sha256 == request_sha256);
    let plan = plan.filter(|plan| plan.sha256 == plan_sha256);
    let cap = request
        .as_ref()
        .map_or(OUTPUT_DEFAULT_BYTES, |request| request.record.limits.max_output_bytes.bytes());
    let predicate = match (plan, request) {
        (Some(plan), _) => plan.record.launch.predicate,
        (None, Some(request)) => newest_judge(&request.record)?,
        (None, None) => return None,
    };
    Some(Remains { why, request_sha256, plan_sha256, predicate, cap })
}

fn newest_judge(request: &Request) -> Option<Predicate> {
    let judge = provider::catalogue().get(&request.provider)?.judges().last()?;
    Some(judge.predicate(&request.provider, request.requested_config.permission))
}
