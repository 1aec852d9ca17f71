//! The user's login at a vendor, which the vendor's program refreshes and which must not be lost (runners.md 3.6, 3.7, 4.6).
//!
//! A token that refreshes works once. So whoever starts the vendor's program with a login has the right to it first: alone, by the
//! lock in the vendor's directory of the user, or with others, who work on one copy ([`Shared`]). The right is held from before
//! the first probe to the end of the run, and what was refreshed goes back while it is held.

mod generation;
mod reservation;
pub mod tokens;

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use record::Sha256Digest;

use super::exit::{Exit, Failure, Phase, Refusal};
use super::family::{Family, Flag, FlagValue};
use super::files::read_regular;
use super::limits::LOGIN_MAX_BYTES;
use super::line::RunLine;
use super::lock::{Lock, LockError};
use super::program::{Stop, say};
pub use generation::{Joining, Shared};
use reservation::Reservation;

/// The lock of the runners and their peers in the vendor's directory of the user.
const LOCK_FILE: &str = ".delegation-kit-oauth.lock";

/// How a login is kept when runs refresh it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoginMode {
    /// One run at a time.
    Serialized,
    /// Runs share one copy, and the vendor's own lock orders their refreshes.
    Shared,
}

/// The flag that names a mode.
pub const LOGIN_FLAG: Flag = Flag { name: "--oauth", value: FlagValue::Checked(LoginMode::check) };

impl LoginMode {
    /// The mode that the command line names, if it names one.
    ///
    /// # Errors
    /// 64.
    pub fn of_line(line: &RunLine) -> Result<Option<Self>, Refusal> {
        line.own(LOGIN_FLAG.name).map(|mode| Self::of(&mode.to_string_lossy(), LOGIN_FLAG.name)).transpose()
    }

    fn check(mode: &OsStr) -> Result<(), Refusal> {
        Self::of(&mode.to_string_lossy(), LOGIN_FLAG.name).map(drop)
    }

    /// The mode of a name, which `said_by` has.
    ///
    /// # Errors
    /// 64.
    pub fn of(name: &str, said_by: &str) -> Result<Self, Refusal> {
        match name {
            "serialized" => Ok(Self::Serialized),
            "shared" => Ok(Self::Shared),
            _ => Err(Refusal::usage(format!("{said_by} must be serialized or shared"))),
        }
    }
}

/// What tells the login of one vendor from that of another.
#[derive(Debug)]
pub struct Kind {
    /// The vendor's name.
    pub vendor: &'static str,
    /// The vendor's program, by which the user signs in.
    pub program: &'static str,
    /// The file with the tokens, in the vendor's directory of the user.
    pub file: &'static str,
    /// The same file in a copy that runs share.
    pub shared_file: &'static str,
    /// The directory of such copies, in the data home of the runners.
    pub generations: &'static str,
    /// Whether a refreshed login is as good as the one that it comes from.
    pub replaces: fn(refreshed: &[u8], old: &[u8]) -> bool,
}

/// The login of this user.
#[derive(Clone, Debug)]
pub struct UserLogin {
    /// Of which vendor.
    pub kind: &'static Kind,
    /// The vendor's directory of the user.
    pub directory: PathBuf,
    /// The data home of the runners.
    pub data_home: PathBuf,
}

impl UserLogin {
    /// Takes the right to the login for this process alone. What runs that shared it had to leave is taken over first.
    ///
    /// # Errors
    /// 75: another run has it, or runs that share it are at work. 69: there is no such directory, or no lock can be had in it.
    pub fn take(&self) -> Result<Alone, Refusal> {
        let lock = self.lock(Duration::ZERO).map_err(|error| self.refusal(error))?;
        generation::take_over(self)?;
        Ok(Alone { user: self.clone(), _lock: lock })
    }

    /// Takes the right to the login together with other runs.
    ///
    /// # Errors
    /// 75: the lock is busy for as long as is waited for it, or the login changed while it was copied. 69: there is none, or no
    /// copy of it can be had.
    pub fn join(&self, joining: &Joining<'_>) -> Result<Shared, Refusal> {
        generation::join(self, joining)
    }

    fn file(&self) -> PathBuf {
        self.directory.join(self.kind.file)
    }

    fn read(&self) -> io::Result<Vec<u8>> {
        read_regular(&self.file(), LOGIN_MAX_BYTES)
    }

    fn lock(&self, wait: Duration) -> Result<Lock, LockError> {
        Lock::acquire(&self.directory.join(LOCK_FILE), wait)
    }

    fn refusal(&self, error: LockError) -> Refusal {
        let path = self.directory.join(LOCK_FILE);
        match error {
            LockError::Busy => {
                Refusal::new(Exit::Temporary, format!("another run has the {} login", self.kind.vendor))
            }
            LockError::NotAFile => Refusal::unavailable(format!("{} is no lock file", path.display())),
            LockError::Io(error) => Refusal::unavailable(format!("{}: {error}", path.display())),
        }
    }

    fn changed(&self) -> Refusal {
        Refusal::new(Exit::Temporary, format!("the {} login changed while it was copied", self.kind.vendor))
    }

    /// Puts a refreshed login by `replace` in the place of one of those that it comes from.
    fn publish(&self, baselines: &[Sha256Digest], replace: impl FnOnce(&Path) -> io::Result<()>) -> Kept {
        if !self.read().is_ok_and(|there| baselines.contains(&Sha256Digest::of(&there))) {
            return Kept::Conflict;
        }
        replace(&self.file()).map_or(Kept::No, |()| Kept::Yes)
    }
}

