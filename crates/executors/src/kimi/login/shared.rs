//! Several runs at a time (runners.md 3.7): they work on one *generation* of the login, a copy that belongs to this runner. The
//! vendor's own lock, which lies in it, orders their refreshes.
//!
//! ```text
//! <data home>/kimi-shared-oauth/  current                      name of the generation that new runs join
//!                                 generation.XXXXXX/  credentials/  oauth/  device_id
//!                                                     baseline  digest of the user's credential that it goes with
//!                                                     users     locked by every run that works on it
//! ```
//!
//! The lock in the vendor's directory of the user covers two short sections: joining a generation, and publishing one.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{OpenOptionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::time::Duration;

use record::Sha256Digest;
use rustix::fs::{FlockOperation, flock};

use super::serialized::publish;
use super::{
    CREDENTIAL, CREDENTIAL_DIRECTORY, Files, Kept, LOCK_DIRECTORY, is_login, lock, lock_refusal,
    private_directory,
};
use crate::common::exit::Refusal;
use crate::common::lock::LockError;
use crate::kimi::files::{read_regular, replace, write_new};
use crate::kimi::knobs::Knobs;
use crate::kimi::limits::{CREDENTIAL_MAX_BYTES, RECORD_MAX_BYTES};

const ROOT: &str = "kimi-shared-oauth";
const CURRENT: &str = "current";
const PREFIX: &str = "generation.";
const BASELINE: &str = "baseline";
const USERS: &str = "users";

/// The login while several runs have it.
#[derive(Debug)]
pub(in crate::kimi) struct Shared {
    root: PathBuf,
    generation: Generation,
    ambient: PathBuf,
    wait: Duration,
    _user: File,
}

impl Shared {
    pub(super) fn begin(knobs: &Knobs, isolated: &Path) -> Result<Self, Refusal> {
        let ambient = &knobs.ambient;
        let failed = |error: io::Error| {
            Refusal::unavailable(format!("the shared Kimi login can not be used: {error}"))
        };
        let root = knobs.data_home.join(ROOT);
        private_directory(&root).map_err(failed)?;
        let root = root.canonicalize().map_err(failed)?;
        let _lock = lock(ambient, knobs.login_wait).map_err(|error| lock_refusal(ambient, error))?;
        let files = Files::read(ambient)?;
        files.demand_token()?;
        let generation = match Generation::current(&root).filter(|current| current.joins(&files, ambient)) {
            Some(current) => current,
            None => Generation::fill(&root, &files)?,
        };
        let user = generation.use_it().map_err(failed)?;
        remove_unused(&root, &generation);
        let link = |name: &str| symlink(generation.0.join(name), isolated.join(name));
        link(CREDENTIAL_DIRECTORY)
            .and_then(|()| link(LOCK_DIRECTORY))
            .and_then(|()| files.write_device(isolated))
            .map_err(failed)?;
        Ok(Self { root, generation, ambient: ambient.clone(), wait: knobs.login_wait, _user: user })
    }

    pub(super) fn writable(&self) -> Vec<PathBuf> {
        [CREDENTIAL_DIRECTORY, LOCK_DIRECTORY].map(|name| self.generation.0.join(name)).into()
    }

    pub(super) fn keep(&self) -> Kept {
        let _lock = match lock(&self.ambient, self.wait) {
            Ok(lock) => lock,
            // The next run that joins the generation publishes it.
            Err(LockError::Busy) => return Kept::Yes,
            Err(_) => return Kept::No,
        };
        match self.generation.refreshed() {
            Refreshed::No => Kept::Yes,
            Refreshed::Damaged => {
                // Else every later run would join what nobody can use; a file that is gone is what we want.
                if Generation::current(&self.root).is_some_and(|current| current == self.generation) {
                    let _ = fs::remove_file(self.root.join(CURRENT));
                }
                Kept::No
            }
            Refreshed::Yes(_) if Generation::current(&self.root).as_ref() != Some(&self.generation) => {
                Kept::Conflict
            }
            Refreshed::Yes(credential) => self.generation.publish(&self.ambient, &credential),
        }
    }
}

