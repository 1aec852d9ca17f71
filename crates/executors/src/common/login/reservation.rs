//! Room on the disk for a login that may be refreshed, had before the vendor's program is started: the token that is refreshed works
//! once, so that a full disk must not keep the new one from its place.

use std::fs::{self, File};
use std::io::{self, Seek as _, Write as _};
use std::path::Path;

use rustix::fs::{FallocateFlags, FlockOperation, fallocate, flock};
use rustix::io::Errno;
use tempfile::NamedTempFile;

use crate::common::files::open_to_lock;
use crate::common::limits::LOGIN_MAX_BYTES;

const PREFIX: &str = ".delegation-kit-room.";

/// A file beside a login that has room for the longest one. It is locked for as long as it is ours, and dropping this removes it.
#[derive(Debug)]
pub(super) struct Reservation(NamedTempFile);

impl Reservation {
    /// Reserves room in the directory of a login. What a run that was killed had reserved there is given back.
    ///
    /// # Errors
    /// Those of the file system.
    pub(super) fn beside(login: &Path) -> io::Result<Self> {
        let directory = login.parent().ok_or_else(|| io::Error::other("no directory"))?;
        remove_abandoned(directory)?;
        let file = tempfile::Builder::new().prefix(PREFIX).tempfile_in(directory)?;
        flock(file.as_file(), FlockOperation::NonBlockingLockExclusive)?;
        match fallocate(file.as_file(), FallocateFlags::empty(), 0, LOGIN_MAX_BYTES) {
            // Such a file system gives room to what is written.
            Err(Errno::OPNOTSUPP | Errno::NOSYS) => {
                let zeros = io::Read::take(io::repeat(0), LOGIN_MAX_BYTES);
                io::copy(&mut { zeros }, &mut file.as_file())?;
                file.as_file().sync_all()?;
            }
            result => result?,
        }
        Ok(Self(file))
    }

    /// Writes a login into the room and puts it, with mode 600, in the place of another: whoever reads sees the old bytes or the
    /// new ones.
    ///
    /// # Errors
    /// Those of the file system.
    pub(super) fn replace(&self, login: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut file = self.0.as_file();
        file.rewind()?;
        file.write_all(bytes)?;
        file.set_len(bytes.len() as u64)?;
        file.sync_all()?;
        fs::rename(self.0.path(), login)?;
        File::open(login.parent().unwrap_or(login))?.sync_all()
    }
}

fn remove_abandoned(directory: &Path) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if !entry.file_name().as_encoded_bytes().starts_with(PREFIX.as_bytes()) {
            continue;
        }
        let is_abandoned = open_to_lock(&entry.path())
            .is_ok_and(|file| flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok());
        if is_abandoned {
            // Whatever stays takes room, and that is all.
            let _ = fs::remove_file(entry.path());
        }
    }
    Ok(())
}
