//! Digests of a repository, taken without git and without changing anything (patch-verifier.md 6, 8.2).
//!
//! The worktree's digest covers every path outside the git control directory, ignored files too: leaving them out would
//! need git's own reading of the index and the ignore rules.

use std::collections::HashMap;
use std::ffi::CString;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use record::Sha256Digest;
use rustix::fs::{Dir, FileType, Stat};
use sha2::{Digest as _, Sha256};

use crate::git::Discovery;
use crate::limits::WALK_MAX_LEVELS;
use crate::tree::{self, Worktree};

/// Files of a git directory that say what is checked out and how.
const CONTROL_FILES: [&str; 5] = ["HEAD", "config", "config.worktree", "packed-refs", "shallow"];
/// Directories of it that do.
const CONTROL_DIRECTORIES: [&str; 4] = ["refs", "reftable", "hooks", "info"];

/// What was read of a file that the patch names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Target {
    /// Digest of its content.
    pub sha256: Sha256Digest,
    /// Whether a carriage return is in it.
    pub has_carriage_return: bool,
}

/// The files that a patch names, by path; `None` for what is not a readable file.
pub type Targets = HashMap<Vec<u8>, Option<Target>>;

/// The digest of a worktree. The content of the files in `targets` is read and noted there; lstat stands for the others.
///
/// # Errors
/// The top level can not be read.
pub fn worktree(worktree: &Worktree, targets: &mut Targets) -> io::Result<String> {
    let top = tree::open_directory(worktree.top(), c".")?;
    let mut walk = Walk { hasher: Sha256::new(), path: Vec::new(), targets: Some(targets) };
    walk.directory(top, 0)?;
    Ok(walk.finish())
}

/// The digest of an index, or the word `absent`.
pub fn index(discovery: &Discovery) -> String {
    match File::open(discovery.git_directory.join("index")).and_then(Sha256Digest::of_reader) {
        Ok((digest, _)) => digest.to_string(),
        Err(_) => "absent".to_owned(),
    }
}

/// The digest of what says which commit, configuration, refs and index a worktree has; shared parts of a linked worktree
/// are in it.
pub fn control(discovery: &Discovery, index: &str) -> String {
    let mut walk = Walk { hasher: Sha256::new(), path: Vec::new(), targets: None };
    walk.field(discovery.git_directory.as_os_str().as_bytes());
    walk.field(index.as_bytes());
    walk.git_directory(&discovery.git_directory);
    if discovery.common_directory != discovery.git_directory {
        walk.field(discovery.common_directory.as_os_str().as_bytes());
        walk.git_directory(&discovery.common_directory);
    }
    walk.finish()
}

struct Walk<'t> {
    hasher: Sha256,
    path: Vec<u8>,
    /// The files whose content counts; `None`: of all.
    targets: Option<&'t mut Targets>,
}

impl Walk<'_> {
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
        if names.iter().any(|name| tree::is_git_entry(name)) && level > 0 {
            self.record(b"repository", 0);
        }
        let length = self.path.len();
        for name in names {
            if tree::is_git_entry(&name) && self.targets.is_some() {
                continue;
            }
            if length > 0 {
                self.path.push(b'/');
            }
            self.path.extend_from_slice(name.as_bytes());
            match tree::look(directory.as_fd(), &*name) {
                Ok(stat) => self.entry(directory.as_fd(), &name, &stat, level),
                Err(_) => self.record(b"unreadable", 0),
            }
            self.path.truncate(length);
        }
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
                match self.content(parent, name) {
                    Some(digest) => self.field(digest.to_string().as_bytes()),
                    None => self.stat(stat),
                }
            }
            _ => {
                self.record(b"special", stat.st_mode);
                self.stat(stat);
            }
        }
    }

    /// The digest of a file whose content counts, when it can be read.
    fn content(&mut self, parent: BorrowedFd<'_>, name: &CString) -> Option<Sha256Digest> {
        let slot = match &mut self.targets {
            None => None,
            Some(targets) => Some(targets.get_mut(&self.path)?),
        };
        let file = tree::open_file(parent, &**name).ok().flatten()?;
        let mut watch = Watch { file, has_carriage_return: false };
        let (sha256, _) = Sha256Digest::of_reader(&mut watch).ok()?;
        if let Some(slot) = slot {
            *slot = Some(Target { sha256, has_carriage_return: watch.has_carriage_return });
        }
        Some(sha256)
    }

    fn record(&mut self, kind: &[u8], mode: u32) {
        self.hasher.update(kind);
        self.hasher.update([0]);
        self.hasher.update(&self.path);
        self.hasher.update([0]);
        self.hasher.update(mode.to_le_bytes());
    }

    /// What stands for content that is not read: inode, size, and both times in nanoseconds.
    fn stat(&mut self, stat: &Stat) {
        let fields = [
            i128::from(stat.st_ino),
            i128::from(stat.st_size),
            i128::from(stat.st_mtime),
            i128::from(stat.st_mtime_nsec),
            i128::from(stat.st_ctime),
            i128::from(stat.st_ctime_nsec),
        ];
        for field in fields {
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
