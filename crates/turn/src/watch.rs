//! Waits for tasks to end, by events of their directories, and reports progress on the way.

use std::time::{Duration, Instant};

use record::TaskId;
use record::answer::{Answer, Pending, PendingKind};
use record::failure::FailureCode;
use record::words::Publication;

use crate::activity::Comparison;
use crate::changes::Changes;
use crate::context::Context;
use crate::limits::WATCH_RHYTHM;
use crate::{gather, observe};

/// When a watch over several tasks is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// When every task has ended.
    All,
    /// When one task has ended.
    Any,
}

/// Looks at the tasks until they have ended or `limit` is over; the end of the watch changes nothing for them. `None` waits
/// without end, zero looks once. `progress` is called after every look that is not the last, at least each second.
///
/// A task that can not be looked at ends the watch, with its failure in its answer. One whose evidence is damaged or pruned has
/// its answer, and the others are waited for.
pub fn watch(
    context: &Context,
    command: &str,
    ids: &[TaskId],
    until: Until,
    limit: Option<Duration>,
    progress: &mut dyn FnMut(&[Answer]),
) -> Vec<Answer> {
    let deadline = limit.and_then(|limit| Instant::now().checked_add(limit));
    let changes = Changes::new();
    for id in ids {
        changes.watch_names(&context.root.as_path().join("tasks").join(id.to_string()));
    }
    let mut answers: Vec<Answer> =
        ids.iter().map(|id| look(context, command, *id, Comparison::Nothing)).collect();
    loop {
        let left = match deadline {
            Some(deadline) => deadline.saturating_duration_since(Instant::now()),
            None => WATCH_RHYTHM,
        };
        if is_over(&answers, until) || (left.is_zero() && deadline.is_some()) {
            return answers.into_iter().map(with_pending).collect();
        }
        progress(&answers);
        changes.wait(left.min(WATCH_RHYTHM));
        for (answer, id) in answers.iter_mut().zip(ids) {
            if !is_terminal(answer) {
                *answer = look(context, command, *id, Comparison::of(answer.activity.as_ref()));
            }
        }
    }
}

fn look(context: &Context, command: &str, id: TaskId, comparison: Comparison<'_>) -> Answer {
    observe::answer_for(command, context, id, comparison, |task, answer| match answer.outcome.clone() {
        Some(outcome) => gather::gather(task, &outcome, answer),
        None => {
            // Nothing is compared each time that somebody looks whether it has ended.
            answer.raw = Some(observe::raw_files(task, |_, _| Ok(false))?);
            Ok(())
        }
    })
}

/// Whether the task has an outcome.
fn is_terminal(answer: &Answer) -> bool {
    matches!(answer.publication, Publication::Committed | Publication::Rejected)
}

/// Whether there is nothing to wait for: it has its outcome, or what it has is so damaged that it never will.
fn is_settled(answer: &Answer) -> bool {
    match answer.failure {
        Some(failure) => matches!(failure.code, FailureCode::EvidenceDamaged | FailureCode::ContentPruned),
        None => is_terminal(answer),
    }
}

fn is_over(answers: &[Answer], until: Until) -> bool {
    answers.iter().any(|answer| answer.failure.is_some() && !is_settled(answer))
        || match until {
            Until::All => answers.iter().all(is_settled),
            Until::Any => answers.iter().any(is_settled),
        }
}

fn with_pending(mut answer: Answer) -> Answer {
    if !is_terminal(&answer) && answer.failure.is_none() {
        answer.pending = Some(Pending { kind: PendingKind::Publication });
    }
    answer
}
