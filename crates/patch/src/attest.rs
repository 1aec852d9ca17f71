//! Digests of a repository, taken without git and without changing anything (patch-verifier.md 6, 8.2).
//!
//! The worktree's digest covers every path outside the git control directory, ignored files too: leaving them out would
//! need git's own reading of the index and the ignore rules.

use std::collections::HashMap;
use std::ffi::{CStr, CString};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::time::SystemTime;

use record::Sha256Digest;
use rustix::fs::{Dir, FileType, Stat};
use sha2::{Digest as _, Sha256};

use crate::git::Discovery;
use crate::limits::{READ_AT_ONCE_MAX_BYTES, WALK_MAX_LEVELS};
use crate::tree::{self, Worktree};

/// Files of a git directory that say what is checked out and how.
const CONTROL_FILES: [&str; 5] = ["HEAD", "config", "config.worktree", "packed-refs", "shallow"];
/// Directories of it that do.
const CONTROL_DIRECTORIES: [&str; 4] = ["refs", "reftable", "hooks", "info"];

/// What was read of a file that the patch names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Target {
    /// Digest of its content.
    pub(crate) sha256: Sha256Digest,
    /// Whether a carriage return is in it.
    pub(crate) has_carriage_return: bool,
    /// The content, unless it is too large to be kept.
    pub(crate) content: Option<Vec<u8>>,
    /// Whether it lies in a repository inside the worktree.
    pub(crate) is_nested: bool,
    stamp: Stamp,
    /// Its last change was long enough ago that another one would show in the stamp.
    is_settled: bool,
}

/// Inode, size, and both times in nanoseconds.
type Stamp = [i128; 4];

fn stamp(stat: &Stat) -> Stamp {
    let nanoseconds = |seconds: i128, part: i128| seconds * 1_000_000_000 + part;
    [
        i128::from(stat.st_ino),
        i128::from(stat.st_size),
        nanoseconds(i128::from(stat.st_mtime), i128::from(stat.st_mtime_nsec)),
        nanoseconds(i128::from(stat.st_ctime), i128::from(stat.st_ctime_nsec)),
    ]
}

/// Whether a file was last changed at least two seconds ago: clocks of file systems tick in steps, so that two changes
/// close together can carry one time.
fn is_settled(stamp: &Stamp) -> bool {
    let now = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .map_or(0, |past| past.as_nanos().cast_signed());
    stamp[3] + 2_000_000_000 < now
}

/// The files that a patch names, by path; `None` for what is not a readable file.
pub(crate) type Targets = HashMap<Vec<u8>, Option<Target>>;

/// The digest of a worktree. The content of the files in `targets` is read and noted there, and kept as long as
/// `keep_max_bytes` reach; lstat stands for the content of the others.
///
/// # Errors
/// The top level can not be read.
pub(crate) fn worktree(
    worktree: &Worktree,
    targets: &mut Targets,
    keep_max_bytes: u64,
) -> io::Result<String> {
    walk_worktree(worktree, Walk::new(Contents::Note { targets, keep_max_bytes }))
}

/// The digest once more. A target whose settled stamp is what it was is not read again.
///
/// # Errors
/// The top level can not be read.
pub(crate) fn worktree_again(worktree: &Worktree, targets: &Targets) -> io::Result<String> {
    walk_worktree(worktree, Walk::new(Contents::Compare(targets)))
}

fn walk_worktree(worktree: &Worktree, mut walk: Walk<'_>) -> io::Result<String> {
    let top = tree::open_directory(worktree.top(), c".")?;
    walk.directory(top, 0)?;
    Ok(walk.finish())
}

/// The digest of an index, or the word `absent`.
pub(crate) fn index(discovery: &Discovery) -> String {
    match File::open(discovery.git_directory.join("index")).and_then(Sha256Digest::of_reader) {
        Ok((digest, _)) => digest.to_string(),
        Err(_) => "absent".to_owned(),
    }
}

/// The digest of what says which commit, configuration, refs and index a worktree has; shared parts of a linked worktree
/// are in it.
pub(crate) fn control(discovery: &Discovery, index: &str) -> String {
    let mut walk = Walk::new(Contents::All);
    walk.field(discovery.git_directory.as_os_str().as_bytes());
    walk.field(index.as_bytes());
    walk.git_directory(&discovery.git_directory);
    if discovery.common_directory != discovery.git_directory {
        walk.field(discovery.common_directory.as_os_str().as_bytes());
        walk.git_directory(&discovery.common_directory);
    }
    walk.finish()
}

/// The files whose content counts.
enum Contents<'t> {
    All,
    Note { targets: &'t mut Targets, keep_max_bytes: u64 },
    Compare(&'t Targets),
}

struct Walk<'t> {
    hasher: Sha256,
    path: Vec<u8>,
    contents: Contents<'t>,
    buffer: Vec<u8>,
    /// Directories on the way here that hold a git control entry, but for the top level.
    nested: usize,
}

impl<'t> Walk<'t> {
    fn new(contents: Contents<'t>) -> Self {
        Self { hasher: Sha256::new(), path: Vec::new(), contents, buffer: Vec::new(), nested: 0 }
    }