/// The right to a login.
#[derive(Debug)]
pub enum Login {
    /// Of this process alone.
    Alone(Alone),
    /// With other runs.
    Shared(Shared),
}

/// The right of one process alone; it ends when this is dropped.
#[derive(Debug)]
pub struct Alone {
    user: UserLogin,
    _lock: Lock,
}

impl Alone {
    /// Puts the login into a home by `copy`, which leaves the file with the tokens at `isolated`.
    ///
    /// # Errors
    /// That of the copy. 69: there is no room for what may be refreshed. 75: the login is another one by now; the user signs in without our lock.
    pub fn copied(
        &self,
        isolated: PathBuf,
        copy: impl FnOnce() -> Result<(), Refusal>,
    ) -> Result<Placed<'_>, Refusal> {
        copy()?;
        let baseline = read_regular(&isolated, LOGIN_MAX_BYTES).ok();
        if baseline.is_none() || baseline != self.user.read().ok() {
            return Err(self.user.changed());
        }
        let baseline = baseline.unwrap_or_default();
        let room = Reservation::beside(&self.user.file()).map_err(|error| {
            let file = self.user.file();
            Refusal::unavailable(format!("no room for a refreshed login beside {}: {error}", file.display()))
        })?;
        Ok(Placed::Copied(Copied { user: &self.user, baseline, isolated, room }))
    }
}

/// A login in the home of a child.
#[derive(Debug)]
pub enum Placed<'a> {
    /// As a copy.
    Copied(Copied<'a>),
    /// As the one that runs share.
    Shared(&'a Shared),
}

impl Placed<'_> {
    /// Keeps what a child refreshed; once it has ended, however it ended.
    pub fn keep(&self) -> Kept {
        match self {
            Self::Copied(copied) => copied.keep(),
            Self::Shared(shared) => shared.keep(),
        }
    }
}

/// A copy that one process has alone.
pub struct Copied<'a> {
    user: &'a UserLogin,
    baseline: Vec<u8>,
    isolated: PathBuf,
    room: Reservation,
}

impl std::fmt::Debug for Copied<'_> {
    /// Without the login.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Copied").field("isolated", &self.isolated).finish_non_exhaustive()
    }
}

impl Copied<'_> {
    fn keep(&self) -> Kept {
        match read_regular(&self.isolated, LOGIN_MAX_BYTES) {
            Ok(refreshed) if refreshed == self.baseline => Kept::Yes,
            Ok(refreshed) if (self.user.kind.replaces)(&refreshed, &self.baseline) => {
                let baseline = Sha256Digest::of(&self.baseline);
                self.user.publish(&[baseline], |file| self.room.replace(file, &refreshed))
            }
            _ => Kept::No,
        }
    }
}

/// How it went to keep a login that a child may have refreshed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// There is nothing to keep, or it is kept, or will be: by the next run, or by one that is at work in the same copy.
    Yes,
    /// Somebody else logged in meanwhile: that login wins.
    Conflict,
    /// What the vendor's program left is no login, or it can not be written.
    No,
}

impl Kept {
    /// Demands that nothing is lost before an answer is published.
    ///
    /// # Errors
    /// 75: another login wins. 70: the one that was refreshed is lost.
    pub const fn demand(self) -> Result<(), Failure> {
        match self {
            Self::Yes => Ok(()),
            Self::Conflict => Err(Failure::new(Exit::Temporary, Phase::OauthSync, "oauth_conflict")),
            Self::No => Err(Failure::new(Exit::Failed, Phase::OauthSync, "oauth_sync_failed")),
        }
    }

    /// Says on standard error that a login is lost, where the reason of the run is another or none at all.
    pub fn complain(self, kind: &Kind, family: &Family) {
        let why = match self {
            Self::Yes => return,
            Self::Conflict => "somebody logged in meanwhile, and that login stays".to_owned(),
            Self::No => format!(
                "what is left of it is no login, or can not be written; if {0} asks for it, sign in again with: {0} login",
                kind.program
            ),
        };
        say(family, &format!("the login that {} refreshed could not be kept: {why}", kind.program));
    }
}

/// What probes came to, once what they refreshed is kept.
///
/// # Errors
/// That of the probes; 75 or 69 where the login could not be kept, which a signal leaves to one line on standard error.
pub fn kept_of_probes<T>(
    asked: Result<T, Stop>,
    kept: Kept,
    kind: &Kind,
    family: &Family,
) -> Result<T, Stop> {
    match (asked, kept) {
        (Err(Stop::Interrupted(signal)), kept) => {
            kept.complain(kind, family);
            Err(Stop::Interrupted(signal))
        }
        (asked, Kept::Yes) => asked,
        (_, Kept::Conflict) => {
            let why = format!("somebody logged in to {} meanwhile", kind.vendor);
            Err(Refusal::new(Exit::Temporary, why).into())
        }
        (_, Kept::No) => {
            let why = format!("a login that a probe of {} refreshed could not be kept", kind.program);
            Err(Refusal::login(why).into())
        }
    }
}

/// 69: a login that can be used can not be copied.
pub fn not_copied(why: &dyn std::fmt::Display) -> Refusal {
    Refusal::unavailable(format!("the login can not be copied: {why}"))
}

/// Makes a directory that is closed to others, and those above it.
///
/// # Errors
/// Those of the file system.
pub fn private_directory(path: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}
