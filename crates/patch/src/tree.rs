//! The worktree under a descriptor: nothing here follows a symbolic link or opens anything but files and directories.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat, fstat, openat, statat};
use rustix::io::Errno;

use crate::rule::Rule;

/// Opens a directory; a link in the last component is refused.
///
/// # Errors
/// Those of the system.
pub(crate) fn open_directory(parent: BorrowedFd<'_>, name: impl rustix::path::Arg) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(openat(parent, name, flags, Mode::empty())?)
}

/// Opens a regular file for reading; `None` when it is something else. Nothing that could block is waited for.
///
/// # Errors
/// Those of the system.
pub(crate) fn open_file(
    parent: BorrowedFd<'_>,
    name: impl rustix::path::Arg,
) -> io::Result<Option<(File, Stat)>> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = File::from(openat(parent, name, flags, Mode::empty())?);
    let stat = fstat(&file)?;
    Ok((kind(&stat) == FileType::RegularFile).then_some((file, stat)))
}

/// What lies under a name.
pub(crate) fn look(parent: BorrowedFd<'_>, name: impl rustix::path::Arg) -> Result<Stat, Errno> {
    statat(parent, name, AtFlags::SYMLINK_NOFOLLOW)
}

/// The kind of what a look found.
pub(crate) fn kind(stat: &Stat) -> FileType {
    FileType::from_raw_mode(stat.st_mode)
}

/// The top level of a worktree.
#[derive(Debug)]
pub(crate) struct Worktree {
    top: OwnedFd,
}

impl Worktree {
    /// Opens it.
    ///
    /// # Errors
    /// Those of the system.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        Ok(Self { top: open_directory(rustix::fs::CWD, path)? })
    }

    /// Its descriptor.
    pub(crate) fn top(&self) -> BorrowedFd<'_> {
        self.top.as_fd()
    }

    /// Judges every existing component of relative paths (patch-verifier.md 8.6).
    pub(crate) fn examiner(&self) -> Examiner<'_> {
        Examiner { worktree: self, parent: None }
    }

    /// Whether nothing lies under a relative path, also through links: git would find nothing there either.
    pub(crate) fn lacks(&self, path: &str) -> bool {
        matches!(look(self.top(), path), Err(Errno::NOENT | Errno::NOTDIR))
    }

    /// The file under a relative path; `None` when there is none, or it is no regular file, or lies behind a link.
    ///
    /// # Errors
    /// The file is there and can not be opened.
    pub(crate) fn file(&self, path: &str) -> io::Result<Option<File>> {
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
            other => Ok(other?.map(|(file, _)| file)),
        }
    }
}

/// Looks at one path after the other, and keeps the directory of the last one open: the files of a patch stand in few.
#[derive(Debug)]
pub(crate) struct Examiner<'w> {
    worktree: &'w Worktree,
    /// A directory that was reached without a finding, by its path.
    parent: Option<(String, OwnedFd)>,
}

impl Examiner<'_> {
    /// Reports what lies on a path and must not.
    pub(crate) fn examine(&mut self, path: &str, refuse: &mut impl FnMut(Rule)) {
        let (parent, leaf) = path.rsplit_once('/').unwrap_or(("", path));
        if self.parent.as_ref().is_none_or(|(known, _)| known != parent) {
            let Some(directory) = self.enter(parent, refuse) else { return };
            self.parent = Some((parent.to_owned(), directory));
        }
        let Some((_, directory)) = &self.parent else { return };
        match look(directory.as_fd(), leaf).map(|stat| kind(&stat)) {
            Ok(FileType::RegularFile) | Err(Errno::NOENT) => {}
            Ok(FileType::Symlink) => refuse(Rule::SymlinkLeaf),
            Ok(FileType::Directory) => {
                if is_repository(directory.as_fd(), leaf) {
                    refuse(Rule::PathEntersNestedRepository);
                }
                refuse(Rule::TargetNotARegularFile);
            }
            // What can not be looked at is not known to be a file.
            Ok(_) | Err(_) => refuse(Rule::TargetNotARegularFile),
        }
    }

    /// Opens a directory component by component; `None` where nothing more exists or a finding ends the way.
    fn enter(&self, parent: &str, refuse: &mut impl FnMut(Rule)) -> Option<OwnedFd> {
        let mut directory = open_directory(self.worktree.top(), c".").ok()?;
        let mut clean = true;
        for component in parent.split('/').filter(|component| !component.is_empty()) {
            match look(directory.as_fd(), component).map(|stat| kind(&stat)) {
                Ok(FileType::Directory) => {}
                Err(Errno::NOENT) => return None,
                Ok(FileType::Symlink) => {
                    refuse(Rule::SymlinkComponent);
                    return None;
                }
                Ok(_) | Err(_) => {
                    refuse(Rule::ComponentNotADirectory);
                    return None;
                }
            }
            if is_repository(directory.as_fd(), component) {
                refuse(Rule::PathEntersNestedRepository);
                clean = false;
            }
            match open_directory(directory.as_fd(), component) {
                Ok(opened) => directory = opened,
                Err(_) => {
                    refuse(Rule::ComponentNotADirectory);
                    return None;
                }
            }
        }
        clean.then_some(directory)
    }
}

/// Whether a directory holds a git control entry.
fn is_repository(parent: BorrowedFd<'_>, name: &str) -> bool {
    open_directory(parent, name).is_ok_and(|opened| look(opened.as_fd(), c".git").is_ok())
}