    fn finish(self) -> String {
        self.hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    fn field(&mut self, bytes: &[u8]) {
        self.hasher.update(bytes);
        self.hasher.update([0]);
    }

    fn git_directory(&mut self, path: &Path) {
        let Ok(directory) = tree::open_directory(rustix::fs::CWD, path) else {
            self.field(b"unreadable");
            return;
        };
        for name in CONTROL_FILES.iter().chain(&CONTROL_DIRECTORIES) {
            match tree::look(directory.as_fd(), *name) {
                Ok(stat) => {
                    self.path = name.as_bytes().to_vec();
                    self.entry(directory.as_fd(), &CString::new(*name).unwrap_or_default(), &stat, 0);
                }
                Err(_) => self.field(b"absent"),
            }
        }
        self.path.clear();
    }

    fn directory(&mut self, directory: OwnedFd, level: usize) -> io::Result<()> {
        let mut names = Vec::new();
        for entry in Dir::read_from(&directory)? {
            let entry = entry?;
            let name = entry.file_name();
            if name != c"." && name != c".." {
                names.push(name.to_owned());
            }
        }
        names.sort_unstable();
        let is_nested = level > 0 && names.iter().any(|name| &**name == c".git");
        self.nested += usize::from(is_nested);
        if is_nested {
            self.record(b"repository", 0);
        }
        let is_worktree = !matches!(self.contents, Contents::All);
        let length = self.path.len();
        for name in names {
            if is_worktree && &*name == c".git" {
                continue;
            }
            if length > 0 {
                self.path.push(b'/');
            }
            self.path.extend_from_slice(name.as_bytes());
            if !self.target(directory.as_fd(), &name) {
                match tree::look(directory.as_fd(), &*name) {
                    Ok(stat) => self.entry(directory.as_fd(), &name, &stat, level),
                    Err(_) => self.record(b"unreadable", 0),
                }
            }
            self.path.truncate(length);
        }
        self.nested -= usize::from(is_nested);
        Ok(())
    }

    fn entry(&mut self, parent: BorrowedFd<'_>, name: &CString, stat: &Stat, level: usize) {
        match tree::kind(stat) {
            FileType::Directory => {
                let entered = level < WALK_MAX_LEVELS
                    && tree::open_directory(parent, &**name)
                        .and_then(|opened| self.directory(opened, level + 1))
                        .is_ok();
                if !entered {
                    self.record(b"directory", stat.st_mode);
                    self.stat(stat);
                }
            }
            FileType::Symlink => {
                self.record(b"link", stat.st_mode);
                match rustix::fs::readlinkat(parent, &**name, Vec::new()) {
                    Ok(target) => self.field(target.as_bytes()),
                    Err(_) => self.stat(stat),
                }
            }
            FileType::RegularFile => {
                self.record(b"file", stat.st_mode);
                let reads = matches!(self.contents, Contents::All);
                match reads.then(|| self.content(parent, name)).flatten() {
                    Some((_, read)) => self.field(read.sha256.to_string().as_bytes()),
                    None => self.stat(stat),
                }
            }
            _ => {
                self.record(b"special", stat.st_mode);
                self.stat(stat);
            }
        }
    }

    /// Records a file that the patch names by its content; answers whether it is one and could be read.
    fn target(&mut self, parent: BorrowedFd<'_>, name: &CStr) -> bool {
        let known = match &self.contents {
            Contents::All => None,
            Contents::Note { targets, .. } => targets.get(&self.path).map(|_| None),
            Contents::Compare(targets) => targets.get(&self.path).map(Option::as_ref),
        };
        let Some(known) = known else { return false };
        if let Some(known) = known.filter(|known| known.is_settled)
            && let Ok(stat) = tree::look(parent, name)
            && tree::kind(&stat) == FileType::RegularFile
            && stamp(&stat) == known.stamp
        {
            let digest = known.sha256.to_string();
            self.record(b"file", stat.st_mode);
            self.field(digest.as_bytes());
            return true;
        }
        let Some((mode, read)) = self.content(parent, name) else { return false };
        self.record(b"file", mode);
        self.field(read.sha256.to_string().as_bytes());
        if let Contents::Note { targets, .. } = &mut self.contents
            && let Some(slot) = targets.get_mut(&self.path)
        {
            *slot = Some(read);
        }
        true
    }

    /// Mode and content of a regular file, when it can be read.
    fn content(&mut self, parent: BorrowedFd<'_>, name: &CStr) -> Option<(u32, Target)> {
        let (file, stat) = tree::open_file(parent, name).ok().flatten()?;
        let stamp = stamp(&stat);
        let size = u64::try_from(stat.st_size).ok()?;
        let mut target = Target {
            sha256: Sha256Digest::of(b""),
            has_carriage_return: false,
            content: None,
            is_nested: self.nested > 0,
            stamp,
            is_settled: is_settled(&stamp),
        };
        if size > READ_AT_ONCE_MAX_BYTES {
            let mut watch = Watch { file, has_carriage_return: false };
            target.sha256 = Sha256Digest::of_reader(&mut watch).ok()?.0;
            target.has_carriage_return = watch.has_carriage_return;
            return Some((stat.st_mode, target));
        }
        self.buffer.clear();
        // Up to the size that it has now: the end need not be asked for.
        file.take(size).read_to_end(&mut self.buffer).ok()?;
        target.sha256 = Sha256Digest::of(&self.buffer);
        target.has_carriage_return = memchr::memchr(b'\r', &self.buffer).is_some();
        if let Contents::Note { keep_max_bytes, .. } = &mut self.contents
            && let Some(left) = keep_max_bytes.checked_sub(size)
        {
            *keep_max_bytes = left;
            target.content = Some(self.buffer.clone());
        }
        Some((stat.st_mode, target))
    }

    fn record(&mut self, kind: &[u8], mode: u32) {
        self.hasher.update(kind);
        self.hasher.update([0]);
        self.hasher.update(&self.path);
        self.hasher.update([0]);
        self.hasher.update(mode.to_le_bytes());
    }

    /// What stands for content that is not read.
    fn stat(&mut self, stat: &Stat) {
        for field in stamp(stat) {
            self.hasher.update(field.to_le_bytes());
        }
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
