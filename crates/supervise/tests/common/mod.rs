//! A root, a stage beside it where the test program leaves its events, and an end for everything that was started.

#![allow(dead_code, unreachable_pub)]

mod admission;

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

pub use admission::{Variant, admit, machine};
use record::{AbsolutePath, TaskId};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::inotify::{self, CreateFlags, Reader, WatchFlags};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};
use store::{Root, Task};
use supervise::Supervisor;
use supervise::embedded::Embedded;

pub const TEST_PROGRAM: &str = env!("CARGO_BIN_EXE_supervise-test-program");
/// Nothing takes so long; a test that waits longer has failed.
const PATIENCE: Duration = Duration::from_secs(60);

/// Linger, scan period, first and longest restart, in milliseconds.
pub const FAST: &str = "100 200 5 20";
/// It stays until it is told to leave.
pub const STAYS: &str = "3600000 200 5 20";
/// It leaves as soon as nothing is open.
pub const LEAVES_AT_ONCE: &str = "0 200 5 20";

#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    Supervisor { pid: u32 },
    Start { task: TaskId, runner: u32, supervisor: u32 },
    Hold { task: TaskId },
    End { task: TaskId },
    Orphan { pid: u32 },
}

fn parse(line: &str) -> Event {
    let number = |text: &str| text.parse().expect("a number");
    match line.split(' ').collect::<Vec<_>>()[..] {
        ["supervisor", pid] => Event::Supervisor { pid: number(pid) },
        ["start", task, runner, supervisor] => Event::Start {
            task: task.parse().expect("a task"),
            runner: number(runner),
            supervisor: number(supervisor),
        },
        ["orphan", pid] => Event::Orphan { pid: number(pid) },
        ["hold", task] => Event::Hold { task: task.parse().expect("a task") },
        ["end", task] => Event::End { task: task.parse().expect("a task") },
        _ => panic!("not an event: {line}"),
    }
}

pub struct Stage {
    pub root: Root,
    holds: HashMap<TaskId, File>,
    directory: tempfile::TempDir,
}

impl Stage {
    pub fn new(timing: &str) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let place = directory.path().canonicalize().expect("a path");
        fs::create_dir(place.join("stage")).expect("a stage");
        fs::write(place.join("stage/events"), "").expect("a file");
        fs::write(place.join("stage/timing"), timing).expect("a file");
        symlink(TEST_PROGRAM, place.join("stage/delegate")).expect("a link");
        let root =
            Root::open_or_create(&AbsolutePath::new(&place.join("root")).expect("a path")).expect("a root");
        Self { root, holds: HashMap::new(), directory }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join("stage").join(name)
    }

    pub fn embedded(&self, slots: u32) -> Embedded {
        Embedded { delegate: TEST_PROGRAM.into(), slots: Some(slots) }
    }

    /// Commits a task and tells no supervisor.
    pub fn admit(&mut self, brief: &str) -> Task {
        self.admit_as(brief, Variant::default())
    }

    pub fn admit_as(&mut self, brief: &str, variant: Variant) -> Task {
        let id = store::random_task_id();
        if brief.contains("hold") {
            let fifo = self.path(&format!("hold-{id}"));
            rustix::fs::mkfifoat(rustix::fs::CWD, &fifo, 0o600.into()).expect("a FIFO");
            // Both ends, so that neither side ever waits to open it.
            let held = OpenOptions::new().read(true).write(true).open(fifo).expect("a FIFO");
            self.holds.insert(id, held);
        }
        admit(&self.root, id, brief, variant)
    }

    /// Commits a task and submits it.
    pub fn dispatch(&mut self, brief: &str, slots: u32) -> TaskId {
        let task = self.admit(brief);
        self.embedded(slots).submit(&self.root, &task).expect("submitted");
        task.id()
    }

    /// Lets a held runner go on.
    pub fn release(&self, task: TaskId) {
        (&self.holds[&task]).write_all(b".").expect("a FIFO");
    }

    pub fn events(&self) -> Vec<Event> {
        fs::read_to_string(self.path("events")).expect("the events").lines().map(parse).collect()
    }

    /// Waits until the events are as wanted.
    #[track_caller]
    pub fn wait_for<T>(&self, what: &str, wanted: impl Fn(&[Event]) -> Option<T>) -> T {
        self.wait_in(&self.path(""), what, || wanted(&self.events()))
    }

    /// Waits until something changed in the directory that makes `look` answer.
    #[track_caller]
    pub fn wait_in<T>(&self, directory: &Path, what: &str, look: impl Fn() -> Option<T>) -> T {
        let deadline = Instant::now() + PATIENCE;
        let inotify = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).expect("inotify");
        inotify::add_watch(&inotify, directory, WatchFlags::MODIFY | WatchFlags::CREATE | WatchFlags::DELETE)
            .expect("a watch");
        let mut buffer = [MaybeUninit::uninit(); 4096];
        loop {
            while Reader::new(&inotify, &mut buffer).next().is_ok() {}
            if let Some(found) = look() {
                return found;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            let left = Timespec::try_from(left).expect("a timeout");
            let ready = poll(&mut [PollFd::new(&inotify, PollFlags::IN)], Some(&left)).expect("poll");
            assert!(ready > 0, "waited in vain for {what}\n{:#?}\n{}", self.events(), self.log());
        }
    }

    #[track_caller]
    pub fn wait_for_start(&self, task: TaskId) -> (u32, u32) {
        self.wait_for("a start", |events| started(events, task).first().copied())
    }

    /// Waits until a runner holds its task, with the run lock.
    #[track_caller]
    pub fn wait_for_hold(&self, task: TaskId) {
        self.wait_for("a hold", |events| events.contains(&Event::Hold { task }).then_some(()));
    }

    #[track_caller]
    pub fn wait_for_end(&self, task: TaskId) {
        self.wait_for("an end", |events| events.contains(&Event::End { task }).then_some(()));
    }

    /// Waits until a marker is gone: its task is terminal.
    #[track_caller]
    pub fn wait_until_closed(&self, task: TaskId) {
        let open = self.root.open_directory_path();
        let marker = open.join(task.to_string());
        self.wait_in(&open, "an outcome", || (!marker.exists()).then_some(()));
    }

    /// Waits until nobody holds the supervisor's lock and all supervisors are gone.
    #[track_caller]
    pub fn wait_until_alone(&self) {
        for event in self.events() {
            if let Event::Supervisor { pid } = event {
                wait_for_exit(pid);
            }
        }
        assert!(!self.is_served());
    }

    pub fn is_served(&self) -> bool {
        self.root.supervisor_directory(&machine()).is_locked().expect("an answer")
    }

    pub fn log(&self) -> String {
        let path = self.root.supervisor_directory(&machine()).log_path();
        fs::read_to_string(path).unwrap_or_default()
    }

    /// Waits until the log holds so many times what is wanted.
    #[track_caller]
    pub fn wait_for_log(&self, wanted: &str, times: usize) {
        let directory = self.root.supervisor_directory(&machine());
        directory.make().expect("a directory to watch");
        let directory = directory.path();
        self.wait_in(&directory, wanted, || (self.log().matches(wanted).count() == times).then_some(()));
    }

    /// A command line of the test program's dispatcher.
    pub fn submitter(&self, task: TaskId) -> Command {
        let mut command = Command::new(TEST_PROGRAM);
        command.arg("submit").args([self.root.path().as_str(), &task.to_string()]);
        command
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        let events = self.events();
        let supervisors = events.iter().filter_map(|event| match event {
            Event::Supervisor { pid } => Some(*pid),
            _ => None,
        });
        supervisors.for_each(end);
        for event in self.events() {
            if let Event::Start { runner: pid, .. } | Event::Orphan { pid } = event {
                end(pid);
            }
        }
    }
}

