//! Where targets lie, and what is there.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use record::Sha256Digest;
use rustix::fs::{FileType, Stat};

use super::{Content, Memory, State, Target, is_settled, stamp};
use crate::limits::READ_AT_ONCE_MAX_BYTES;
use crate::tree::{self, Worktree};

/// Whether a path, taken component by component, stays in the worktree and out of every git control directory. Only such
/// a path is followed.
fn stays_inside(path: &[u8]) -> bool {
    path.split(|byte| *byte == b'/')
        .all(|part| !matches!(part, b"" | b"." | b".." | b".git") && !part.contains(&0))
}

/// The directories of targets; that of the last one stays open.
pub(super) struct Parents<'w> {
    worktree: &'w Worktree,
    last: Option<Parent>,
}

struct Parent {
    path: Vec<u8>,
    /// Absent where the way to it is no way through directories.
    directory: Option<OwnedFd>,
    is_nested: bool,
}

impl<'w> Parents<'w> {
    /// Those in a worktree.
    pub(super) fn new(worktree: &'w Worktree) -> Self {
        Self { worktree, last: None }
    }

    /// Where a target lies, if a way through directories leads there.
    pub(super) fn place<'p>(&'p mut self, path: &'p [u8]) -> Option<Place<'p>> {
        if !stays_inside(path) {
            return None;
        }
        let (parent, leaf) = match memchr::memrchr(b'/', path) {
            Some(slash) => (&path[..slash], &path[slash + 1..]),
            None => (&b""[..], path),
        };
        if self.last.as_ref().is_none_or(|last| last.path != parent) {
            self.last = Some(self.open(parent));
        }
        let Parent { directory, is_nested, .. } = self.last.as_ref()?;
        Some(Place { directory: directory.as_ref()?.as_fd(), leaf, is_nested: *is_nested })
    }

    fn open(&self, path: &[u8]) -> Parent {
        let mut directory = tree::open_directory(self.worktree.top(), c".").ok();
        let mut is_nested = false;
        for component in path.split(|byte| *byte == b'/').filter(|component| !component.is_empty()) {
            directory = directory.and_then(|parent| tree::open_directory(parent.as_fd(), component).ok());
            is_nested |= directory.as_ref().is_some_and(|opened| tree::look(opened.as_fd(), c".git").is_ok());
        }
        Parent { path: path.to_vec(), directory, is_nested }
    }
}

/// Where a target lies.
#[derive(Clone, Copy)]
pub(super) struct Place<'p> {
    directory: BorrowedFd<'p>,
    leaf: &'p [u8],
    is_nested: bool,
}

impl Place<'_> {
    /// A regular file, read already unless its stamp alone tells whether it is changed.
    pub(super) fn look(self, memory: &Memory) -> Option<Target> {
        let stat = self.stat()?;
        let target = |stat: &Stat, content| {
            let stamp = stamp(stat);
            let is_settled = is_settled(&stamp);
            Target { content, is_nested: self.is_nested, mode: stat.st_mode, stamp, is_settled }
        };
        let seen = target(&stat, None);
        if seen.is_settled {
            return Some(seen);
        }
        let read = self.read(memory, None);
        Some(read.map_or(seen, |(stat, content)| target(&stat, Some(content))))
    }

    fn stat(self) -> Option<Stat> {
        tree::look(self.directory, self.leaf).ok().filter(|stat| tree::kind(stat) == FileType::RegularFile)
    }

    /// What there is now of a target that was `known`.
    pub(super) fn state(self, known: Option<&Target>) -> State {
        let Some(stat) = self.stat() else { return State::None };
        if known.is_some_and(|known| known.is_settled && stamp(&stat) == known.stamp) {
            return State::of(known);
        }
        let known = known.and_then(|known| known.content.as_ref());
        match self.read(&Memory::new(0), known) {
            Some((stat, content)) => State::Read(stat.st_mode, content.sha256),
            None => State::Unread(stat.st_mode, stamp(&stat)),
        }
    }

    /// A regular file and its content, when it can be read. The digest of content that is `known` needs no computing.
    pub(super) fn read(self, memory: &Memory, known: Option<&Content>) -> Option<(Stat, Content)> {
        let (file, stat) = tree::open_file(self.directory, self.leaf).ok().flatten()?;
        let size = u64::try_from(stat.st_size).ok()?;
        if size > READ_AT_ONCE_MAX_BYTES {
            let mut watch = Watch { file, has_carriage_return: false };
            let (sha256, _) = Sha256Digest::of_reader(&mut watch).ok()?;
            let content = Content { sha256, has_carriage_return: watch.has_carriage_return, bytes: None };
            return Some((stat, content));
        }
        let mut bytes = Vec::with_capacity(usize::try_from(size).ok()?);
        // Up to the size that it has now: the end need not be asked for.
        file.take(size).read_to_end(&mut bytes).ok()?;
        let sha256 = match known {
            Some(known) if known.bytes.as_ref() == Some(&bytes) => known.sha256,
            _ => Sha256Digest::of(&bytes),
        };
        let has_carriage_return = memchr::memchr(b'\r', &bytes).is_some();
        Some((stat, Content { sha256, has_carriage_return, bytes: memory.take(size).then_some(bytes) }))
    }
}

/// Passes a file through and notes carriage returns.
struct Watch {
    file: File,
    has_carriage_return: bool,
}

impl Read for Watch {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(buffer)?;
        self.has_carriage_return |= memchr::memchr(b'\r', &buffer[..count]).is_some();
        Ok(count)
    }
}