/// The directory of a generation.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Generation(PathBuf);

enum Refreshed {
    No,
    Yes(Vec<u8>),
    Damaged,
}

impl Generation {
    fn current(root: &Path) -> Option<Self> {
        let name = read_regular(&root.join(CURRENT), RECORD_MAX_BYTES).ok()?;
        let name = String::from_utf8(name).ok()?;
        let name = name.trim_end();
        let directory = root.join(name);
        let is_ours = name.starts_with(PREFIX) && !name.contains('/');
        (is_ours && fs::symlink_metadata(&directory).is_ok_and(|there| there.is_dir()))
            .then_some(Self(directory))
    }

    /// A new one from the user's login; from now on it is the current one.
    fn fill(root: &Path, files: &Files) -> Result<Self, Refusal> {
        let failed = |error: io::Error| Refusal::unavailable(format!("the login can not be shared: {error}"));
        let directory = tempfile::Builder::new().prefix(PREFIX).tempdir_in(root).map_err(failed)?;
        files.write(directory.path())?;
        let baseline = files.baseline().map(|digest| digest.to_string()).unwrap_or_default();
        write_new(&directory.path().join(BASELINE), baseline.as_bytes(), 0o600).map_err(failed)?;
        write_new(&directory.path().join(USERS), b"", 0o600).map_err(failed)?;
        let name = directory.path().file_name().unwrap_or_default().as_encoded_bytes().to_vec();
        replace(&root.join(CURRENT), &name).map_err(failed)?;
        Ok(Self(directory.keep()))
    }

    /// Whether a run may join it: it goes with the user's login, once what another run had to leave is published.
    fn joins(&self, files: &Files, ambient: &Path) -> bool {
        if self.baseline().is_none() || self.baseline() != files.baseline() {
            return false;
        }
        match self.refreshed() {
            Refreshed::No => true,
            Refreshed::Damaged => false,
            Refreshed::Yes(credential) => self.publish(ambient, &credential) == Kept::Yes,
        }
    }

    fn baseline(&self) -> Option<Sha256Digest> {
        let text = read_regular(&self.0.join(BASELINE), RECORD_MAX_BYTES).ok()?;
        std::str::from_utf8(&text).ok()?.parse().ok()
    }

    fn refreshed(&self) -> Refreshed {
        match read_regular(&self.0.join(CREDENTIAL), CREDENTIAL_MAX_BYTES) {
            Ok(bytes) if Some(Sha256Digest::of(&bytes)) == self.baseline() => Refreshed::No,
            Ok(bytes) if is_login(&bytes) => Refreshed::Yes(bytes),
            _ => Refreshed::Damaged,
        }
    }

    fn publish(&self, ambient: &Path, credential: &[u8]) -> Kept {
        match publish(&ambient.join(CREDENTIAL), self.baseline(), credential) {
            Kept::Yes => {
                let digest = Sha256Digest::of(credential).to_string();
                replace(&self.0.join(BASELINE), digest.as_bytes()).map_or(Kept::No, |()| Kept::Yes)
            }
            other => other,
        }
    }

    fn users(&self) -> io::Result<File> {
        OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(self.0.join(USERS))
    }

    /// Marks it as used for as long as the file is open.
    fn use_it(&self) -> io::Result<File> {
        let users = self.users()?;
        flock(&users, FlockOperation::NonBlockingLockShared)?;
        Ok(users)
    }
}

/// Removes generations that nobody works on any more.
fn remove_unused(root: &Path, current: &Generation) {
    for entry in fs::read_dir(root).into_iter().flatten().flatten() {
        let generation = Generation(entry.path());
        let is_one = entry.file_name().as_encoded_bytes().starts_with(OsStr::new(PREFIX).as_encoded_bytes());
        if !is_one || generation == *current {
            continue;
        }
        let is_unused = generation
            .users()
            .is_ok_and(|users| flock(&users, FlockOperation::NonBlockingLockExclusive).is_ok());
        if is_unused {
            // What is left of it is removed by the next run.
            let _ = fs::remove_dir_all(&generation.0);
        }
    }
}
