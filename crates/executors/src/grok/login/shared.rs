//! Several runs at a time: they work in one *generation* of the vendor's directory, which belongs to this runner. The vendor's own
//! lock, which lies in it, orders their refreshes.
//!
//! ```text
//! <data home>/grok-shared-oauth/  current                    name of the generation that new runs join
//!                                 generation.XXXXXX/  .grok/     the vendor's directory: login, configuration, all profiles
//!                                                     baseline   digest of the user's login that it goes with
//!                                                     users/     one file for each run, locked by it: its sandbox profile
//! ```
//!
//! The lock in the vendor's directory of the user covers joining a generation, publishing it and leaving it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use record::Sha256Digest;
use rustix::fs::{FlockOperation, flock};

use super::{Kept, lock, lock_refusal, publish, read, replaces};
use crate::common::exit::Refusal;
use crate::common::files::{read_regular, replace, write_new};
use crate::common::lock::LockError;
use crate::grok::home::{CONFIG, CONFIG_FILE, EVENTS_FILE, LOGIN, SANDBOX_FILE, SandboxProfile, VENDOR};
use crate::grok::knobs::Knobs;
use crate::grok::limits::{LOGIN_MAX_BYTES, LOGIN_WAIT_SECONDS, RECORD_MAX_BYTES};

const ROOT: &str = "grok-shared-oauth";
const CURRENT: &str = "current";
const PREFIX: &str = "generation.";
const BASELINE: &str = "baseline";
const USERS: &str = "users";
const WAIT: Duration = Duration::from_secs(LOGIN_WAIT_SECONDS);

/// The login while several runs have it.
#[derive(Debug)]
pub(in crate::grok) struct Shared {
    root: PathBuf,
    ambient: PathBuf,
    generation: Generation,
    user: PathBuf,
    _held: File,
}

impl Shared {
    pub(super) fn begin(knobs: &Knobs, profile: &SandboxProfile) -> Result<Self, Refusal> {
        let ambient = &knobs.ambient;
        let failed = |error: io::Error| {
            Refusal::unavailable(format!("the shared Grok login can not be used: {error}"))
        };
        let root = knobs.data_home.join(ROOT);
        private_directory(&root).map_err(failed)?;
        let root = root.canonicalize().map_err(failed)?;
        let _lock = lock(ambient, WAIT).map_err(|error| lock_refusal(ambient, error))?;
        let login = read(ambient)?;
        let current = Generation::current(&root).filter(|current| current.joins(&login, ambient));
        let generation = match current {
            Some(current) => current,
            None => Generation::fill(&root, &login).map_err(failed)?,
        };
        remove_unused(&root, &generation);
        let (user, held) = generation.join(profile).map_err(failed)?;
        Ok(Self { root, ambient: ambient.clone(), generation, user, _held: held })
    }

    /// The vendor's directory of the generation.
    pub(super) fn vendor(&self) -> PathBuf {
        self.generation.vendor()
    }

    pub(super) fn keep(&self) -> Kept {
        let _lock = match lock(&self.ambient, WAIT) {
            Ok(lock) => lock,
            // The next run that joins the generation publishes it and takes our profile away.
            Err(LockError::Busy) => return Kept::Yes,
            Err(_) => return Kept::No,
        };
        let is_current = Generation::current(&self.root).as_ref() == Some(&self.generation);
        let kept = match self.generation.refreshed() {
            Refreshed::No => Kept::Yes,
            Refreshed::Damaged => {
                // Else every later run would join what nobody can use; a file that is gone is what we want.
                if is_current {
                    let _ = fs::remove_file(self.root.join(CURRENT));
                }
                Kept::No
            }
            Refreshed::Yes(_) if !is_current => Kept::Conflict,
            Refreshed::Yes(login) => self.generation.publish(&self.ambient, &login),
        };
        // A profile that stays is one that no run uses.
        let _ = fs::remove_file(&self.user).and_then(|()| self.generation.write_profiles(None));
        kept
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
        let directory = root.join(&name);
        let is_ours = name.starts_with(PREFIX) && !name.contains('/');
        (is_ours && fs::symlink_metadata(&directory).is_ok_and(|there| there.is_dir()))
            .then_some(Self(directory))
    }

    fn vendor(&self) -> PathBuf {
        self.0.join(VENDOR)
    }

