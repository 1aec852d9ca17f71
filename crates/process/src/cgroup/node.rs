//! One node: who is in it, killing them, waiting until nobody is, removing it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::event::PollFlags;
use rustix::fs::statfs;
use rustix::io::Errno;

use super::home::position_of;
use super::{CgroupError, ResourceLimits};
use crate::limits::{CGROUP_DESCENDANTS_MAX_COUNT, CGROUP_EMPTY_TIMEOUT};
use crate::poll::wait_for;
use crate::procfs::{means_gone, read_system_file};

/// `CGROUP2_SUPER_MAGIC` of `linux/magic.h`.
const CGROUP2_MAGIC: u64 = 0x6367_7270;

/// A cgroup that one turn has for itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CgroupNode {
    path: PathBuf,
}

impl CgroupNode {
    pub(super) fn at(path: PathBuf) -> Self {
        Self { path }
    }

    /// The node with that directory; `None` when there is none.
    ///
    /// # Errors
    /// It can not be looked at.
    pub fn open(path: &Path) -> io::Result<Option<Self>> {
        match statfs(path) {
            Ok(system) if u64::try_from(system.f_type) == Ok(CGROUP2_MAGIC) => {
                Ok(Some(Self { path: path.to_path_buf() }))
            }
            Ok(_) | Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Its directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether a process is in it or in a cgroup below it.
    ///
    /// # Errors
    /// It can not be read. A node that is gone is empty.
    pub fn is_populated(&self) -> io::Result<bool> {
        match read_system_file(&self.path.join("cgroup.events")) {
            Ok(events) => Ok(says_populated(&events)),
            Err(error) if means_gone(&error) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Ends everything in it and in the cgroups below it, and removes them all. That it is gone already is no error.
    ///
    /// # Errors
    /// Something in it does not end, or it can not be removed.
    pub fn remove(&self) -> io::Result<()> {
        let started = Instant::now();
        loop {
            match self.remove_empty() {
                Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {
                    self.kill()?;
                    let left = CGROUP_EMPTY_TIMEOUT.saturating_sub(started.elapsed());
                    if !self.wait_until_empty(left)? || left.is_zero() {
                        return Err(error);
                    }
                }
                other => return other,
            }
        }
    }

    fn remove_empty(&self) -> io::Result<()> {
        for path in self.with_descendants()?.iter().rev() {
            match fs::remove_dir(path) {
                Err(error) if !means_gone(&error) => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }

    /// Whether that process is in the node itself. Its name is the last part of the path, and no two nodes have the same.
    pub(crate) fn holds(&self, pid: u32) -> io::Result<bool> {
        let table = read_system_file(Path::new(&format!("/proc/{pid}/cgroup")))?;
        Ok(position_of(&table).is_some_and(|position| position.file_name() == self.path.file_name()))
    }

    /// The numbers of the processes in it and below it. Zombies are not listed.
    pub(crate) fn members(&self) -> io::Result<Vec<u32>> {
        let mut numbers = Vec::new();
        for path in self.with_descendants()? {
            match fs::read_to_string(path.join("cgroup.procs")) {
                // A process that this namespace does not show has the number zero.
                Ok(list) => numbers
                    .extend(list.lines().filter_map(|line| line.parse::<u32>().ok()).filter(|pid| *pid != 0)),
                Err(error) if means_gone(&error) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(numbers)
    }

    /// Kills everything in it and below it, also what is stopped, frozen, or being made this moment.
    pub(crate) fn kill(&self) -> io::Result<()> {
        match write(&self.path.join("cgroup.kill"), "1") {
            Err(error) if means_gone(&error) => Ok(()),
            result => result,
        }
    }

    /// Waits until nothing is in it or below it. Answers whether that is so.
    pub(crate) fn wait_until_empty(&self, timeout: Duration) -> io::Result<bool> {
        let deadline = Instant::now() + timeout;
        let mut events = match File::open(self.path.join("cgroup.events")) {
            Ok(file) => file,
            Err(error) if means_gone(&error) => return Ok(true),
            Err(error) => return Err(error),
        };
        loop {
            // Reading also arms the descriptor: it is ready again at the next change.
            let mut text = Vec::new();
            events.rewind()?;
            match events.read_to_end(&mut text) {
                Ok(_) if says_populated(&text) => {}
                Ok(_) => return Ok(true),
                Err(error) if means_gone(&error) => return Ok(true),
                Err(error) => return Err(error),
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(false);
            }
            wait_for(events.as_fd(), PollFlags::PRI, &[], left)?;
        }
    }

    pub(super) fn limit(&self, limits: &ResourceLimits) -> Result<(), CgroupError> {
        for (controller, text) in limits.settings() {
            let path = self.path.join(controller.file());
            write(&path, &text).map_err(|source| CgroupError::Io { path, source })?;
        }
        Ok(())
    }

    /// Its directory and those of all cgroups below it, each before those in it. What comes and goes meanwhile may be missed.
    fn with_descendants(&self) -> io::Result<Vec<PathBuf>> {
        let mut found = vec![self.path.clone()];
        let mut next = 0;
        while let Some(path) = found.get(next).filter(|_| next < CGROUP_DESCENDANTS_MAX_COUNT) {
            next += 1;
            let entries = match fs::read_dir(path) {
                Ok(entries) => entries,
                Err(error) if means_gone(&error) => continue,
                Err(error) => return Err(error),
            };
            for entry in entries {
                match entry.and_then(|entry| Ok((entry.file_type()?, entry.path()))) {
                    Ok((kind, path)) if kind.is_dir() => found.push(path),
                    Err(error) if !means_gone(&error) => return Err(error),
                    _ => {}
                }
            }
        }
        Ok(found)
    }
}

fn says_populated(events: &[u8]) -> bool {
    events.split(|byte| *byte == b'\n').any(|line| line == b"populated 1")
}

/// Writes to a file of the kernel. It must be there: an ordinary directory gets no new files.
pub(super) fn write(path: &Path, text: &str) -> io::Result<()> {
    OpenOptions::new().write(true).open(path)?.write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_of_another_file_system_is_no_node() {
        let directory = tempfile::tempdir().expect("a directory");
        assert_eq!(CgroupNode::open(directory.path()).expect("a look"), None);
        assert_eq!(CgroupNode::open(&directory.path().join("missing")).expect("a look"), None);
    }

    #[test]
    fn a_node_that_is_gone_is_empty_and_removed() {
        let directory = tempfile::tempdir().expect("a directory");
        let node = CgroupNode::at(directory.path().join("gone"));
        assert!(!node.is_populated().expect("a look"));
        assert!(node.wait_until_empty(Duration::ZERO).expect("a look"));
        assert_eq!(node.members().expect("a list"), [0_u32; 0]);
        node.kill().expect("nothing to kill");
        node.remove().expect("nothing to remove");
    }

    #[test]
    fn only_the_word_of_the_kernel_means_populated() {
        assert!(says_populated(b"populated 1\nfrozen 0\n"));
        assert!(!says_populated(b"populated 0\nfrozen 1\n"));
        assert!(!says_populated(b""));
    }
}
