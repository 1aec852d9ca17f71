//! The supervisor's loop: events in, runners out. One thread; every event is handled at once.

use std::io;
use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

use process::{Ending, TerminationSignals};
use record::{Sha256Digest, TaskId};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use store::{Root, StoreError};

use super::cgroups;
use super::children::ChildSignal;
use super::gave_up::GaveUp;
use super::hints::{Hint, Hints};
use super::log;
use super::look::{self, Sight};
use super::options::ServeOptions;
use super::queue::{Aside, Ended, Next, Queue};
use crate::limits::SCAN_PERIOD_WITHOUT_HINTS_SECONDS;
use crate::runner::Runner;
use crate::{RUNNER_BUSY_EXIT_CODE, SuperviseError, points};

/// The signals that the loop waits for.
#[derive(Debug)]
pub(super) struct Signals {
    /// Those that ask the supervisor to end.
    pub(super) termination: TerminationSignals,
    /// The one that says that children ended.
    pub(super) children: ChildSignal,
}

/// Why the loop ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Stop {
    /// Nothing was open for a while.
    Idle,
    /// A signal asked for it.
    Asked,
    /// The root is gone: there is nothing left to serve.
    Gone,
}

/// Whether a task that was just found may have a runner already.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Found {
    /// It was committed this moment: its dispatcher may still hold its lock, and the runner will wait for that.
    New,
    /// It was there: its lock tells.
    Before,
}

/// One supervisor at work.
#[derive(Debug)]
pub(super) struct Work<'a> {
    root: &'a Root,
    machine: Sha256Digest,
    options: &'a ServeOptions,
    slots: usize,
    usual_runner: Runner,
    gave_up: GaveUp,
    signals: Signals,
    hints: Option<Hints>,
    queue: Queue,
    next_scan: Instant,
    /// Something could not be looked at, so nothing can be said to be idle.
    is_blind: bool,
    /// The root was not in its place at the last scan.
    is_gone: bool,
}

impl<'a> Work<'a> {
    /// Prepares the work and watches the root; looks at nothing yet.
    pub(super) fn new(
        root: &'a Root,
        machine: Sha256Digest,
        options: &'a ServeOptions,
        signals: Signals,
    ) -> Self {
        let gave_up = GaveUp::of(root, &machine);
        if let Err(error) = gave_up.make_directory() {
            log::line(format_args!("{}: {error}", gave_up.directory().display()));
        }
        let tasks = root.path().as_path().join("tasks");
        let hints = Hints::watch(&tasks, &root.open_directory_path(), gave_up.directory());
        if let Err(error) = &hints {
            log::line(format_args!("changes can not be watched and are looked for instead: {error}"));
        }
        Self {
            root,
            machine,
            options,
            slots: options.slots(),
            usual_runner: Runner::beside(&options.delegate),
            gave_up,
            signals,
            hints: hints.ok(),
            queue: Queue::new(options.timing),
            next_scan: Instant::now(),
            is_blind: false,
            is_gone: false,
        }
    }

    /// Whether nothing is left that a supervisor is needed for.
    pub(super) fn is_idle(&self) -> bool {
        !self.is_blind && self.queue.is_idle()
    }

    /// Works until nothing has been open for a while and a last scan agrees, a signal asks for the end, or the root is gone.
    ///
    /// # Errors
    /// The system can not wait for events.
    pub(super) fn run(&mut self) -> Result<Stop, SuperviseError> {
        log::bound();
        log::line(format_args!("supervisor serves {} with {} slots", self.root.path(), self.slots));
        self.scan();
        self.forget_old_notes();
        if let Err(error) = self.root.clean_staging() {
            log::line(format_args!("what lost dispatchers left can not be removed: {error}"));
        }
        cgroups::remove_dead(self.root);
        fault::point(points::SCANNED).map_err(SuperviseError::Setup)?;
        let mut idle_since = None;
        loop {
            if let Some(signal) = self.signals.termination.take() {
                log::line(format_args!("supervisor leaves: signal {signal}"));
                return Ok(Stop::Asked);
            }
            self.reap().map_err(SuperviseError::Setup)?;
            self.heed_hints();
            if self.next_scan <= Instant::now() && (!self.is_idle() || self.hints.is_none()) {
                log::bound();
                self.scan();
            }
            if self.is_gone {
                log::line("supervisor leaves: its root is gone");
                return Ok(Stop::Gone);
            }
            self.heed_timers();
            self.start_runners()?;
            if !self.is_idle() {
                idle_since = None;
            } else if idle_since.get_or_insert_with(Instant::now).elapsed() >= self.options.timing.linger {
                self.scan();
                if self.is_idle() {
                    return Ok(Stop::Idle);
                }
                continue;
            }
            self.wait(idle_since).map_err(SuperviseError::Setup)?;
        }
    }

