//! Several runs at a time: they work on one *generation* of the login, a copy that belongs to the runners. The vendor's own lock,
//! which lies in it, orders their refreshes.
//!
//! ```text
//! <data home>/<vendor>-shared-oauth/  current                the name of the generation that new runs join
//!                                     generation.XXXXXX/  …  the vendor's files
//!                                                         baseline  digest of the user's login that it goes with; of two, the
//!                                                                   old and the new one, while the new one is published
//!                                                         runs/     one file for each run at work, locked by it
//! ```
//!
//! The lock in the vendor's directory of the user covers two short sections: joining a generation, and publishing what was
//! refreshed in it.

use std::fs::{self, Permissions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use record::Sha256Digest;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use tempfile::NamedTempFile;

use super::{Kept, Kind, UserLogin, private_directory};
use crate::common::exit::{Exit, Refusal};
use crate::common::files::{open_to_lock, read_regular, replace};
use crate::common::limits::{GENERATION_RECORD_MAX_BYTES, LOGIN_MAX_BYTES};
use crate::common::lock::LockError;

const CURRENT: &str = "current";
const PREFIX: &str = "generation.";
const BASELINE: &str = "baseline";
const RUNS: &str = "runs";

/// How a family joins a generation; all of it happens under the lock.
pub struct Joining<'a> {
    /// How long the lock is waited for.
    pub wait: Duration,
    /// Fills the empty directory of a new generation with the user's login.
    pub fill: &'a dyn Fn(&Path) -> Result<(), Refusal>,
    /// What later runs must know of this one.
    pub note: &'a str,
    /// Makes the directory of the generation ready for this run, beside runs with these notes.
    pub prepare: &'a dyn Fn(&Path, &[String]) -> io::Result<()>,
}

/// A right to a login that other runs have too. Dropping it leaves the generation.
#[derive(Debug)]
pub struct Shared {
    user: UserLogin,
    root: PathBuf,
    generation: Generation,
    wait: Duration,
    run: NamedTempFile,
}

impl Shared {
    /// The directory of the generation.
    pub fn directory(&self) -> &Path {
        &self.generation.directory
    }

    pub(super) fn keep(&self) -> Kept {
        if self.is_kept() {
            return Kept::Yes;
        }
        let _lock = match self.user.lock(self.wait) {
            Ok(lock) => lock,
            // The next run takes it over.
            Err(LockError::Busy) => return Kept::Yes,
            Err(_) => return Kept::No,
        };
        if self.is_kept() {
            return Kept::Yes;
        }
        let (Ok(current), Ok(baselines)) =
            (Generation::current(&self.root, self.user.kind), self.generation.baselines())
        else {
            return Kept::No;
        };
        let old = self.user.read().unwrap_or_default();
        if current.as_ref() != Some(&self.generation) || !baselines.contains(&Sha256Digest::of(&old)) {
            return Kept::Conflict;
        }
        match self.generation.read() {
            Ok(refreshed) if (self.user.kind.replaces)(&refreshed, &old) => {
                self.generation.publish(&self.user, &old, &refreshed)
            }
            // It may be a refresh in its middle; the last run keeps what comes of it, or says that it is lost.
            _ if !self.is_last() => Kept::Yes,
            _ => {
                // Else every later run would join what nobody can use; a file that is gone is what we want.
                let _ = fs::remove_file(self.root.join(CURRENT));
                Kept::No
            }
        }
    }

    /// Whether no other run is at work in the generation.
    fn is_last(&self) -> bool {
        self.generation.notes(Some(self.run.path())).is_ok_and(|others| others.is_empty())
    }

    /// Whether nothing was refreshed, or the user has it.
    fn is_kept(&self) -> bool {
        self.generation.read().is_ok_and(|login| {
            self.generation.baselines().is_ok_and(|baselines| baselines == [Sha256Digest::of(&login)])
                || self.user.read().is_ok_and(|of_user| of_user == login)
        })
    }
}

pub(super) fn join(user: &UserLogin, joining: &Joining<'_>) -> Result<Shared, Refusal> {
    let failed = |error| unusable(user, &error);
    let root = root(user);
    private_directory(&root).map_err(failed)?;
    let root = root.canonicalize().map_err(failed)?;
    let _lock = user.lock(joining.wait).map_err(|error| user.refusal(error))?;
    let settled = settled(&root, user)?;
    demand_nobody(&root, user, settled.as_ref())?;
    let generation = match settled {
        Some(generation) => generation,
        None => Generation::fill(&root, user, joining.fill, failed)?,
    };
    remove_unused(&root, &generation);
    let others = generation.notes(None).map_err(failed)?;
    let run = generation.add(joining.note).map_err(failed)?;
    (joining.prepare)(&generation.directory, &others).map_err(failed)?;
    Ok(Shared { user: user.clone(), root, generation, wait: joining.wait, run })
}