/// Starts of a task: runner and its parent.
pub fn started(events: &[Event], task: TaskId) -> Vec<(u32, u32)> {
    events
        .iter()
        .filter_map(|event| match event {
            Event::Start { task: id, runner, supervisor } if *id == task => Some((*runner, *supervisor)),
            _ => None,
        })
        .collect()
}

/// The order in which tasks were started.
pub fn starts(events: &[Event]) -> Vec<TaskId> {
    events
        .iter()
        .filter_map(|event| match event {
            Event::Start { task, .. } => Some(*task),
            _ => None,
        })
        .collect()
}

/// Where a task's first start stands.
#[track_caller]
pub fn place_of_start(events: &[Event], wanted: TaskId) -> usize {
    events
        .iter()
        .position(|event| matches!(event, Event::Start { task, .. } if *task == wanted))
        .expect("a start")
}

pub fn supervisors(events: &[Event]) -> usize {
    events.iter().filter(|event| matches!(event, Event::Supervisor { .. })).count()
}

/// Most tasks between start and end at one time.
pub fn most_at_once(events: &[Event]) -> usize {
    let mut running = std::collections::HashSet::new();
    let mut most = 0;
    for event in events {
        match event {
            Event::Start { task, .. } => drop(running.insert(*task)),
            Event::End { task } => drop(running.remove(task)),
            Event::Supervisor { .. } | Event::Hold { .. } | Event::Orphan { .. } => {}
        }
        most = most.max(running.len());
    }
    most
}

fn process(pid: u32) -> Pid {
    Pid::from_raw(pid.try_into().expect("a process id")).expect("a process id")
}

fn is_ours(pid: u32) -> bool {
    let own = Path::new(TEST_PROGRAM).canonicalize().expect("a path");
    fs::read_link(format!("/proc/{pid}/exe")).is_ok_and(|program| program == own)
}

/// Ends a process of the test program; any other one with that number is left alone.
pub fn end(pid: u32) {
    signal(pid, Signal::KILL);
}

pub fn signal(pid: u32, signal: Signal) {
    if is_ours(pid) {
        let _ = kill_process(process(pid), signal);
    }
}

/// Waits until a process of the test program has ended.
#[track_caller]
pub fn wait_for_exit(pid: u32) {
    // While it is taken apart it can't be told any more for what it was, and still holds its locks.
    if let Ok(pidfd) = pidfd_open(process(pid), PidfdFlags::empty()) {
        wait_at(&pidfd, PollFlags::IN);
    }
}

/// A process of the test program, if it lives.
pub fn open_process(pid: u32) -> Option<OwnedFd> {
    let pidfd = pidfd_open(process(pid), PidfdFlags::empty()).ok()?;
    is_ours(pid).then_some(pidfd)
}

/// Waits until a process that ended was reaped too (Linux 6.9).
#[track_caller]
pub fn wait_until_reaped(pidfd: &OwnedFd) {
    wait_at(pidfd, PollFlags::empty());
}

#[track_caller]
fn wait_at(pidfd: &OwnedFd, flags: PollFlags) {
    let patience = Timespec::try_from(PATIENCE).expect("a timeout");
    let ended = poll(&mut [PollFd::new(pidfd, flags)], Some(&patience)).expect("poll");
    assert!(ended > 0, "a process does not end");
}