    /// Compares what is known with what is open. Starts nothing.
    pub(super) fn scan(&mut self) {
        let period = match self.hints {
            Some(_) => self.options.timing.scan_period,
            None => {
                self.options.timing.scan_period.min(Duration::from_secs(SCAN_PERIOD_WITHOUT_HINTS_SECONDS))
            }
        };
        self.next_scan = Instant::now() + period;
        self.is_gone = self.root.is_gone();
        let open = match self.root.open_tasks() {
            Ok(mut open) => {
                open.sort_unstable();
                open
            }
            Err(error) => {
                // Nothing can be said of any task now, so what is known stays, and nobody leaves.
                log::line(format_args!("open tasks can not be listed: {error}"));
                self.is_blind = true;
                return;
            }
        };
        self.is_blind = false;
        self.queue.keep_only(&open);
        for task in self.queue.given_up() {
            if !self.gave_up.contains(task) {
                self.queue.forget(task);
            }
        }
        for task in open {
            if !self.queue.knows(task) {
                self.see(task, Found::Before);
            }
        }
    }

    /// Removes notes on tasks that ended all the same.
    fn forget_old_notes(&self) {
        if let Ok(mut open) = self.root.open_tasks() {
            open.sort_unstable();
            self.gave_up.keep_only(&open);
        }
    }

    /// Looks at a task that is not known.
    fn see(&mut self, id: TaskId, found: Found) {
        match look::at(self.root, id, &self.machine) {
            Ok(Sight::Nothing) => {}
            Ok(Sight::Terminal) => self.close(id),
            Ok(Sight::Foreign(why)) => {
                log::line(format_args!("task {id} is left alone: {why}"));
                self.queue.set_aside(id, Aside::Foreign);
            }
            Ok(Sight::Ours { .. }) if self.gave_up.contains(id) => self.queue.set_aside(id, Aside::GaveUp),
            Ok(Sight::Ours { task, admitted_at, progress, expires_in }) => {
                // A lock that can not be asked for is left to the runner to try.
                if found == Found::Before && task.run_locked().unwrap_or(false) {
                    self.queue.add_elsewhere(id, admitted_at, progress, Instant::now());
                } else {
                    self.queue.add(id, admitted_at, progress);
                }
                if let Some(at) = expires_in.and_then(|time| Instant::now().checked_add(time)) {
                    self.queue.expires(id, at);
                }
            }
            Err(error) if error.is_damage() || matches!(error, StoreError::UnsupportedVersion { .. }) => {
                log::line(format_args!("task {id} is left alone: {error}"));
                self.queue.set_aside(id, Aside::Foreign);
            }
            Err(error) => {
                // It is looked at again; until then it is a reason to stay.
                log::line(format_args!("task {id} can not be read: {error}"));
                self.is_blind = true;
            }
        }
    }

    /// Removes what a terminal task no longer needs, its marker last.
    fn close(&self, id: TaskId) {
        let tidied = || -> Result<(), StoreError> {
            if let Some(task) = self.root.task(id)?
                && let Some(lock) = task.try_run_lock()?
            {
                task.remove_reserve(&lock)?;
            }
            Ok(())
        };
        if let Err(error) = tidied() {
            log::line(format_args!("what lost runners of task {id} left can not be removed: {error}"));
        }
        if let Err(error) = self.root.remove_open_marker(id) {
            log::line(format_args!("the marker of task {id} can not be removed: {error}"));
        }
    }

    /// Reaps everything that has ended: runners, and orphans that came home. Orphans are never ended here; the next runner
    /// of their task adopts them and learns from the kernel how they ended.
    fn reap(&mut self) -> io::Result<()> {
        self.signals.children.take();
        for reaped in process::reap_orphans(&[])? {
            if let Some(task) = self.queue.runner(reaped.pid) {
                self.runner_ended(task, reaped.pid, reaped.ending);
            }
        }
        Ok(())
    }