/// Makes the user's login the one and only, for a run that has it alone; under the lock.
pub(super) fn take_over(user: &UserLogin) -> Result<(), Refusal> {
    let root = root(user);
    demand_nobody(&root, user, None)?;
    settled(&root, user).map(drop)
}

/// Refuses to begin beside runs at work: their token is the same, and works once. Those in the generation `joined` do not count.
fn demand_nobody(root: &Path, user: &UserLogin, joined: Option<&Generation>) -> Result<(), Refusal> {
    let failed = |error| unusable(user, &error);
    for generation in Generation::all(root, user.kind).map_err(failed)? {
        if Some(&generation) != joined && !generation.notes(None).map_err(failed)?.is_empty() {
            let why = format!("runs that share the {} login are at work", user.kind.vendor);
            return Err(Refusal::new(Exit::Temporary, why));
        }
    }
    Ok(())
}

fn unusable(user: &UserLogin, error: &io::Error) -> Refusal {
    let root = root(user);
    Refusal::unavailable(format!(
        "the shared {} login in {} can not be used: {error}",
        user.kind.vendor,
        root.display()
    ))
}

/// The current generation, if it goes with the user's login, once what a run had to leave in it is published.
fn settled(root: &Path, user: &UserLogin) -> Result<Option<Generation>, Refusal> {
    let failed = |error| unusable(user, &error);
    let Some(current) = Generation::current(root, user.kind).map_err(failed)? else { return Ok(None) };
    let Some(own) = there(current.read()).map_err(failed)? else { return Ok(None) };
    let Ok(of_user) = user.read() else { return Ok(None) };
    if own == of_user {
        // Without it the two files are compared, so that it need not be written.
        let _ = current.set_baselines(&[&own]);
        return Ok(Some(current));
    }
    let baselines = current.baselines().map_err(failed)?;
    let goes_with = baselines.contains(&Sha256Digest::of(&of_user));
    if !goes_with || !(user.kind.replaces)(&own, &of_user) {
        return Ok(None);
    }
    match current.publish(user, &of_user, &own) {
        Kept::Yes => Ok(Some(current)),
        Kept::Conflict => Ok(None),
        // Whoever went on with the user's login would use a token that is used up, and give up the one that is not.
        Kept::No => Err(Refusal::login(format!(
            "the {} login that an earlier run refreshed can not be written to {}",
            user.kind.vendor,
            user.file().display()
        ))),
    }
}

fn root(user: &UserLogin) -> PathBuf {
    user.data_home.join(user.kind.generations)
}

/// One copy of the login.
#[derive(Clone, Debug)]
struct Generation {
    directory: PathBuf,
    kind: &'static Kind,
}

impl PartialEq for Generation {
    fn eq(&self, other: &Self) -> bool {
        self.directory == other.directory
    }
}

impl Generation {
    /// The one that new runs join. What the record names and is not there is none; what can not be read is no such knowledge.
    fn current(root: &Path, kind: &'static Kind) -> io::Result<Option<Self>> {
        let Some(name) = record(&root.join(CURRENT))? else { return Ok(None) };
        let is_ours = name.starts_with(PREFIX) && !name.contains('/');
        let directory = root.join(&name);
        Ok((is_ours && is_directory(&directory)?).then_some(Self { directory, kind }))
    }

    /// Every one that is there.
    fn all(root: &Path, kind: &'static Kind) -> io::Result<Vec<Self>> {
        let Some(entries) = there(fs::read_dir(root))? else { return Ok(Vec::new()) };
        let mut all = Vec::new();
        for entry in entries {
            let entry = entry?;
            let directory = entry.path();
            if entry.file_name().as_encoded_bytes().starts_with(PREFIX.as_bytes())
                && is_directory(&directory)?
            {
                all.push(Self { directory, kind });
            }
        }
        Ok(all)
    }

