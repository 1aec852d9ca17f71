//! Locks between processes (runners.md 0.1): the kernel's lock on a file that holds the owner's pid.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

use super::limits::{LOCK_FILE_MAX_BYTES, LOCK_RETRY_MILLISECONDS};

/// A lock that is held. Dropping it removes the file and gives it up; the kernel does so for an owner that dies.
#[derive(Debug)]
pub struct Lock {
    file: File,
    path: PathBuf,
}

/// Why a lock is not held.
#[derive(Debug)]
pub enum LockError {
    /// A living process holds it.
    Busy,
    /// Something that is no regular file stands in its place.
    NotAFile,
    /// The file system refused.
    Io(io::Error),
}

impl From<io::Error> for LockError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<Errno> for LockError {
    fn from(error: Errno) -> Self {
        Self::Io(error.into())
    }
}

impl Lock {
    /// Takes the lock, and waits for it at most that long.
    ///
    /// A peer may know pid files alone: a file that names a living process is its lock, whether or not the kernel's is held.
    ///
    /// # Errors
    /// Any [`LockError`].
    pub fn acquire(path: &Path, wait: Duration) -> Result<Self, LockError> {
        let deadline = Instant::now().checked_add(wait);
        loop {
            match Self::attempt(path) {
                Err(LockError::Busy) if deadline.is_none_or(|deadline| Instant::now() < deadline) => {
                    // No event tells the end of a peer that knows pid files alone.
                    std::thread::sleep(Duration::from_millis(LOCK_RETRY_MILLISECONDS));
                }
                other => return other,
            }
        }
    }

    fn attempt(path: &Path) -> Result<Self, LockError> {
        let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
        let opened = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .custom_flags(flags)
            .open(path);
        let mut file = match opened {
            Ok(file) => file,
            Err(error) if error.raw_os_error() == Some(Errno::LOOP.raw_os_error()) => {
                return Err(LockError::NotAFile);
            }
            Err(error) if error.kind() == io::ErrorKind::IsADirectory => return Err(LockError::NotAFile),
            Err(error) => return Err(error.into()),
        };
        if !file.metadata()?.is_file() {
            return Err(LockError::NotAFile);
        }
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(Errno::WOULDBLOCK) => return Err(LockError::Busy),
            Err(error) => return Err(error.into()),
        }
        // The last owner may have removed the file between our opening and our lock.
        if !is_there(&file, path) {
            return Self::attempt(path);
        }
        let mut owner = String::new();
        // What is no text is no pid.
        let _ = (&file).take(LOCK_FILE_MAX_BYTES).read_to_string(&mut owner);
        if names_living_peer(&owner) {
            return Err(LockError::Busy);
        }
        file.set_len(0)?;
        file.rewind()?;
        writeln!(file, "{}", std::process::id())?;
        Ok(Self { file, path: path.to_path_buf() })
    }
}

/// Whether a file is the one at a path.
fn is_there(file: &File, path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|there| {
        file.metadata().is_ok_and(|ours| (there.dev(), there.ino()) == (ours.dev(), ours.ino()))
    })
}

fn names_living_peer(text: &str) -> bool {
    let Some(pid) = text.trim().parse::<i32>().ok().filter(|pid| *pid > 0).and_then(Pid::from_raw) else {
        return false;
    };
    // Our own number in a file that nobody holds is that of a dead process that had it before.
    pid != rustix::process::getpid() && !matches!(test_kill_process(pid), Err(Errno::SRCH))
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Removed while it is held, so that nobody's lock but ours is removed; somebody may have removed ours, and another may
        // stand in its place.
        if is_there(&self.file, &self.path) {
            let _ = fs::remove_file(&self.path);
        }
        let _ = flock(&self.file, FlockOperation::Unlock);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_owner_at_a_time() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("lock");
        let held = Lock::acquire(&path, Duration::ZERO).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), format!("{}\n", std::process::id()));
        assert!(matches!(Lock::acquire(&path, Duration::ZERO), Err(LockError::Busy)));
        drop(held);
        assert!(!path.exists());
        Lock::acquire(&path, Duration::ZERO).unwrap();
    }

    #[test]
    fn a_pid_file_of_a_living_peer_is_respected_and_that_of_a_dead_one_recovered() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("lock");
        let mut peer = std::process::Command::new("sleep").arg("600").spawn().unwrap();
        fs::write(&path, format!("{}\n", peer.id())).unwrap();
        assert!(matches!(Lock::acquire(&path, Duration::ZERO), Err(LockError::Busy)));
        peer.kill().unwrap();
        peer.wait().unwrap();
        Lock::acquire(&path, Duration::ZERO).unwrap();
        fs::write(&path, "no pid").unwrap();
        Lock::acquire(&path, Duration::ZERO).unwrap();
    }

    #[test]
    fn the_lock_of_somebody_else_in_the_place_of_ours_stays() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("lock");
        let first = Lock::acquire(&path, Duration::ZERO).unwrap();
        fs::remove_file(&path).unwrap();
        let second = Lock::acquire(&path, Duration::ZERO).unwrap();
        drop(first);
        assert!(path.exists());
        assert!(matches!(Lock::acquire(&path, Duration::ZERO), Err(LockError::Busy)));
        drop(second);
        assert!(!path.exists());
    }

    #[test]
    fn a_link_or_a_directory_is_no_lock() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("lock");
        std::os::unix::fs::symlink(directory.path().join("elsewhere"), &path).unwrap();
        assert!(matches!(Lock::acquire(&path, Duration::ZERO), Err(LockError::NotAFile)));
        assert!(matches!(Lock::acquire(directory.path(), Duration::ZERO), Err(LockError::NotAFile)));
        assert!(!directory.path().join("elsewhere").exists());
    }
}
