//! Waits for files to come and go, as the kernel tells it.

use std::path::Path;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::fs::inotify::{self, CreateFlags, WatchFlags};

use super::limits::WAIT_MAX_SECONDS;
use crate::failure::Failure;

/// Watched folders.
pub(super) struct Changes {
    queue: OwnedFd,
}

impl Changes {
    /// Watches a folder from now on.
    pub(super) fn of(directory: &Path) -> Result<Self, Failure> {
        let queue = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC)
            .map_err(|error| Failure::file(directory)(error.into()))?;
        let changes = Self { queue };
        changes.also(directory)?;
        Ok(changes)
    }

    /// Watches another folder too.
    pub(super) fn also(&self, directory: &Path) -> Result<(), Failure> {
        let interesting = WatchFlags::CREATE | WatchFlags::MOVED_TO | WatchFlags::DELETE | WatchFlags::MODIFY;
        inotify::add_watch(&self.queue, directory, interesting)
            .map(drop)
            .map_err(|error| Failure::file(directory)(error.into()))
    }

    /// Looks now and after each change, until `look` says yes.
    pub(super) fn until(&self, what: &str, mut look: impl FnMut() -> bool) -> Result<(), Failure> {
        let deadline = Instant::now() + Duration::from_secs(WAIT_MAX_SECONDS);
        while !look() {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(Failure::Other(format!("waited in vain for {what}")));
            }
            let limit = Timespec::try_from(left).ok();
            // An interrupted wait looks again, as does one that has nothing to read.
            let _ = poll(&mut [PollFd::new(&self.queue, PollFlags::IN)], limit.as_ref());
            let mut ignored = [0; 4096];
            while rustix::io::read(&self.queue, &mut ignored).is_ok_and(|count| count > 0) {}
        }
        Ok(())
    }
}
