//! Waiting for what other processes do to files: by events of their directories.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::fs::inotify::{self, CreateFlags, WatchFlags};

use crate::limits::{LINGER_MAX_SECONDS, TEST_WAIT_MAX_SECONDS};

/// How often is looked where a host or a sandbox gives no events.
const RHYTHM_WITHOUT_EVENTS: Duration = Duration::from_millis(5);
/// How often is looked all the same: a sandbox may hide a directory.
const RHYTHM_WITH_EVENTS: Duration = Duration::from_secs(1);

/// Watched directories.
pub(crate) struct Watch {
    events: Option<OwnedFd>,
    deadline: Instant,
}

impl Watch {
    /// Nothing is watched yet. The waits are over after `seconds` together.
    pub(crate) fn new(seconds: u64) -> Self {
        let events = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).ok();
        Self { events, deadline: Instant::now() + Duration::from_secs(seconds) }
    }

    /// Watches what comes, goes and changes in a directory, too; again is once. One that is not there is passed over.
    pub(crate) fn directory(&self, path: &Path) {
        if let Some(events) = &self.events {
            let flags = WatchFlags::CREATE | WatchFlags::MOVED_TO | WatchFlags::DELETE | WatchFlags::MODIFY;
            let _ = inotify::add_watch(events, path, flags | WatchFlags::ONLYDIR);
        }
    }

    /// The same of a directory and all below it.
    fn tree(&self, path: &Path) {
        // Before it is read: what comes into it later is an event.
        self.directory(path);
        for entry in fs::read_dir(path).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                self.tree(&entry.path());
            }
        }
    }

    /// Waits until there may be something new; `false` when there is no time left.
    pub(crate) fn wait(&self) -> bool {
        let left = self.deadline.saturating_duration_since(Instant::now());
        match &self.events {
            Some(events) => {
                let limit = Timespec::try_from(left.min(RHYTHM_WITH_EVENTS)).ok();
                let _ = poll(&mut [PollFd::new(events, PollFlags::IN)], limit.as_ref());
                let mut ignored = [0; 4096];
                while rustix::io::read(events, &mut ignored).is_ok_and(|count| count > 0) {}
            }
            None => {
                let limit = Timespec::try_from(left.min(RHYTHM_WITHOUT_EVENTS)).ok();
                let _ = poll(&mut [], limit.as_ref());
            }
        }
        !left.is_zero()
    }
}

/// Waits until `look` finds something, and looks again whenever something happens below a directory.
///
/// # Panics
/// It finds nothing within [`TEST_WAIT_MAX_SECONDS`].
pub fn until_below<T>(directory: &Path, what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let watch = Watch::new(TEST_WAIT_MAX_SECONDS);
    loop {
        watch.tree(directory);
        if let Some(found) = look() {
            return found;
        }
        assert!(watch.wait(), "waited in vain for {what} below {}", directory.display());
    }
}

/// Waits until a file is there, for a fake: over at the latest after [`LINGER_MAX_SECONDS`].
pub fn until_there(path: &Path) {
    let watch = Watch::new(LINGER_MAX_SECONDS);
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    loop {
        // From the last directory that is there downwards: the next one appears in it, or could be watched already.
        let mut way: Vec<&Path> = path.ancestors().skip(1).collect();
        if let Some(there) = way.iter().position(|directory| directory.is_dir()) {
            way.truncate(there + 1);
        }
        way.iter().rev().for_each(|directory| watch.directory(directory));
        if path.exists() || !watch.wait() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_in_directories_that_come_later() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("a/b/c");
        std::thread::scope(|scope| {
            scope.spawn(|| {
                fs::create_dir_all(file.parent().unwrap()).unwrap();
                fs::write(&file, "here").unwrap();
            });
            until_there(&file);
            assert!(file.exists());
            let text = until_below(directory.path(), "the text", || {
                fs::read_to_string(&file).ok().filter(|text| text == "here")
            });
            assert_eq!(text, "here");
        });
    }

    #[test]
    fn a_file_that_goes() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("file");
        fs::write(&file, "").unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| fs::remove_file(&file).unwrap());
            until_below(directory.path(), "its end", || (!file.exists()).then_some(()));
        });
    }
}
