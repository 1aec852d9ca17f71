//! Waits for tasks to end, by events of their directories, and reports progress on the way.

use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use record::TaskId;
use record::answer::{Answer, Pending, PendingKind};
use record::failure::FailureCode;
use record::words::Publication;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::inotify::{CreateFlags, WatchFlags};

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
    let directories = Directories::of(context, ids);
    let mut answers: Vec<Answer> = ids.iter().map(|id| look(context, command, *id)).collect();
    loop {
        let left = match deadline {
            Some(deadline) => deadline.saturating_duration_since(Instant::now()),
            None => WATCH_RHYTHM,
        };
        if is_over(&answers, until) || (left.is_zero() && deadline.is_some()) {
            return answers.into_iter().map(with_pending).collect();
        }
        progress(&answers);
        directories.wait(left.min(WATCH_RHYTHM));
        for (answer, id) in answers.iter_mut().zip(ids) {
            if !is_terminal(answer) {
                *answer = look(context, command, *id);
            }
        }
    }
}

fn look(context: &Context, command: &str, id: TaskId) -> Answer {
    observe::answer_for(command, context, id, |task, answer| match answer.outcome.clone() {
        Some(outcome) => gather::gather(task, &outcome, answer),
        None => {
            answer.raw = Some(observe::raw_files(task)?);
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

/// Events of the task directories. A host that gives none is looked at in the fallback rhythm.
struct Directories(Option<OwnedFd>);

impl Directories {
    fn of(context: &Context, ids: &[TaskId]) -> Self {
        let Ok(inotify) = rustix::fs::inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK) else {
            return Self(None);
        };
        for id in ids {
            let directory = context.root.as_path().join("tasks").join(id.to_string());
            // A directory that can not be watched is looked at in the fallback rhythm.
            let _ = rustix::fs::inotify::add_watch(
                &inotify,
                directory,
                WatchFlags::CREATE | WatchFlags::MOVED_TO,
            );
        }
        Self(Some(inotify))
    }

    fn wait(&self, time: Duration) {
        let Some(inotify) = &self.0 else {
            std::thread::sleep(time);
            return;
        };
        let timeout = time.try_into().ok();
        let mut descriptors = [PollFd::from_borrowed_fd(inotify.as_fd(), PollFlags::IN)];
        // An interrupted wait is a look too early, which is harmless.
        if poll(&mut descriptors, timeout.as_ref()).is_ok_and(|ready| ready > 0) {
            let mut buffer = [0; 4096];
            while rustix::io::read(inotify, &mut buffer).is_ok_and(|count| count > 0) {}
        }
    }
}
