//! The user's login, which a run may refresh and must not lose (runners.md 3.6, 3.7).

mod serialized;
mod shared;

use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use record::Sha256Digest;
use serde_json::Value;

use super::files::{exists, read_regular, write_new};
use super::home::Home;
use super::knobs::{Knobs, LoginMode};
use super::limits::CREDENTIAL_MAX_BYTES;
use crate::common::exit::{Exit, Refusal};
use crate::common::lock::{Lock, LockError};
use serialized::Serialized;
use shared::Shared;

const CREDENTIAL: &str = "credentials/kimi-code.json";
const CREDENTIAL_DIRECTORY: &str = "credentials";
const LOCK_TARGET: &str = "oauth/kimi-code";
const LOCK_DIRECTORY: &str = "oauth";
const DEVICE: &str = "device_id";
/// The lock of this runner and its peers in the vendor's directory of the user.
const LOCK_FILE: &str = ".delegation-kit-oauth.lock";

/// How it went to keep a login that a run may have refreshed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kept {
    /// There is nothing to keep, or it is kept, or the next run will.
    Yes,
    /// Somebody else logged in meanwhile: that login wins.
    Conflict,
    /// What the vendor's program left is no login, or it can not be written.
    No,
}

/// A login that a run holds.
#[derive(Debug)]
pub(super) enum Login {
    /// This run alone.
    Serialized(Serialized),
    /// With other runs.
    Shared(Shared),
}

impl Login {
    /// Puts the login into a home.
    ///
    /// # Errors
    /// 75: another run has it, or it changed while it was copied. 69: there is none, or a file of it is none.
    pub(super) fn begin(mode: LoginMode, knobs: &Knobs, home: &Home) -> Result<Self, Refusal> {
        match mode {
            LoginMode::Serialized => Serialized::begin(&knobs.ambient, &home.kimi).map(Self::Serialized),
            LoginMode::Shared => Shared::begin(knobs, &home.kimi).map(Self::Shared),
        }
    }

    /// Keeps what the run refreshed; once the child has ended, however it ended.
    pub(super) fn keep(&self) -> Kept {
        match self {
            Self::Serialized(login) => login.keep(),
            Self::Shared(login) => login.keep(),
        }
    }

    /// Directories beyond its home that the child must be able to write.
    pub(super) fn writable(&self) -> Vec<PathBuf> {
        match self {
            Self::Serialized(_) => Vec::new(),
            Self::Shared(login) => login.writable(),
        }
    }
}

/// Keeps what a probe refreshed in its home, against all expectation.
///
/// # Errors
/// 75: another run has the login, or somebody logged in meanwhile. 69: it can not be kept.
pub(super) fn keep_of_probe(knobs: &Knobs, home: &Home, copied: &Files) -> Result<(), Refusal> {
    let isolated = read_regular(&home.kimi.join(CREDENTIAL), CREDENTIAL_MAX_BYTES).ok();
    if isolated == copied.credential {
        return Ok(());
    }
    match Serialized::adopt(&knobs.ambient, &home.kimi, copied)?.keep() {
        Kept::Yes => Ok(()),
        Kept::Conflict => Err(Refusal::new(Exit::Temporary, "somebody logged in to Kimi meanwhile")),
        Kept::No => Err(Refusal::unavailable("a login that a probe of kimi refreshed could not be kept")),
    }
}

/// The three files of a login.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Files {
    credential: Option<Vec<u8>>,
    lock_target: Option<Vec<u8>>,
    device: Option<Vec<u8>>,
}

impl Files {
    /// Reads them. Regular files alone, in directories that are none by a link.
    ///
    /// # Errors
    /// 69.
    pub(super) fn read(directory: &Path) -> Result<Self, Refusal> {
        let read = |name: &str| read(directory, name);
        Ok(Self { credential: read(CREDENTIAL)?, lock_target: read(LOCK_TARGET)?, device: read(DEVICE)? })
    }

    /// Refuses a login without any token. Whether one has expired is not looked at: access tokens live for minutes.
    ///
    /// # Errors
    /// 69.
    pub(super) fn demand_token(&self) -> Result<(), Refusal> {
        let tokens = self.credential.as_deref().map(tokens).unwrap_or_default();
        if tokens.iter().any(Option::is_some) {
            return Ok(());
        }
        Err(Refusal::login("Kimi Code holds no login; sign in with: kimi login"))
    }

    /// Writes them below a directory, each with mode 600.
    ///
    /// # Errors
    /// 69.
    pub(super) fn write(&self, directory: &Path) -> Result<(), Refusal> {
        let write = || -> io::Result<()> {
            private_directory(&directory.join(CREDENTIAL_DIRECTORY))?;
            private_directory(&directory.join(LOCK_DIRECTORY))?;
            for (name, bytes) in [(CREDENTIAL, &self.credential), (LOCK_TARGET, &self.lock_target)] {
                if let Some(bytes) = bytes {
                    write_new(&directory.join(name), bytes, 0o600)?;
                }
            }
            self.write_device(directory)
        };
        write().map_err(|error| Refusal::unavailable(format!("the login can not be copied: {error}")))
    }

    fn write_device(&self, directory: &Path) -> io::Result<()> {
        self.device.as_deref().map_or(Ok(()), |bytes| write_new(&directory.join(DEVICE), bytes, 0o600))
    }

    fn baseline(&self) -> Option<Sha256Digest> {
        self.credential.as_deref().map(Sha256Digest::of)
    }
}

fn read(directory: &Path, name: &str) -> Result<Option<Vec<u8>>, Refusal> {
    let path = directory.join(name);
    let refused = |why: &dyn std::fmt::Display| Refusal::unavailable(format!("{}: {why}", path.display()));
    let parent = path.parent().unwrap_or(directory);
    if fs::symlink_metadata(parent).is_ok_and(|metadata| metadata.is_symlink()) {
        return Err(refused(&"its directory is a symbolic link"));
    }
    if !exists(&path) {
        return Ok(None);
    }
    read_regular(&path, CREDENTIAL_MAX_BYTES).map(Some).map_err(|error| refused(&error))
}

fn private_directory(path: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Access and refresh token of a credential file, where it holds them.
fn tokens(credential: &[u8]) -> [Option<String>; 2] {
    let document: Value = serde_json::from_slice(credential).unwrap_or_default();
    let text = |name: &str| Some(document.get(name)?.as_str()?.to_owned()).filter(|token| !token.is_empty());
    [text("access_token"), text("refresh_token")]
}

/// Whether bytes are a whole login: both tokens.
fn is_login(credential: &[u8]) -> bool {
    tokens(credential).iter().all(Option::is_some)
}

/// Every token below a vendor's directory, to be found nowhere else.
pub(super) fn secrets(directories: &[&Path]) -> Vec<String> {
    let files = directories.iter().map(|directory| directory.join(CREDENTIAL));
    // Through the links of a shared login as well.
    let bytes = files.filter_map(|file| fs::read(file).ok());
    bytes.flat_map(|bytes| tokens(&bytes)).flatten().collect()
}

fn lock(ambient: &Path, wait: Duration) -> Result<Lock, LockError> {
    Lock::acquire(&ambient.join(LOCK_FILE), wait)
}

fn lock_refusal(ambient: &Path, error: LockError) -> Refusal {
    let path = ambient.join(LOCK_FILE);
    match error {
        LockError::Busy => Refusal::new(Exit::Temporary, "another run has the Kimi login"),
        LockError::NotAFile => Refusal::unavailable(format!("{} is no lock file", path.display())),
        LockError::Io(error) => Refusal::unavailable(format!("{}: {error}", path.display())),
    }
}
