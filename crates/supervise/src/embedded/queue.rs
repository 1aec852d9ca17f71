//! What the supervisor knows of open tasks, and which runner comes next. Pure: no file, no process, no clock.
//!
//! A few words per task, so that ten thousand queued ones cost a few megabytes and no reading. Everything in here can be
//! found again by a scan.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::time::{Duration, Instant};

use record::plan::DirectoryIdentity;
use record::{TaskId, Timestamp};

use crate::limits::{
    RECHECK_FIRST_MILLISECONDS, SCAN_PERIOD_SECONDS, STARTS_WITHOUT_PROGRESS_MAX_COUNT, Timing,
};
pub(super) use entry::{Aside, Claim, Ended, Next, Progress};
use entry::{Delay, Entry, Place, Standing};

mod entry;

/// All open tasks that are known.
#[derive(Debug)]
pub(super) struct Queue {
    timing: Timing,
    entries: HashMap<TaskId, Entry>,
    ready: BTreeSet<Place>,
    timers: BTreeSet<(Instant, TaskId)>,
    /// When the time to be launched is over.
    expiries: BTreeSet<(Instant, TaskId)>,
    /// Tasks that hold a slot.
    occupying: HashSet<TaskId>,
    runners: HashMap<u32, TaskId>,
    aside: HashMap<TaskId, Aside>,
}

impl Queue {
    pub(super) fn new(timing: Timing) -> Self {
        Self {
            timing,
            entries: HashMap::new(),
            ready: BTreeSet::new(),
            timers: BTreeSet::new(),
            expiries: BTreeSet::new(),
            occupying: HashSet::new(),
            runners: HashMap::new(),
            aside: HashMap::new(),
        }
    }

    /// Whether the task is known, in whatever standing.
    pub(super) fn knows(&self, task: TaskId) -> bool {
        self.entries.contains_key(&task) || self.aside.contains_key(&task)
    }

    /// Whether nothing is left that a supervisor is needed for.
    pub(super) fn is_idle(&self) -> bool {
        self.entries.is_empty()
    }

    /// The tasks on which this supervisor gave up.
    pub(super) fn given_up(&self) -> Vec<TaskId> {
        self.aside.iter().filter(|(_, why)| **why == Aside::GaveUp).map(|(task, _)| *task).collect()
    }

    /// A task that waits for its runner.
    pub(super) fn add(&mut self, task: TaskId, admitted_at: Timestamp, progress: Progress) {
        self.insert(task, admitted_at, progress, Standing::Ready);
    }

    /// From that moment on a runner of the task, if it is not launched by then, only ends it (STATE.md 3.3).
    pub(super) fn expires(&mut self, task: TaskId, at: Instant) {
        self.expiries.insert((at, task));
    }

    /// A task on which somebody else acts.
    pub(super) fn add_elsewhere(
        &mut self,
        task: TaskId,
        admitted_at: Timestamp,
        progress: Progress,
        now: Instant,
    ) {
        let standing = Standing::elsewhere(now, Duration::from_millis(RECHECK_FIRST_MILLISECONDS));
        self.insert(task, admitted_at, progress, standing);
    }

    /// A task that is not started here; remembered so that it is not read again.
    pub(super) fn set_aside(&mut self, task: TaskId, why: Aside) {
        self.take_out(task);
        self.entries.remove(&task);
        self.aside.insert(task, why);
    }

    /// Forgets a task, unless its runner is our child: that one is looked at when it ends.
    pub(super) fn forget(&mut self, task: TaskId) {
        self.aside.remove(&task);
        if let Some(entry) = self.entries.get(&task)
            && !matches!(entry.standing, Standing::Running { .. })
        {
            let freed_something = self.occupying.contains(&task);
            self.take_out(task);
            self.entries.remove(&task);
            if freed_something {
                self.wake_busy();
            }
        }
    }