    /// A new one from the user's login; from now on it is the current one.
    fn fill(root: &Path, login: &[u8]) -> io::Result<Self> {
        let directory = tempfile::Builder::new()
            .prefix(PREFIX)
            .permissions(fs::Permissions::from_mode(0o700))
            .tempdir_in(root)?;
        let generation = Self(directory.path().to_path_buf());
        private_directory(&generation.vendor())?;
        private_directory(&generation.0.join(USERS))?;
        write_new(&generation.vendor().join(LOGIN), login, 0o600)?;
        write_new(&generation.0.join(BASELINE), Sha256Digest::of(login).to_string().as_bytes(), 0o600)?;
        // The name behind the last step is what makes it the current one.
        let name = directory.path().file_name().unwrap_or_default().as_encoded_bytes().to_vec();
        replace(&root.join(CURRENT), &name)?;
        let _ = directory.keep();
        Ok(generation)
    }

    /// Whether a run may join it: it goes with the user's login, once what another run had to leave is published.
    fn joins(&self, login: &[u8], ambient: &Path) -> bool {
        if self.baseline() != Some(Sha256Digest::of(login)) {
            return false;
        }
        match self.refreshed() {
            Refreshed::No => true,
            Refreshed::Damaged => false,
            Refreshed::Yes(refreshed) => self.publish(ambient, &refreshed) == Kept::Yes,
        }
    }

    fn baseline(&self) -> Option<Sha256Digest> {
        let text = read_regular(&self.0.join(BASELINE), RECORD_MAX_BYTES).ok()?;
        std::str::from_utf8(&text).ok()?.parse().ok()
    }

    fn refreshed(&self) -> Refreshed {
        match read_regular(&self.vendor().join(LOGIN), LOGIN_MAX_BYTES) {
            Ok(bytes) if Some(Sha256Digest::of(&bytes)) == self.baseline() => Refreshed::No,
            Ok(bytes) if replaces(&bytes, b"{}") => Refreshed::Yes(bytes),
            _ => Refreshed::Damaged,
        }
    }

    fn publish(&self, ambient: &Path, login: &[u8]) -> Kept {
        let place = ambient.join(LOGIN);
        let old = read_regular(&place, LOGIN_MAX_BYTES).unwrap_or_default();
        if self.baseline() == Some(Sha256Digest::of(&old)) && !replaces(login, &old) {
            return Kept::No;
        }
        match publish(&place, self.baseline(), login) {
            Kept::Yes => {
                let digest = Sha256Digest::of(login).to_string();
                replace(&self.0.join(BASELINE), digest.as_bytes()).map_or(Kept::No, |()| Kept::Yes)
            }
            other => other,
        }
    }

    /// Adds a run, whose file is locked for as long as it lives.
    fn join(&self, profile: &SandboxProfile) -> io::Result<(PathBuf, File)> {
        let path = self.0.join(USERS).join(&profile.name);
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        file.write_all(profile.section().as_bytes())?;
        flock(&file, FlockOperation::NonBlockingLockExclusive)?;
        replace(&self.vendor().join(CONFIG_FILE), CONFIG.as_bytes())?;
        self.write_profiles(Some(profile))?;
        Ok((path, file))
    }

    /// Every profile that a living run uses, and that of the run that joins.
    fn write_profiles(&self, joining: Option<&SandboxProfile>) -> io::Result<()> {
        let mut text = joining.map(SandboxProfile::section).unwrap_or_default();
        let others = self.living_users(joining.map(|profile| profile.name.as_str()))?;
        if others.is_empty() && joining.is_some() {
            // What runs before it attested needs nobody any more.
            match fs::remove_file(self.vendor().join(EVENTS_FILE)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        others.iter().for_each(|section| text.push_str(section));
        replace(&self.vendor().join(SANDBOX_FILE), text.as_bytes())
    }

    /// The sections of living runs but one; the files of dead ones are removed.
    fn living_users(&self, but: Option<&str>) -> io::Result<Vec<String>> {
        let mut sections = Vec::new();
        for entry in fs::read_dir(self.0.join(USERS))? {
            let entry = entry?;
            if but.is_some_and(|name| entry.file_name() == name) {
                continue;
            }
            let mut file = File::open(entry.path())?;
            if flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok() {
                fs::remove_file(entry.path())?;
                continue;
            }
            let mut text = String::new();
            file.read_to_string(&mut text)?;
            sections.push(text);
        }
        Ok(sections)
    }
}

/// Removes generations that nobody works in any more.
fn remove_unused(root: &Path, current: &Generation) {
    for entry in fs::read_dir(root).into_iter().flatten().flatten() {
        let generation = Generation(entry.path());
        let is_one = entry.file_name().as_encoded_bytes().starts_with(PREFIX.as_bytes());
        if is_one
            && generation != *current
            && generation.living_users(None).is_ok_and(|users| users.is_empty())
        {
            // What is left of it is removed by the next run.
            let _ = fs::remove_dir_all(&generation.0);
        }
    }
}

fn private_directory(path: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}