    /// A new one from the user's login; from now on it is the current one.
    fn fill(
        root: &Path,
        user: &UserLogin,
        fill: &dyn Fn(&Path) -> Result<(), Refusal>,
        failed: impl Fn(io::Error) -> Refusal,
    ) -> Result<Self, Refusal> {
        let directory = tempfile::Builder::new()
            .prefix(PREFIX)
            .permissions(Permissions::from_mode(0o700))
            .tempdir_in(root)
            .map_err(&failed)?;
        let generation = Self { directory: directory.path().to_path_buf(), kind: user.kind };
        fill(directory.path())?;
        let login = generation.read().map_err(&failed)?;
        if user.read().ok().as_ref() != Some(&login) {
            return Err(user.changed());
        }
        generation.set_baselines(&[&login]).map_err(&failed)?;
        // The last step makes it the current one.
        let name = directory.path().file_name().unwrap_or_default().as_encoded_bytes().to_vec();
        replace(&root.join(CURRENT), &name).map_err(&failed)?;
        let _ = directory.keep();
        Ok(generation)
    }

    fn read(&self) -> io::Result<Vec<u8>> {
        read_regular(&self.directory.join(self.kind.shared_file), LOGIN_MAX_BYTES)
    }

    fn baselines(&self) -> io::Result<Vec<Sha256Digest>> {
        let record = record(&self.directory.join(BASELINE))?.unwrap_or_default();
        Ok(record.split_whitespace().filter_map(|digest| digest.parse().ok()).collect())
    }

    fn set_baselines(&self, logins: &[&[u8]]) -> io::Result<()> {
        let digests: Vec<_> = logins.iter().map(|login| Sha256Digest::of(login)).collect();
        if self.baselines().is_ok_and(|baselines| baselines == digests) {
            return Ok(());
        }
        let text: Vec<String> = digests.iter().map(Sha256Digest::to_string).collect();
        replace(&self.directory.join(BASELINE), text.join("\n").as_bytes())
    }

    /// Puts a refreshed login in the place of the user's `old` one. That it does is recorded before: whoever is stopped in the
    /// middle leaves a login of the user that goes with this generation, the old one or the new one.
    fn publish(&self, user: &UserLogin, old: &[u8], refreshed: &[u8]) -> Kept {
        if self.set_baselines(&[old, refreshed]).is_err() {
            return Kept::No;
        }
        let kept = user.publish(&[Sha256Digest::of(old)], |file| replace(file, refreshed));
        if kept == Kept::Yes {
            // Two serve as well, but for runs that end beside a login from elsewhere.
            let _ = self.set_baselines(&[refreshed]);
        }
        kept
    }

    /// Adds a run, whose file is locked for as long as it lives.
    fn add(&self, note: &str) -> io::Result<NamedTempFile> {
        let runs = self.directory.join(RUNS);
        private_directory(&runs)?;
        let mut run = NamedTempFile::new_in(runs)?;
        run.write_all(note.as_bytes())?;
        flock(run.as_file(), FlockOperation::NonBlockingLockExclusive)?;
        Ok(run)
    }

    /// The notes of all runs at work but the one with the file `own`. The files of dead ones are removed where that is allowed.
    fn notes(&self, own: Option<&Path>) -> io::Result<Vec<String>> {
        let Some(entries) = there(fs::read_dir(self.directory.join(RUNS)))? else { return Ok(Vec::new()) };
        let mut notes = Vec::new();
        for entry in entries {
            let path = entry?.path();
            if Some(&*path) == own {
                continue;
            }
            // It may have left meanwhile.
            let Some(file) = there(open_to_lock(&path))? else { continue };
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => {
                    let _ = fs::remove_file(path);
                    continue;
                }
                Err(Errno::WOULDBLOCK) => {}
                Err(error) => return Err(error.into()),
            }
            let mut note = String::new();
            file.take(GENERATION_RECORD_MAX_BYTES).read_to_string(&mut note)?;
            notes.push(note);
        }
        Ok(notes)
    }
}

/// What is read, where it is there.
fn there<T>(read: io::Result<T>) -> io::Result<Option<T>> {
    match read {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        read => read.map(Some),
    }
}

/// A record of ours, where it is there.
fn record(path: &Path) -> io::Result<Option<String>> {
    let bytes = there(read_regular(path, GENERATION_RECORD_MAX_BYTES))?;
    Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
}

fn is_directory(path: &Path) -> io::Result<bool> {
    Ok(there(fs::symlink_metadata(path))?.is_some_and(|metadata| metadata.is_dir()))
}

/// Removes generations that nobody works on any more.
fn remove_unused(root: &Path, current: &Generation) {
    for generation in Generation::all(root, current.kind).into_iter().flatten() {
        if generation != *current && generation.notes(None).is_ok_and(|notes| notes.is_empty()) {
            // What is left of it is removed by the next run.
            let _ = fs::remove_dir_all(&generation.directory);
        }
    }
}
