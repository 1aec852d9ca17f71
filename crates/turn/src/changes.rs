//! Waiting for something to change in the root.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::inotify::{CreateFlags, WatchFlags};

/// Events of directories. A host that gives none is looked at in the rhythm of its caller.
pub(crate) struct Changes(Option<OwnedFd>);

impl Changes {
    /// Nothing is watched yet.
    pub(crate) fn new() -> Self {
        Self(rustix::fs::inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).ok())
    }

    /// Waits for names that appear in a directory, too. One that can not be watched is looked at in the caller's rhythm.
    pub(crate) fn watch_names(&self, directory: &Path) {
        self.watch(directory, WatchFlags::CREATE | WatchFlags::MOVED_TO);
    }

    /// Waits for files of a directory that are written to, too.
    pub(crate) fn watch_content(&self, directory: &Path) {
        self.watch(directory, WatchFlags::CREATE | WatchFlags::MOVED_TO | WatchFlags::MODIFY);
    }

    fn watch(&self, directory: &Path, what: WatchFlags) {
        if let Some(inotify) = &self.0 {
            let _ = rustix::fs::inotify::add_watch(inotify, directory, what);
        }
    }

    /// Waits for a change, at most so long. May be over too early.
    pub(crate) fn wait(&self, time: Duration) {
        self.wait_for_change_or_loss(time, None);
    }

    /// The same, also over when nobody can read any more what is written to `output`. Returns whether somebody can.
    pub(crate) fn wait_for_reader(&self, time: Duration, output: BorrowedFd<'_>) -> bool {
        self.wait_for_change_or_loss(time, Some(output))
    }

    fn wait_for_change_or_loss(&self, time: Duration, output: Option<BorrowedFd<'_>>) -> bool {
        let mut descriptors = Vec::new();
        if let Some(inotify) = &self.0 {
            descriptors.push(PollFd::from_borrowed_fd(inotify.as_fd(), PollFlags::IN));
        }
        // An error and a hang-up are told without being asked for.
        descriptors.extend(output.map(|output| PollFd::from_borrowed_fd(output, PollFlags::empty())));
        let timeout = time.try_into().ok();
        // An interrupted wait is a look too early, which is harmless.
        let _ = poll(&mut descriptors, timeout.as_ref());
        if let Some(inotify) = &self.0 {
            let mut buffer = [0; 4096];
            while rustix::io::read(inotify, &mut buffer).is_ok_and(|count| count > 0) {}
        }
        let lost = PollFlags::ERR | PollFlags::HUP | PollFlags::NVAL;
        output.is_none() || !descriptors.last().is_some_and(|last| last.revents().intersects(lost))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    const FOREVER: Duration = Duration::from_secs(60);

    #[test]
    fn a_write_ends_the_wait() {
        let directory = tempfile::tempdir().unwrap();
        let changes = Changes::new();
        changes.watch_content(directory.path());
        std::fs::write(directory.path().join("file"), "x").unwrap();
        let began = Instant::now();
        changes.wait(FOREVER);
        assert!(began.elapsed() < FOREVER);
    }

    #[test]
    fn a_reader_that_went_away_ends_the_wait() {
        let (reader, writer) = rustix::pipe::pipe().unwrap();
        let changes = Changes::new();
        assert!(changes.wait_for_reader(Duration::ZERO, writer.as_fd()));
        drop(reader);
        assert!(!changes.wait_for_reader(FOREVER, writer.as_fd()));
    }
}
