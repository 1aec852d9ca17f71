//! `raw/` and `output/`: capturing, importing, cutting and listing what a turn left (STATE.md 3.5, 3.7).

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use record::Sha256Digest;
use record::seal::ManifestEntry;

use crate::admit::{OUTPUT, RAW};
use crate::directory::{Access, Directory, Privacy, plain_name};
use crate::error::{At, StoreError};
use crate::once::Temporary;
use crate::points;
use crate::task::{LaunchClaim, RunLock, Task};

const STDOUT: &str = "stdout";
const STDERR: &str = "stderr";

/// The two streams of the provider, each for writing at its end, close-on-exec.
#[derive(Debug)]
pub struct RawStreams {
    /// `raw/stdout`.
    pub stdout: File,
    /// `raw/stderr`.
    pub stderr: File,
}

/// What came of importing an artifact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Import {
    /// The provider left none.
    Absent,
    /// It is in `raw/` now.
    Imported {
        /// Its size before it was cut to the cap, in bytes, if it was.
        cut_from: Option<u64>,
    },
    /// What stands there is no artifact; nothing was imported.
    Refused {
        /// What is wrong with it.
        why: &'static str,
    },
}

impl Task {
    /// Makes `raw/stdout` and `raw/stderr`; their names are durable, their content is not.
    ///
    /// # Errors
    /// When one is there already, or can not be made or synced.
    ///
    /// # Panics
    /// When the claim is another task's.
    pub fn create_raw(&self, claim: &LaunchClaim) -> Result<RawStreams, StoreError> {
        self.assert_claimed_by(claim);
        let raw = self.raw()?;
        let create = |name| raw.create_stream(name).at(raw.path_of(name));
        let streams = RawStreams { stdout: create(STDOUT)?, stderr: create(STDERR)? };
        // Whoever finds `running.json` after a power cut finds both, so that a missing one is damage.
        raw.sync().at(raw.path())?;
        fault::point(points::RAW_CREATED).at(raw.path())?;
        Ok(streams)
    }

    /// Opens a file of `raw/` for reading; `None` when it is not there.
    ///
    /// # Errors
    /// [`StoreError::InvalidName`], or [`StoreError::Damaged`] when it is no regular file of ours.
    pub fn open_raw(&self, name: &str) -> Result<Option<File>, StoreError> {
        self.raw()?.open_checked(plain_name(name)?, Access::Read, Privacy::Owned)
    }

    /// Where a file of `raw/` is, or would be.
    pub fn raw_path(&self, name: &str) -> PathBuf {
        self.directory().path_of(RAW).join(name)
    }

    /// Where the provider leaves artifacts.
    pub fn output_path(&self) -> PathBuf {
        self.directory().path_of(OUTPUT)
    }

    /// Copies `output/<name>` to `raw/<name>`, at most `cap` bytes of it, in place of an earlier copy. It must be a regular
    /// file of ours with one link, and not change while it is read.
    ///
    /// # Errors
    /// [`StoreError::InvalidName`], also for the names of the streams; else only failures of the copy: what the provider
    /// left there is no error.
    ///
    /// # Panics
    /// When the lock is another task's.
    pub fn import_artifact(&self, lock: &RunLock, name: &str, cap: u64) -> Result<Import, StoreError> {
        self.assert_locked_by(lock);
        if [STDOUT, STDERR].contains(&plain_name(name)?) {
            return Err(StoreError::InvalidName);
        }
        let source = match self.open_artifact(name) {
            Ok(Some(source)) => source,
            Ok(None) => return Ok(Import::Absent),
            Err(StoreError::Damaged { .. }) => {
                return Ok(Import::Refused {
                    why: "is no regular file of this user in a directory of this user",
                });
            }
            Err(error) => return Err(error),
        };
        let path = self.output_path().join(name);
        let before = Version::of(&source).at(&path)?;
        if before.links != 1 {
            return Ok(Import::Refused { why: "has more than one link" });
        }
        let raw = self.raw()?;
        let mut copy = Temporary::create(&raw, &points::ARTIFACT)?;
        let copied = io::copy(&mut (&source).take(cap), &mut copy).at(raw.path_of(name))?;
        if Version::of(&source).at(&path)? != before || copied != before.size.min(cap) {
            return Ok(Import::Refused { why: "changed while it was read" });
        }
        copy.replace(name)?;
        Ok(Import::Imported { cut_from: (before.size > cap).then_some(before.size) })
    }

    fn open_artifact(&self, name: &str) -> Result<Option<File>, StoreError> {
        match self.directory().child(OUTPUT, Privacy::Owned)? {
            Some(output) => output.open_checked(name, Access::Read, Privacy::Owned),
            None => Ok(None),
        }
    }

    /// Cuts a file of `raw/` to `length` bytes, durably. For a file over the cap, when nothing writes to it any more and the
    /// seal says that it is cut.
    ///
    /// # Errors
    /// When it is missing or can not be cut.
    ///
    /// # Panics
    /// When the lock is another task's.
    pub fn cut_raw(&self, lock: &RunLock, name: &str, length: u64) -> Result<(), StoreError> {
        self.assert_locked_by(lock);
        let path = self.raw_path(name);
        let file = self
            .raw()?
            .open_checked(plain_name(name)?, Access::ReadWrite, Privacy::Owned)?
            .ok_or_else(|| StoreError::NotFound { path: path.clone() })?;
        if file.metadata().at(&path)?.len() > length {
            file.set_len(length).at(&path)?;
        }
        fault::point(points::RAW_CUT).at(&path)?;
        file.sync_all().at(&path)?;
        fault::synced(&file);
        Ok(())
    }

    /// Makes files of `raw/` durable; one that is missing is passed over.
    ///
    /// # Errors
    /// When a sync fails.
    pub fn sync_raw(&self, names: &[&str]) -> Result<(), StoreError> {
        let raw = self.raw()?;
        for name in names {
            if let Some(file) = self.open_raw(name)? {
                file.sync_all().at(raw.path_of(name))?;
                fault::synced(&file);
            }
        }
        raw.sync().at(raw.path())?;
        fault::point(points::RAW_SYNCED).at(raw.path())
    }

    /// Size and digest of files of `raw/`, sorted by path; one that is missing has no entry, and one that is larger counts as
    /// far as `cap` bytes. `rewritten` and `cut_from` are for the caller to add.
    ///
    /// # Errors
    /// When one can not be read.
    pub fn manifest(&self, names: &[&str], cap: u64) -> Result<Vec<ManifestEntry>, StoreError> {
        let mut entries = Vec::new();
        for name in names {
            if let Some(file) = self.open_raw(name)? {
                let (sha256, size) = Sha256Digest::of_reader(file.take(cap)).at(self.raw_path(name))?;
                entries.push(ManifestEntry {
                    path: format!("{RAW}/{name}"),
                    size,
                    sha256,
                    rewritten: false,
                    cut_from: None,
                });
            }
        }
        entries.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(entries)
    }

    fn raw(&self) -> Result<Directory, StoreError> {
        self.directory().required_child(RAW)
    }
}

/// What changes when somebody writes to a file.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Version {
    size: u64,
    links: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Version {
    fn of(file: &File) -> io::Result<Self> {
        let metadata = file.metadata()?;
        Ok(Self {
            size: metadata.len(),
            links: metadata.nlink(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        })
    }
}
