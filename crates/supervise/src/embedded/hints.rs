//! What changed in the root, as the kernel tells it. A hint only: a scan finds everything that a hint missed (STATE.md 3.2).

use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use record::TaskId;
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::io::Errno;

/// Room for the events of one read, in bytes.
const BUFFER_BYTES: usize = 16 << 10;

/// One change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Hint {
    /// A task was committed.
    Committed(TaskId),
    /// The marker of a task was removed: it is terminal, or never came to be.
    Closed(TaskId),
    /// A task on which the supervisor gave up was submitted again.
    Resubmitted(TaskId),
    /// The kernel lost count.
    Lost,
}

/// The watched directories.
#[derive(Debug)]
pub(super) struct Hints {
    inotify: OwnedFd,
    tasks: i32,
    open: i32,
    gave_up: i32,
}

impl Hints {
    /// Watches the directories of committed tasks (they come by a rename), of markers and of notes on tasks given up.
    pub(super) fn watch(tasks: &Path, open: &Path, gave_up: &Path) -> Result<Self, Errno> {
        let inotify = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
        let only_directory = WatchFlags::ONLYDIR;
        let tasks = inotify::add_watch(&inotify, tasks, WatchFlags::MOVED_TO | only_directory)?;
        let open = inotify::add_watch(&inotify, open, WatchFlags::DELETE | only_directory)?;
        let gave_up = inotify::add_watch(&inotify, gave_up, WatchFlags::DELETE | only_directory)?;
        Ok(Self { inotify, tasks, open, gave_up })
    }

    /// Readable when there is a hint.
    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.inotify.as_fd()
    }

    /// Takes all hints that are there.
    pub(super) fn take(&self) -> Vec<Hint> {
        let mut hints = Vec::new();
        let mut buffer = [MaybeUninit::uninit(); BUFFER_BYTES];
        let mut reader = Reader::new(&self.inotify, &mut buffer);
        loop {
            match reader.next() {
                Ok(event) => hints.extend(self.hint(&event)),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return hints,
                Err(_) => {
                    hints.push(Hint::Lost);
                    return hints;
                }
            }
        }
    }

    fn hint(&self, event: &inotify::Event<'_>) -> Option<Hint> {
        if event.events().contains(ReadFlags::QUEUE_OVERFLOW) {
            return Some(Hint::Lost);
        }
        let task = event.file_name()?.to_str().ok()?.parse().ok()?;
        match event.wd() {
            watch if watch == self.tasks => Some(Hint::Committed(task)),
            watch if watch == self.open => Some(Hint::Closed(task)),
            watch if watch == self.gave_up => Some(Hint::Resubmitted(task)),
            _ => None,
        }
    }
}
