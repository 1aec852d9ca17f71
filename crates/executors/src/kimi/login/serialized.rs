//! One run at a time (runners.md 3.6): the lock is held for the whole run, and what it refreshed goes back at its end.

use std::path::{Path, PathBuf};
use std::time::Duration;

use record::Sha256Digest;

use super::{CREDENTIAL, Files, Kept, is_login, lock, lock_refusal};
use crate::common::exit::{Exit, Refusal};
use crate::common::lock::Lock;
use crate::kimi::files::{read_regular, replace};
use crate::kimi::limits::CREDENTIAL_MAX_BYTES;

/// The login while one run has it alone.
#[derive(Debug)]
pub(in crate::kimi) struct Serialized {
    ambient: PathBuf,
    isolated: PathBuf,
    baseline: Option<Sha256Digest>,
    _lock: Lock,
}

impl Serialized {
    pub(super) fn begin(ambient: &Path, isolated: &Path) -> Result<Self, Refusal> {
        let lock = lock(ambient, Duration::ZERO).map_err(|error| lock_refusal(ambient, error))?;
        let files = Files::read(ambient)?;
        files.demand_token()?;
        files.write(isolated)?;
        if Files::read(ambient)? != files {
            return Err(Refusal::new(Exit::Temporary, "the Kimi login changed while it was copied"));
        }
        Ok(Self::of(ambient, isolated, &files, lock))
    }

    /// Takes the lock for a copy that was made without it.
    pub(super) fn adopt(ambient: &Path, isolated: &Path, copied: &Files) -> Result<Self, Refusal> {
        let lock = lock(ambient, Duration::ZERO).map_err(|error| lock_refusal(ambient, error))?;
        Ok(Self::of(ambient, isolated, copied, lock))
    }

    fn of(ambient: &Path, isolated: &Path, files: &Files, lock: Lock) -> Self {
        Self {
            ambient: ambient.join(CREDENTIAL),
            isolated: isolated.join(CREDENTIAL),
            baseline: files.baseline(),
            _lock: lock,
        }
    }

    pub(super) fn keep(&self) -> Kept {
        let Ok(refreshed) = read_regular(&self.isolated, CREDENTIAL_MAX_BYTES) else { return Kept::No };
        if self.baseline == Some(Sha256Digest::of(&refreshed)) {
            return Kept::Yes;
        }
        if !is_login(&refreshed) {
            return Kept::No;
        }
        publish(&self.ambient, self.baseline, &refreshed)
    }
}

/// Puts a refreshed credential in the place of the one that it comes from.
pub(super) fn publish(ambient: &Path, baseline: Option<Sha256Digest>, refreshed: &[u8]) -> Kept {
    let there = read_regular(ambient, CREDENTIAL_MAX_BYTES).ok().map(|bytes| Sha256Digest::of(&bytes));
    if there.is_none() || there != baseline {
        return Kept::Conflict;
    }
    replace(ambient, refreshed).map_or(Kept::No, |()| Kept::Yes)
}
