//! Digests of a repository, taken without git and without changing anything (patch-verifier.md 6, 8.2).
//!
//! The worktree's digest covers every path outside the git control directory, ignored files too: leaving them out would
//! need git's own reading of the index and the ignore rules.

use std::ffi::{CStr, CString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use record::Sha256Digest;
use rustix::fs::{Dir, FileType, Stat};
use sha2::{Digest as _, Sha256};

use crate::git::Discovery;
use crate::limits::WALK_MAX_LEVELS;
use crate::targets::{self, Memory, Targets, stamp};
use crate::tree::{self, Worktree};

/// Files of a git directory that say what is checked out and how.
const CONTROL_FILES: [&str; 5] = ["HEAD", "config", "config.worktree", "packed-refs", "shallow"];
/// Directories of it that do.
const CONTROL_DIRECTORIES: [&str; 4] = ["refs", "reftable", "hooks", "info"];

/// A look at a worktree: everything but the content of targets is in it.
#[derive(Debug)]
pub(crate) struct Look(Sha256);

impl Look {
    /// Looks at a worktree, and at every target in it; `None` when its top level can not be read. Something is done
    /// `meanwhile` by this thread, in any case.
    pub(crate) fn take(
        worktree: Option<&Worktree>,
        targets: &mut Targets,
        memory: &Memory,
        meanwhile: impl FnOnce(),
    ) -> Option<Self> {
        let Some(worktree) = worktree else {
            meanwhile();
            return None;
        };
        let walked = targets::look(worktree, targets, memory, |targets| {
            meanwhile();
            walk(worktree, targets)
        });
        walked.ok().map(Self)
    }

    /// The digest of the worktree, once the targets were read.
    pub(crate) fn digest(self, targets: &Targets) -> String {
        hex(self.0.chain_update(targets::digest(targets)))
    }
}

/// The digest of the worktree as it is now.
///
/// # Errors
/// The top level can not be read.
pub(crate) fn worktree_again(worktree: &Worktree, targets: &Targets) -> io::Result<String> {
    let (walked, digest) = targets::digest_again(worktree, targets, || walk(worktree, targets));
    Ok(hex(walked?.chain_update(digest)))
}

/// Walks through everything but the targets.
fn walk(worktree: &Worktree, targets: &Targets) -> io::Result<Sha256> {
    let mut walk = Walk::new(Some(targets));
    walk.directory(tree::open_directory(worktree.top(), c".")?, 0)?;
    Ok(walk.hasher)
}

fn hex(hasher: Sha256) -> String {
    hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
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
    let mut walk = Walk::new(None);
    walk.field(discovery.git_directory.as_os_str().as_bytes());
    walk.field(index.as_bytes());
    walk.git_directory(&discovery.git_directory);
    if discovery.common_directory != discovery.git_directory {
        walk.field(discovery.common_directory.as_os_str().as_bytes());
        walk.git_directory(&discovery.common_directory);
    }
    hex(walk.hasher)
}

struct Walk<'t> {
    hasher: Sha256,
    path: Vec<u8>,
    /// In a worktree: the files that others attest. Absent in a git directory, where the content of every file counts.
    targets: Option<&'t Targets>,
}

impl<'t> Walk<'t> {
    fn new(targets: Option<&'t Targets>) -> Self {
        Self { hasher: Sha256::new(), path: Vec::new(), targets }
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
        let mut entries = Vec::new();
        for entry in Dir::read_from(&directory)? {
            let entry = entry?;
            let name = entry.file_name();
            if name != c"." && name != c".." {
                entries.push((name.to_owned(), entry.file_type()));
            }
        }
        entries.sort_unstable_by(|(left, _), (right, _)| left.cmp(right));
        if level > 0 && entries.iter().any(|(name, _)| &**name == c".git") {
            self.record(b"repository", 0);
        }
        let length = self.path.len();
        for (name, listed) in entries {
            if self.targets.is_some() && &*name == c".git" {
                continue;
            }
            if length > 0 {
                self.path.push(b'/');
            }
            self.path.extend_from_slice(name.as_bytes());
            let is_target = self.targets.is_some_and(|targets| targets.contains_key(&self.path));
            if !(is_target && listed == FileType::RegularFile) {
                match tree::look(directory.as_fd(), &*name) {
                    Ok(stat) if is_target && tree::kind(&stat) == FileType::RegularFile => {}
                    Ok(stat) => self.entry(directory.as_fd(), &name, &stat, level),
                    Err(_) => self.record(b"unreadable", 0),
                }
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
                match self.targets.is_none().then(|| digest(parent, name)).flatten() {
                    Some(sha256) => self.field(sha256.to_string().as_bytes()),
                    None => self.stat(stat),
                }
            }
            _ => {
                self.record(b"special", stat.st_mode);
                self.stat(stat);
            }
        }
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

/// The digest of a regular file, when it can be read.
fn digest(parent: BorrowedFd<'_>, name: &CStr) -> Option<Sha256Digest> {
    let (file, _) = tree::open_file(parent, name).ok().flatten()?;
    Sha256Digest::of_reader(file).ok().map(|(sha256, _)| sha256)
}
