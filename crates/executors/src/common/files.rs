//! Reading and writing files that others may have put a trap in the place of.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::fs::OFlags;

/// The content of a regular file that is no symbolic link.
///
/// # Errors
/// Those of the file system; it is something else, or longer than `max` bytes.
pub fn read_regular(path: &Path, max: u64) -> io::Result<Vec<u8>> {
    let file = open_regular(path)?;
    let mut bytes = Vec::new();
    file.take(max + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max {
        return Err(io::Error::other(format!("longer than {max} bytes")));
    }
    Ok(bytes)
}

/// A regular file that is no symbolic link, for reading.
///
/// # Errors
/// Those of the file system; it is something else.
pub fn open_regular(path: &Path) -> io::Result<File> {
    regular(path, OpenOptions::new().read(true))
}

/// The same to lock it: an exclusive lock on NFS needs a descriptor that may write (flock(2)).
///
/// # Errors
/// Those of the file system; it is something else.
pub fn open_to_lock(path: &Path) -> io::Result<File> {
    regular(path, OpenOptions::new().read(true).write(true))
}

fn regular(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let file = options.custom_flags(flags).open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other("no regular file")) }
}

/// Writes a new file with a mode, durably.
///
/// # Errors
/// Those of the file system; it exists.
pub fn write_new(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Puts a file with mode 600 in the place of another: whoever reads sees the old bytes or the new ones.
///
/// # Errors
/// Those of the file system.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let directory = path.parent().ok_or_else(|| io::Error::other("no directory"))?;
    let mut staged = tempfile::Builder::new().prefix(".delegation.").tempfile_in(directory)?;
    staged.write_all(bytes)?;
    staged.as_file().sync_all()?;
    staged.persist(path).map_err(|error| error.error)?;
    File::open(directory)?.sync_all()
}

/// Whether something is there, whatever it is.
pub fn exists(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

/// Puts a directory in the place of another; where that fails, the old one is put back.
///
/// # Errors
/// Those of the file system.
pub fn swap(staged: &Path, current: &Path) -> io::Result<()> {
    let old = current.with_file_name(".old");
    if exists(&old) {
        remove(&old)?;
    }
    let had_one = exists(current);
    if had_one {
        fs::rename(current, &old)?;
    }
    if let Err(error) = fs::rename(staged, current) {
        if had_one {
            fs::rename(&old, current)?;
        }
        return Err(error);
    }
    if had_one { remove(&old) } else { Ok(()) }
}

fn remove(path: &Path) -> io::Result<()> {
    if fs::symlink_metadata(path)?.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }
}
