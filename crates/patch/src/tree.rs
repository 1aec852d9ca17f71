//! The worktree under a descriptor: nothing here follows a symbolic link or opens anything but files and directories.

use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat, openat, statat};
use rustix::io::Errno;

use crate::rule::Rule;

/// Opens a directory; a link in the last component is refused.
///
/// # Errors
/// Those of the system.
pub fn open_directory(parent: BorrowedFd<'_>, name: impl rustix::path::Arg) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(openat(parent, name, flags, Mode::empty())?)
}

/// Opens a regular file for reading; `None` when it is something else. Nothing that could block is waited for.
///
/// # Errors
/// Those of the system.
pub fn open_file(parent: BorrowedFd<'_>, name: impl rustix::path::Arg) -> io::Result<Option<File>> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = File::from(openat(parent, name, flags, Mode::empty())?);
    Ok(file.metadata()?.is_file().then_some(file))
}

/// What lies under a name.
pub fn look(parent: BorrowedFd<'_>, name: impl rustix::path::Arg) -> Result<Stat, Errno> {
    statat(parent, name, AtFlags::SYMLINK_NOFOLLOW)
}

/// The kind of what a look found.
pub fn kind(stat: &Stat) -> FileType {
    FileType::from_raw_mode(stat.st_mode)
}

/// The top level of a worktree.
#[derive(Debug)]
pub struct Worktree {
    top: OwnedFd,
}

impl Worktree {
    /// Opens it.
    ///
    /// # Errors
    /// Those of the system.
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Self { top: open_directory(rustix::fs::CWD, path)? })
    }

    /// Its descriptor.
    pub fn top(&self) -> BorrowedFd<'_> {
        self.top.as_fd()
    }

    /// Judges every existing component of a relative path (patch-verifier.md 8.6).
    pub fn examine(&self, path: &str, mut refuse: impl FnMut(Rule)) {
        let mut held: OwnedFd;
        let mut directory = self.top();
        let mut components = path.split('/').peekable();
        while let Some(component) = components.next() {
            let is_leaf = components.peek().is_none();
            let kind = match look(directory, component) {
                Ok(stat) => kind(&stat),
                Err(Errno::NOENT) => return,
                // What can not be looked at is not known to be a file.
                Err(_) => FileType::Unknown,
            };
            match (kind, is_leaf) {
                (FileType::Symlink, false) => return refuse(Rule::SymlinkComponent),
                (FileType::Symlink, true) => return refuse(Rule::SymlinkLeaf),
                (FileType::RegularFile, true) => return,
                (FileType::Directory, _) => {
                    let opened = open_directory(directory, component);
                    let nested = opened.as_ref().is_ok_and(|opened| look(opened.as_fd(), c".git").is_ok());
                    if nested {
                        refuse(Rule::PathEntersNestedRepository);
                    }
                    match opened {
                        Ok(opened) if !is_leaf => held = opened,
                        _ => return refuse(Rule::TargetNotARegularFile),
                    }
                    directory = held.as_fd();
                }
                (_, false) => return refuse(Rule::ComponentNotADirectory),
                (_, true) => return refuse(Rule::TargetNotARegularFile),
            }
        }
    }

    /// The file under a relative path; `None` when there is none, or it is no regular file, or lies behind a link.
    ///
    /// # Errors
    /// The file is there and can not be opened.
    pub fn file(&self, path: &str) -> io::Result<Option<File>> {
        let mut held: OwnedFd;
        let mut directory = self.top();
        let (parents, leaf) = path.rsplit_once('/').unwrap_or(("", path));
        for component in parents.split('/').filter(|component| !component.is_empty()) {
            match open_directory(directory, component) {
                Ok(opened) => held = opened,
                Err(_) => return Ok(None),
            }
            directory = held.as_fd();
        }
        match open_file(directory, leaf) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            other => other,
        }
    }
}

/// Whether a name is that of the git control entry.
pub fn is_git_entry(name: &CStr) -> bool {
    name == c".git"
}
