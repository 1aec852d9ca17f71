//! The user's login, which a run may refresh and must not lose (runners.md 4.6).

mod shared;

use std::path::{Path, PathBuf};
use std::time::Duration;

use record::Sha256Digest;
use serde_json::Value;

use super::home::{Home, LOGIN, SandboxProfile};
use super::knobs::{Knobs, LoginMode};
use super::limits::LOGIN_MAX_BYTES;
use crate::common::exit::{Exit, Refusal};
use crate::common::files::{read_regular, replace, write_new};
use crate::common::lock::{Lock, LockError};
use shared::Shared;

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
    /// This run alone: the lock is held for as long as this lives.
    Serialized(Copied, #[allow(dead_code, reason = "held, not read")] Lock),
    /// With other runs.
    Shared(Shared),
}

impl Login {
    /// Puts the login into a home, and returns the home that the child gets.
    ///
    /// # Errors
    /// 75: another run has it, or it changed while it was copied. 69: there is none.
    pub(super) fn begin(
        mode: LoginMode,
        knobs: &Knobs,
        home: Home,
        profile: &SandboxProfile,
    ) -> Result<(Self, Home), Refusal> {
        let ambient = &knobs.ambient;
        match mode {
            LoginMode::Serialized => {
                let lock = lock(ambient, Duration::ZERO).map_err(|error| lock_refusal(ambient, error))?;
                let copied = copy(ambient, &home.vendor)?;
                if read(ambient)? != copied.bytes {
                    return Err(Refusal::new(Exit::Temporary, "the Grok login changed while it was copied"));
                }
                Ok((Self::Serialized(copied, lock), home))
            }
            LoginMode::Shared => {
                let shared = Shared::begin(knobs, profile)?;
                let home = home.with_shared(&shared.vendor());
                Ok((Self::Shared(shared), home))
            }
        }
    }

    /// Keeps what the run refreshed; once the child has ended, however it ended.
    pub(super) fn keep(&self) -> Kept {
        match self {
            Self::Serialized(copied, _) => copied.keep(),
            Self::Shared(shared) => shared.keep(),
        }
    }
}

/// A copy of the user's login in a private home.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Copied {
    bytes: Vec<u8>,
    ambient: PathBuf,
    isolated: PathBuf,
}

impl std::fmt::Debug for Copied {
    /// Without the login.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Copied").field("ambient", &self.ambient).finish_non_exhaustive()
    }
}

/// Copies the login; where nobody holds the lock, what changes meanwhile is seen when it is kept.
///
/// # Errors
/// 69.
pub(super) fn copy(ambient: &Path, isolated: &Path) -> Result<Copied, Refusal> {
    let bytes = read(ambient)?;
    write_new(&isolated.join(LOGIN), &bytes, 0o600)
        .map_err(|error| Refusal::unavailable(format!("the login can not be copied: {error}")))?;
    Ok(Copied { bytes, ambient: ambient.join(LOGIN), isolated: isolated.join(LOGIN) })
}

impl Copied {
    fn keep(&self) -> Kept {
        match read_regular(&self.isolated, LOGIN_MAX_BYTES) {
            Ok(refreshed) if refreshed == self.bytes => Kept::Yes,
            Ok(refreshed) if replaces(&refreshed, &self.bytes) => {
                publish(&self.ambient, Some(Sha256Digest::of(&self.bytes)), &refreshed)
            }
            _ => Kept::No,
        }
    }
}

/// Keeps what a probe refreshed in its home.
///
/// # Errors
/// 75: another run has the login, or somebody logged in meanwhile. 69: it can not be kept.
pub(super) fn keep_of_probe(knobs: &Knobs, copied: &Copied) -> Result<(), Refusal> {
    if read_regular(&copied.isolated, LOGIN_MAX_BYTES).is_ok_and(|bytes| bytes == copied.bytes) {
        return Ok(());
    }
    let _lock = lock(&knobs.ambient, Duration::ZERO).map_err(|error| lock_refusal(&knobs.ambient, error))?;
    match copied.keep() {
        Kept::Yes => Ok(()),
        Kept::Conflict => Err(Refusal::new(Exit::Temporary, "somebody logged in to Grok meanwhile")),
        Kept::No => Err(Refusal::unavailable("a login that a probe of grok refreshed could not be kept")),
    }
}

