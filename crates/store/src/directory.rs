//! One open directory and what is done below it: relative to its descriptor, never through a symbolic link, and with the
//! kind, owner and mode of whatever is opened checked (STATE.md 1).

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use crate::error::{At, StoreError};
use crate::limits::NAME_MAX_BYTES;

/// Mode of every file of ours but the brief.
pub(crate) const FILE_MODE: u32 = 0o600;
/// Mode of every directory of ours.
const DIRECTORY_MODE: u32 = 0o700;
/// Without these an open could follow a link, wait for a FIFO's other end, or leak into a child.
const ALWAYS: OFlags = OFlags::NOFOLLOW.union(OFlags::CLOEXEC).union(OFlags::NONBLOCK).union(OFlags::NOCTTY);

/// Device and inode: one file, whatever its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    device: u64,
    inode: u64,
}

impl Identity {
    fn of(stat: &Stat) -> Self {
        Self { device: stat.st_dev, inode: stat.st_ino }
    }
}

/// The identity of an open file.
pub(crate) fn identity(file: &File) -> io::Result<Identity> {
    Ok(Identity::of(&rustix::fs::fstat(file)?))
}

/// How a file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// To look.
    Read,
    /// To change in place, or to lock.
    ReadWrite,
    /// To read, and to write at its end.
    Append,
}

/// What is asked of something that exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Privacy {
    /// Ours, and no bit for group or others.
    Private,
    /// Ours. The provider writes there and may change modes.
    Owned,
}

/// An open directory.
#[derive(Debug)]
pub(crate) struct Directory {
    file: File,
    path: PathBuf,
}

