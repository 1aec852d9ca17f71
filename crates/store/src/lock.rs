//! Locks of open file descriptions (STATE.md 4): whole file, close-on-exec, gone with their holder. No other kind of lock is
//! used, for kinds do not see each other.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::thread;
use std::time::Instant;

use crate::directory::{Access, Directory, identity};
use crate::error::{At, StoreError};
use crate::limits::{LOCK_PATIENCE, LOCK_REOPEN_MAX_TRIES, LOCK_RHYTHM};

/// A held lock; dropping it releases it.
#[derive(Debug)]
pub struct Lock {
    file: File,
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Closing alone would wait for a copy of the descriptor in a child that has not reached its exec yet.
        let _ = ofd::unlock(&self.file);
    }
}

/// How a lock excludes others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sharing {
    /// Nobody else.
    Exclusive,
    /// Others that share.
    Shared,
}

/// Whether a missing lock file is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IfMissing {
    /// It is made.
    Create,
    /// That is an error.
    Fail,
}

impl Lock {
    /// Takes the lock of `name` if it is free; `None` when it is not.
    pub(crate) fn try_take(
        directory: &Directory,
        name: &str,
        if_missing: IfMissing,
        sharing: Sharing,
    ) -> Result<Option<Self>, StoreError> {
        Self::take_with(directory, name, if_missing, |file| ofd::try_lock(file, sharing))
    }

    /// Takes the exclusive lock of a file just opened, waiting for its holder; `None` when that one keeps it too long. For
    /// sections of microseconds only: who has it longer stands still, and nobody may stand still with him. The caller looks
    /// afterwards whether the file was replaced.
    pub(crate) fn wait_for(file: File) -> io::Result<Option<Self>> {
        let deadline = Instant::now() + LOCK_PATIENCE;
        while !ofd::try_lock(&file, Sharing::Exclusive)? {
            if Instant::now() >= deadline {
                return Ok(None);
            }
            // The kernel offers no wait for such a lock that ends by itself.
            thread::sleep(LOCK_RHYTHM);
        }
        Ok(Some(Self { file }))
    }

    fn take_with(
        directory: &Directory,
        name: &str,
        if_missing: IfMissing,
        try_lock: impl Fn(&File) -> io::Result<bool>,
    ) -> Result<Option<Self>, StoreError> {
        let path = || directory.path_of(name);
        for _ in 0..LOCK_REOPEN_MAX_TRIES {
            let file = match if_missing {
                IfMissing::Create => directory.open_or_create_file(name)?,
                IfMissing::Fail => directory
                    .open_file(name, Access::ReadWrite)?
                    .ok_or_else(|| StoreError::damaged(path(), "is missing"))?,
            };
            if !try_lock(&file).at(path())? {
                return Ok(None);
            }
            let lock = Self { file };
            if directory.identity_of(name)? == Some(identity(&lock.file).at(path())?) {
                return Ok(Some(lock));
            }
        }
        Err(StoreError::damaged(path(), "is replaced again and again"))
    }

    /// The locked file.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Writes down who holds the lock, in place of who held it before. Not synced: a power cut ends holders too.
    pub(crate) fn name_holder(&self, holder: &[u8]) -> io::Result<()> {
        self.file.set_len(0)?;
        self.file.write_all_at(holder, 0)
    }
}

/// Whether somebody holds a lock on the file; asks only, and so disturbs nobody.
pub(crate) fn is_locked(file: &File) -> io::Result<bool> {
    ofd::is_locked(file)
}

#[cfg(target_os = "linux")]
mod ofd {
    use std::fs::File;
    use std::io;

    use nix::errno::Errno;
    use nix::fcntl::{FcntlArg, fcntl};
    use nix::libc;

    use super::Sharing;

    fn whole_file(kind: libc::c_int) -> libc::flock {
        libc::flock {
            l_type: kind as libc::c_short,
            l_whence: libc::SEEK_SET as libc::c_short,
            l_start: 0,
            l_len: 0,
            l_pid: 0,
        }
    }

    pub(super) fn try_lock(file: &File, sharing: Sharing) -> io::Result<bool> {
        let kind = match sharing {
            Sharing::Exclusive => libc::F_WRLCK,
            Sharing::Shared => libc::F_RDLCK,
        };
        match fcntl(file, FcntlArg::F_OFD_SETLK(&whole_file(kind))) {
            Ok(_) => Ok(true),
            Err(Errno::EAGAIN | Errno::EACCES) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    pub(super) fn unlock(file: &File) -> io::Result<()> {
        fcntl(file, FcntlArg::F_OFD_SETLK(&whole_file(libc::F_UNLCK)))?;
        Ok(())
    }

    pub(super) fn is_locked(file: &File) -> io::Result<bool> {
        let mut found = whole_file(libc::F_WRLCK);
        fcntl(file, FcntlArg::F_OFD_GETLK(&mut found))?;
        Ok(libc::c_int::from(found.l_type) != libc::F_UNLCK)
    }
}

#[cfg(not(target_os = "linux"))]
mod ofd {
    use std::fs::File;
    use std::io;

    use super::Sharing;

    pub(super) fn try_lock(_: &File, _: Sharing) -> io::Result<bool> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn unlock(_: &File) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn is_locked(_: &File) -> io::Result<bool> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