/// The user's login.
///
/// # Errors
/// 69.
fn read(ambient: &Path) -> Result<Vec<u8>, Refusal> {
    let path = ambient.join(LOGIN);
    let refused = |why: &dyn std::fmt::Display| {
        Refusal::login(format!("{}: {why}; sign in with: grok login", path.display()))
    };
    let bytes = read_regular(&path, LOGIN_MAX_BYTES).map_err(|error| refused(&error))?;
    if Tokens::of(&bytes).any { Ok(bytes) } else { Err(refused(&"it holds no login")) }
}

/// Which kinds of token a login holds.
#[derive(Clone, Copy, Default)]
struct Tokens {
    any: bool,
    refresh: bool,
}

impl Tokens {
    fn of(login: &[u8]) -> Self {
        let mut tokens = Self::default();
        if let Ok(document @ Value::Object(_)) = serde_json::from_slice(login) {
            tokens.look(&document);
        }
        tokens
    }

    /// Tokens stand in members of members: one for each service.
    fn look(&mut self, value: &Value) {
        let Value::Object(members) = value else { return };
        for (name, value) in members {
            let name = name.to_ascii_lowercase();
            if value.as_str().is_some_and(|text| !text.is_empty()) {
                self.any |= name == "key" || name.contains("token");
                self.refresh |= name.contains("refresh");
            }
            self.look(value);
        }
    }
}

/// Whether a login is as good as the one that it comes from.
fn replaces(refreshed: &[u8], old: &[u8]) -> bool {
    let (new, old) = (Tokens::of(refreshed), Tokens::of(old));
    new.any && (new.refresh || !old.refresh)
}

/// Puts a refreshed login in the place of the one that it comes from.
fn publish(ambient: &Path, baseline: Option<Sha256Digest>, refreshed: &[u8]) -> Kept {
    let there = read_regular(ambient, LOGIN_MAX_BYTES).ok().map(|bytes| Sha256Digest::of(&bytes));
    if there.is_none() || there != baseline {
        return Kept::Conflict;
    }
    replace(ambient, refreshed).map_or(Kept::No, |()| Kept::Yes)
}

fn lock(ambient: &Path, wait: Duration) -> Result<Lock, LockError> {
    Lock::acquire(&ambient.join(LOCK_FILE), wait)
}

fn lock_refusal(ambient: &Path, error: LockError) -> Refusal {
    let path = ambient.join(LOCK_FILE);
    match error {
        LockError::Busy => Refusal::new(Exit::Temporary, "another run has the Grok login"),
        LockError::NotAFile => Refusal::unavailable(format!("{} is no lock file", path.display())),
        LockError::Io(error) => Refusal::unavailable(format!("{}: {error}", path.display())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_is_an_object_with_tokens_and_keeps_its_kinds() {
        let old = br#"{"https://accounts.x.ai":{"key":"a","refresh_token":"b"}}"#;
        for (new, expected) in [
            (&br#"{"https://accounts.x.ai":{"key":"c","refresh_token":"d"}}"#[..], true),
            (br#"{"access_token":"c","refreshToken":"d"}"#, true),
            (br#"{"https://accounts.x.ai":{"key":"c"}}"#, false),
            (br#"{"https://accounts.x.ai":{"key":"","refresh_token":""}}"#, false),
            (b"{}", false),
            (b"[]", false),
            (b"{", false),
            (b"", false),
        ] {
            assert_eq!(replaces(new, old), expected, "{}", String::from_utf8_lossy(new));
        }
        assert!(replaces(br#"{"key":"c"}"#, br#"{"key":"a"}"#));
    }
}