    fn runner_ended(&mut self, id: TaskId, pid: u32, ending: Ending) {
        log::line(format_args!("runner {pid} of task {id} ended: {ending:?}"));
        let busy = ending == Ending::Exited(RUNNER_BUSY_EXIT_CODE);
        let progress = match look::at(self.root, id, &self.machine) {
            Ok(Sight::Terminal) => {
                self.close(id);
                return self.queue.finished(id);
            }
            Ok(Sight::Nothing) => return self.queue.finished(id),
            Ok(Sight::Foreign(why)) => {
                log::line(format_args!("task {id} is left alone: {why}"));
                return self.queue.set_aside(id, Aside::Foreign);
            }
            Ok(Sight::Ours { task, .. }) if busy && task.run_locked().unwrap_or(false) => {
                return self.queue.still_elsewhere(id, Instant::now());
            }
            Ok(Sight::Ours { progress, .. }) => Some(progress),
            Err(error) => {
                log::line(format_args!("task {id} can not be read: {error}"));
                None
            }
        };
        self.try_again(id, Ended { now: Instant::now(), progress, busy });
    }

    fn try_again(&mut self, id: TaskId, ended: Ended) {
        match self.queue.ended(id, ended) {
            Next::Again(delay) => log::line(format_args!("task {id} is tried again in {delay:?}")),
            Next::GiveUp => {
                log::line(format_args!(
                    "task {id} is tried no more: its runner was started too often without progress"
                ));
                if let Err(error) = self.gave_up.add(id) {
                    log::line(format_args!("{}: {error}", self.gave_up.directory().display()));
                }
            }
        }
    }

    fn heed_hints(&mut self) {
        let hints = self.hints.as_ref().map(Hints::take).unwrap_or_default();
        for hint in hints {
            match hint {
                Hint::Committed(task) if !self.queue.knows(task) => self.see(task, Found::New),
                Hint::Committed(_) => {}
                Hint::Closed(task) => self.queue.forget(task),
                Hint::Resubmitted(task) => {
                    self.queue.forget(task);
                    if !self.queue.knows(task) {
                        self.see(task, Found::Before);
                    }
                }
                Hint::Lost => self.scan(),
            }
        }
    }

    fn heed_timers(&mut self) {
        for id in self.queue.due(Instant::now()) {
            match look::at(self.root, id, &self.machine) {
                Ok(Sight::Ours { task, progress, .. }) => {
                    if task.run_locked().unwrap_or(false) {
                        self.queue.still_elsewhere(id, Instant::now());
                    } else {
                        self.queue.free(id, progress);
                    }
                }
                Err(error) => {
                    log::line(format_args!("task {id} can not be read: {error}"));
                    self.queue.still_elsewhere(id, Instant::now());
                }
                Ok(_) => {
                    self.queue.forget(id);
                    self.see(id, Found::Before);
                }
            }
        }
    }

    fn start_runners(&mut self) -> Result<(), SuperviseError> {
        while let Some(id) = self.queue.next(self.slots, |task| look::claim(self.root, task)) {
            match self.start_runner(id) {
                Ok(pid) => {
                    self.queue.started(id, pid);
                    log::line(format_args!("runner {pid} of task {id} started"));
                    fault::point(points::RUNNER_STARTED).map_err(SuperviseError::Setup)?;
                }
                Err(error) => {
                    log::line(format_args!("the runner of task {id} can not be started: {error}"));
                    self.try_again(id, Ended { now: Instant::now(), progress: None, busy: false });
                }
            }
        }
        Ok(())
    }

    fn start_runner(&self, id: TaskId) -> Result<u32, SuperviseError> {
        look::runner(self.root, id, &self.usual_runner)?.start(self.root.path(), id)
    }

    /// Waits for the next event, timer, scan or the end of the idle time.
    fn wait(&self, idle_since: Option<Instant>) -> io::Result<()> {
        let scan = (idle_since.is_none() || self.hints.is_none()).then_some(self.next_scan);
        let leave = idle_since.map(|since| since + self.options.timing.linger);
        let until = [scan, leave, self.queue.next_due()].into_iter().flatten().min();
        let timeout = until
            .and_then(|moment| Timespec::try_from(moment.saturating_duration_since(Instant::now())).ok());
        let descriptors = [
            Some(self.signals.termination.fd()),
            Some(self.signals.children.fd()),
            self.hints.as_ref().map(Hints::fd),
        ];
        wait_for_any(descriptors.into_iter().flatten(), timeout.as_ref())
    }
}

fn wait_for_any<'fd>(
    descriptors: impl Iterator<Item = BorrowedFd<'fd>>,
    timeout: Option<&Timespec>,
) -> io::Result<()> {
    let mut descriptors: Vec<_> =
        descriptors.map(|descriptor| PollFd::from_borrowed_fd(descriptor, PollFlags::IN)).collect();
    match poll(&mut descriptors, timeout) {
        // After an interruption the caller looks at everything again.
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