impl Directory {
    /// Opens a directory by its path; only its last component is checked.
    pub(crate) fn open(path: &Path) -> Result<Self, StoreError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | ALWAYS;
        let descriptor =
            rustix::fs::open(path, flags, Mode::empty()).map_err(|error| not_a_directory(path, error))?;
        let directory = Self::from(descriptor, path.to_owned());
        directory.checked(Privacy::Private)
    }

    /// Takes a descriptor as a directory.
    pub(crate) fn from_descriptor(
        descriptor: OwnedFd,
        path: PathBuf,
        privacy: Privacy,
    ) -> Result<Self, StoreError> {
        Self::from(descriptor, path).checked(privacy)
    }

    fn from(descriptor: OwnedFd, path: PathBuf) -> Self {
        Self { file: File::from(descriptor), path }
    }

    fn checked(self, privacy: Privacy) -> Result<Self, StoreError> {
        let stat = rustix::fs::fstat(&self.file).at(&self.path)?;
        match complaint(&stat, privacy, &self.path) {
            None => Ok(self),
            Some(why) => Err(StoreError::damaged(self.path, why)),
        }
    }

    /// Where it was opened.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The path of something in it.
    pub(crate) fn path_of(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// The same directory under the path that it has now.
    pub(crate) fn renamed(self, path: PathBuf) -> Self {
        Self { path, ..self }
    }

    /// The directory's own identity.
    pub(crate) fn identity(&self) -> Result<Identity, StoreError> {
        identity(&self.file).at(&self.path)
    }

    /// Its descriptor.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// A directory in it; `None` when there is nothing of that name.
    pub(crate) fn child(&self, name: &str, privacy: Privacy) -> Result<Option<Self>, StoreError> {
        let path = self.path_of(name);
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | ALWAYS;
        match rustix::fs::openat(&self.file, name, flags, Mode::empty()) {
            Ok(descriptor) => Self::from(descriptor, path).checked(privacy).map(Some),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(not_a_directory(&path, error)),
        }
    }

    /// A directory in it that must be there.
    pub(crate) fn required_child(&self, name: &str) -> Result<Self, StoreError> {
        self.child(name, Privacy::Private)?
            .ok_or_else(|| StoreError::damaged(self.path_of(name), "is missing"))
    }

    /// Makes a directory; `false` when something of that name is there.
    pub(crate) fn make(&self, name: &str) -> io::Result<bool> {
        match rustix::fs::mkdirat(&self.file, name, Mode::from_raw_mode(DIRECTORY_MODE as _)) {
            Ok(()) => Ok(true),
            Err(Errno::EXIST) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// A regular, private file in it; `None` when there is nothing of that name.
    pub(crate) fn open_file(&self, name: &str, access: Access) -> Result<Option<File>, StoreError> {
        self.open_checked(name, access, Privacy::Private)
    }

    /// A regular file in it; `None` when there is nothing of that name.
    pub(crate) fn open_checked(
        &self,
        name: &str,
        access: Access,
        privacy: Privacy,
    ) -> Result<Option<File>, StoreError> {
        let path = self.path_of(name);
        let mode = match access {
            Access::Read => OFlags::RDONLY,
            Access::ReadWrite => OFlags::RDWR,
            Access::Append => OFlags::RDWR | OFlags::APPEND,
        };
        let file = match rustix::fs::openat(&self.file, name, mode | ALWAYS, Mode::empty()) {
            Ok(descriptor) => File::from(descriptor),
            Err(Errno::NOENT) => return Ok(None),
            Err(Errno::ISDIR | Errno::NXIO) => {
                return Err(StoreError::damaged(path, "is not a regular file"));
            }
            Err(error) => return Err(StoreError::at(path, error)),
        };
        checked_file(file, privacy, path).map(Some)
    }

    /// A private file in it, made when missing, for reading and writing.
    pub(crate) fn open_or_create_file(&self, name: &str) -> Result<File, StoreError> {
        let path = self.path_of(name);
        let flags = OFlags::RDWR | OFlags::CREATE | ALWAYS;
        let file =
            rustix::fs::openat(&self.file, name, flags, Mode::from_raw_mode(FILE_MODE as _)).at(&path)?;
        checked_file(File::from(file), Privacy::Private, path)
    }

    /// Makes a file that was not there, for writing and reading back.
    pub(crate) fn create_file(&self, name: &str, mode: u32) -> io::Result<File> {
        self.create_with(name, mode, OFlags::RDWR)
    }

    /// Makes a file that was not there, for writing at its end.
    pub(crate) fn create_stream(&self, name: &str) -> io::Result<File> {
        self.create_with(name, FILE_MODE, OFlags::WRONLY | OFlags::APPEND)
    }

    fn create_with(&self, name: &str, mode: u32, access: OFlags) -> io::Result<File> {
        let flags = access | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(File::from(rustix::fs::openat(&self.file, name, flags, Mode::from_raw_mode(mode as _))?))
    }

    /// All bytes of a private file, at most `limit` of them; `None` when there is nothing of that name.
    pub(crate) fn read_file(&self, name: &str, limit: u64) -> Result<Option<Vec<u8>>, StoreError> {
        let Some(file) = self.open_file(name, Access::Read)? else {
            return Ok(None);
        };
        let path = self.path_of(name);
        let too_large = || StoreError::damaged(&path, format!("is larger than {limit} bytes"));
        let length = file.metadata().at(&path)?.len();
        if length > limit {
            return Err(too_large());
        }
        let mut bytes = Vec::with_capacity(length as usize + 1);
        file.take(limit + 1).read_to_end(&mut bytes).at(&path)?;
        if bytes.len() as u64 > limit { Err(too_large()) } else { Ok(Some(bytes)) }
    }

    /// What stands under a name, links not followed.
    pub(crate) fn identity_of(&self, name: &str) -> Result<Option<Identity>, StoreError> {
        match rustix::fs::statat(&self.file, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(Identity::of(&stat))),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(StoreError::at(self.path_of(name), error)),
        }
    }

    /// Makes its entries durable.
    pub(crate) fn sync(&self) -> io::Result<()> {
        self.file.sync_all()?;
        fault::synced(&self.file);
        Ok(())
    }

    /// Removes a file; `false` when there is nothing of that name.
    pub(crate) fn remove_file(&self, name: &str) -> io::Result<bool> {
        self.remove(name, AtFlags::empty())
    }

    /// Removes an empty directory; `false` when there is nothing of that name.
    pub(crate) fn remove_directory(&self, name: &str) -> io::Result<bool> {
        self.remove(name, AtFlags::REMOVEDIR)
    }

    fn remove(&self, name: &str, flags: AtFlags) -> io::Result<bool> {
        match rustix::fs::unlinkat(&self.file, name, flags) {
            Ok(()) => Ok(true),
            Err(Errno::NOENT) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// At most `limit` of the names in it, in no order, without one.
    pub(crate) fn first_names(&self, limit: usize, without: &str) -> Result<Vec<OsString>, StoreError> {
        let mut names = Vec::new();
        for entry in rustix::fs::Dir::read_from(&self.file).at(&self.path)? {
            let name = OsString::from_vec(entry.at(&self.path)?.file_name().to_bytes().to_vec());
            if ![".", "..", without].iter().any(|other| name == **other) {
                names.push(name);
            }
            if names.len() >= limit {
                break;
            }
        }
        Ok(names)
    }

    /// The names in it that are UTF-8, in no order. Never called on a directory of tasks.
    pub(crate) fn names(&self) -> Result<Vec<String>, StoreError> {
        let mut names = Vec::new();
        for entry in rustix::fs::Dir::read_from(&self.file).at(&self.path)? {
            let name = entry.at(&self.path)?.file_name().to_bytes().to_vec();
            if let Ok(name) = OsString::from_vec(name).into_string()
                && name != "."
                && name != ".."
            {
                names.push(name);
            }
        }
        Ok(names)
    }
}

fn checked_file(file: File, privacy: Privacy, path: PathBuf) -> Result<File, StoreError> {
    let stat = rustix::fs::fstat(&file).at(&path)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(StoreError::damaged(path, "is not a regular file"));
    }
    match complaint(&stat, privacy, &path) {
        None => Ok(file),
        Some(why) => Err(StoreError::damaged(path, why)),
    }
}

/// With `O_DIRECTORY` a symbolic link fails as what it is not.
fn not_a_directory(path: &Path, error: Errno) -> StoreError {
    match error {
        Errno::NOTDIR | Errno::LOOP => StoreError::damaged(path, "is a symbolic link or not a directory"),
        error => StoreError::at(path, error),
    }
}

/// What is wrong with owner and mode, and the remedy.
fn complaint(stat: &Stat, privacy: Privacy, path: &Path) -> Option<String> {
    let user = rustix::process::geteuid().as_raw();
    let mode = stat.st_mode & 0o7777;
    if stat.st_uid != user {
        Some(format!("belongs to user {}, not to user {user}", stat.st_uid))
    } else if privacy == Privacy::Private && mode & 0o077 != 0 {
        Some(format!("mode {mode:04o} is open to others; run: chmod {:o} '{}'", mode & 0o700, path.display()))
    } else {
        None
    }
}

/// A name from outside that may stand in the root.
pub(crate) fn plain_name(name: &str) -> Result<&str, StoreError> {
    let plain = !name.is_empty()
        && name.len() <= NAME_MAX_BYTES
        && !name.starts_with('.')
        && !name.bytes().any(|byte| matches!(byte, b'/' | 0));
    if plain { Ok(name) } else { Err(StoreError::InvalidName) }
}