    /// Forgets every task whose id is not in the sorted list, but for those whose runner is our child.
    pub(super) fn keep_only(&mut self, sorted: &[TaskId]) {
        let gone: Vec<_> = self
            .entries
            .keys()
            .chain(self.aside.keys())
            .filter(|task| sorted.binary_search(task).is_err())
            .copied()
            .collect();
        for task in gone {
            self.forget(task);
        }
    }

    /// The task whose runner comes next, if one may be started now with so many slots. `read` answers what a task claims;
    /// it is asked once per task.
    pub(super) fn next(&mut self, slots: usize, mut read: impl FnMut(TaskId) -> Claim) -> Option<TaskId> {
        let first = self.ready.first()?;
        if !first.needs_slot {
            return Some(first.task);
        }
        if self.occupying.len() >= slots {
            return None;
        }
        let claimed: Vec<_> =
            self.occupying.iter().filter_map(|task| claim(&mut self.entries, *task, &mut read)).collect();
        self.ready.iter().map(|place| place.task).find(|task| {
            match claim(&mut self.entries, *task, &mut read) {
                Some(directory) => !claimed.contains(&directory),
                None => true,
            }
        })
    }

    /// Its runner was started as our child.
    pub(super) fn started(&mut self, task: TaskId, pid: u32) {
        self.stand(task, Standing::Running { pid });
    }

    /// The task whose runner was that child.
    pub(super) fn runner(&self, pid: u32) -> Option<TaskId> {
        self.runners.get(&pid).copied()
    }

    /// Its runner ended, or could not be started, and the task is not terminal. A start that wrote a record made progress;
    /// one that was told to come later is no failure.
    pub(super) fn ended(&mut self, task: TaskId, ended: Ended) -> Next {
        self.take_out(task);
        let Some(entry) = self.entries.get_mut(&task) else {
            return Next::GiveUp;
        };
        match ended.progress {
            Some(progress) if progress != entry.progress => {
                entry.progress = progress;
                entry.starts_without_progress = 0;
                entry.next_delay = self.timing.restart_first;
            }
            _ if ended.busy => {}
            _ => entry.starts_without_progress += 1,
        }
        let next = if entry.starts_without_progress >= STARTS_WITHOUT_PROGRESS_MAX_COUNT {
            self.set_aside(task, Aside::GaveUp);
            Next::GiveUp
        } else {
            let delay = entry.next_delay;
            entry.next_delay = (delay * 2).min(self.timing.restart_longest);
            let why = if ended.busy { Delay::Busy } else { Delay::Ended };
            entry.standing = Standing::Delayed { until: ended.now + delay, why };
            self.put_in(task);
            Next::Again(delay)
        };
        if !ended.busy {
            self.wake_busy();
        }
        next
    }

    /// Its runner ended and the task is terminal.
    pub(super) fn finished(&mut self, task: TaskId) {
        self.take_out(task);
        self.entries.remove(&task);
        self.wake_busy();
    }

    /// Somebody else acts on it: its lock is looked at again after a while, each time a longer one.
    pub(super) fn still_elsewhere(&mut self, task: TaskId, now: Instant) {
        let pause = match self.entries.get(&task).map(|entry| entry.standing) {
            Some(Standing::Elsewhere { pause, .. }) => {
                (pause * 2).min(Duration::from_secs(SCAN_PERIOD_SECONDS))
            }
            _ => Duration::from_millis(RECHECK_FIRST_MILLISECONDS),
        };
        self.stand(task, Standing::elsewhere(now, pause));
    }

    /// Nobody acts on it any more, and it has those records.
    pub(super) fn free(&mut self, task: TaskId, progress: Progress) {
        self.take_out(task);
        if let Some(entry) = self.entries.get_mut(&task) {
            entry.progress = progress;
            entry.standing = Standing::Ready;
        }
        self.put_in(task);
    }

