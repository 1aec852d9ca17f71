//! One task of the queue, and the words for what happens to it.

use std::time::{Duration, Instant};

use record::plan::DirectoryIdentity;
use record::{TaskId, Timestamp};

/// Which directory a task needs for itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::embedded) enum Claim {
    /// Its records were not looked at yet.
    Unread,
    /// None.
    Nothing,
    /// It may write there. Two tasks with the same directory have the same lease (STATE.md 3.3) and never run at once.
    Writes(DirectoryIdentity),
}

/// Where a task stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Standing {
    /// Its runner can be started.
    Ready,
    /// Its runner is started again after that moment.
    Delayed { until: Instant, why: Delay },
    /// Its runner is our child.
    Running { pid: u32 },
    /// Somebody else acts on it; its lock is looked at again then.
    Elsewhere { look_at: Instant, pause: Duration },
}

/// Why a runner is started again later only.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Delay {
    /// It ended too early.
    Ended,
    /// It was told to come later, because something is in use.
    Busy,
}

/// Why a task is not started here.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::embedded) enum Aside {
    /// It is another machine's or another supervisor's, or can not be read.
    Foreign,
    /// Too many starts without progress.
    GaveUp,
}

/// How a runner ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::embedded) struct Ended {
    /// When.
    pub(in crate::embedded) now: Instant,
    /// The records that the task has now; `None` when they could not be read.
    pub(in crate::embedded) progress: Option<Progress>,
    /// It asked to be started later ([`crate::RUNNER_BUSY_EXIT_CODE`]).
    pub(in crate::embedded) busy: bool,
}

/// Which of the records that show progress a task has; equal values mean that nothing happened in between.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(in crate::embedded) struct Progress {
    /// `launch.json`.
    pub(in crate::embedded) launched: bool,
    /// `running.json`.
    pub(in crate::embedded) running: bool,
    /// `seal.json`.
    pub(in crate::embedded) sealed: bool,
}

/// What follows from the end of a runner.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::embedded) enum Next {
    /// It is started again after that time.
    Again(Duration),
    /// It is started no more.
    GiveUp,
}

/// One task.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) admitted_at: Timestamp,
    pub(super) standing: Standing,
    pub(super) claim: Claim,
    pub(super) progress: Progress,
    pub(super) starts_without_progress: u32,
    pub(super) next_delay: Duration,
    /// Its time to be launched is over: its next runner only ends it, and waits for nothing.
    pub(super) expired: bool,
}

/// The order of starts. A launched task holds its slot until it is terminal, whoever watches it, so its next runner waits
/// for none and comes first: a budget is only kept by a living watcher. Then the oldest (STATE.md 3.2, 9).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) needs_slot: bool,
    pub(super) admitted_at: Timestamp,
    pub(super) task: TaskId,
}

impl Standing {
    /// Somebody else acts on it from now on; its lock is looked at after the pause.
    pub(super) fn elsewhere(now: Instant, pause: Duration) -> Self {
        Self::Elsewhere { look_at: now + pause, pause }
    }
}

impl Entry {
    /// Its place among the ready ones.
    pub(super) fn place(&self, task: TaskId) -> Place {
        Place { needs_slot: !self.progress.launched && !self.expired, admitted_at: self.admitted_at, task }
    }

    /// Whether it holds a slot.
    pub(super) fn occupies(&self) -> bool {
        match self.standing {
            Standing::Running { .. } | Standing::Elsewhere { .. } => true,
            Standing::Ready | Standing::Delayed { .. } => self.progress.launched,
        }
    }
}