    /// The tasks whose moment has come. Delayed ones are ready from now on; those on which somebody else acts are returned,
    /// for a look at their lock.
    pub(super) fn due(&mut self, now: Instant) -> Vec<TaskId> {
        while let Some((moment, task)) = self.expiries.first().copied()
            && moment <= now
        {
            self.expiries.remove(&(moment, task));
            self.expire(task);
        }
        let mut look_at = Vec::new();
        while let Some((moment, task)) = self.timers.first().copied()
            && moment <= now
        {
            self.timers.remove(&(moment, task));
            match self.entries[&task].standing {
                Standing::Elsewhere { .. } => look_at.push(task),
                _ => self.stand(task, Standing::Ready),
            }
        }
        look_at
    }

    /// When [`Queue::due`] has something to say.
    pub(super) fn next_due(&self) -> Option<Instant> {
        let timer = self.timers.first().map(|(moment, _)| *moment);
        let expiry = self.expiries.first().map(|(moment, _)| *moment);
        timer.into_iter().chain(expiry).min()
    }

    fn expire(&mut self, task: TaskId) {
        let Some(standing) = self.entries.get(&task).map(|entry| entry.standing) else {
            return;
        };
        self.take_out(task);
        if let Some(entry) = self.entries.get_mut(&task) {
            entry.expired = true;
            entry.standing = match standing {
                Standing::Ready | Standing::Delayed { .. } => Standing::Ready,
                other => other,
            };
        }
        self.put_in(task);
    }

    /// What is in use may be free now.
    fn wake_busy(&mut self) {
        let waiting: Vec<_> = self
            .timers
            .iter()
            .map(|(_, task)| *task)
            .filter(|task| matches!(self.entries[task].standing, Standing::Delayed { why: Delay::Busy, .. }))
            .collect();
        for task in waiting {
            self.stand(task, Standing::Ready);
        }
    }

    fn insert(&mut self, task: TaskId, admitted_at: Timestamp, progress: Progress, standing: Standing) {
        if self.knows(task) {
            return;
        }
        let entry = Entry {
            admitted_at,
            standing,
            claim: Claim::Unread,
            progress,
            starts_without_progress: 0,
            next_delay: self.timing.restart_first,
            expired: false,
        };
        self.entries.insert(task, entry);
        self.put_in(task);
    }

    fn stand(&mut self, task: TaskId, standing: Standing) {
        self.take_out(task);
        if let Some(entry) = self.entries.get_mut(&task) {
            entry.standing = standing;
        }
        self.put_in(task);
    }

    /// Enters a task into the indexes that its standing belongs to.
    fn put_in(&mut self, task: TaskId) {
        let Some(entry) = self.entries.get(&task) else {
            return;
        };
        match entry.standing {
            Standing::Ready => {
                self.ready.insert(entry.place(task));
            }
            Standing::Delayed { until: moment, .. } | Standing::Elsewhere { look_at: moment, .. } => {
                self.timers.insert((moment, task));
            }
            Standing::Running { pid } => {
                self.runners.insert(pid, task);
            }
        }
        if entry.occupies() {
            self.occupying.insert(task);
        }
    }

    /// Removes a task from all indexes.
    fn take_out(&mut self, task: TaskId) {
        let Some(entry) = self.entries.get(&task) else {
            return;
        };
        match entry.standing {
            Standing::Ready => {
                self.ready.remove(&entry.place(task));
            }
            Standing::Delayed { until: moment, .. } | Standing::Elsewhere { look_at: moment, .. } => {
                self.timers.remove(&(moment, task));
            }
            Standing::Running { pid } => {
                self.runners.remove(&pid);
            }
        }
        self.occupying.remove(&task);
    }
}

fn claim(
    entries: &mut HashMap<TaskId, Entry>,
    task: TaskId,
    read: &mut impl FnMut(TaskId) -> Claim,
) -> Option<DirectoryIdentity> {
    let entry = entries.get_mut(&task)?;
    if entry.claim == Claim::Unread {
        entry.claim = read(task);
    }
    match entry.claim {
        Claim::Writes(directory) => Some(directory),
        Claim::Unread | Claim::Nothing => None,
    }
}

#[cfg(test)]
mod tests;
