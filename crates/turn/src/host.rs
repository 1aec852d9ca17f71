//! The host as planning may see it: programs on PATH, files, and variables of an environment captured once.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{Read, Seek};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use provider::{Host, HostError};
use record::plan::{CapturedEnvironment, IdentityFile, IdentityRole};
use record::{AbsolutePath, Sha256Digest};
use rustix::fs::{Mode, OFlags};
use store::ProbeCache;

use crate::limits::IDENTITY_SETTLED_NANOSECONDS;

/// What `stat` says of a file that was hashed; compared once more just before the launch (STATE.md 3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileStatus {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl FileStatus {
    fn of(metadata: &std::fs::Metadata) -> Self {
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            size: metadata.size(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }

    fn cache_key(&self) -> String {
        let Self { device, inode, size, modified, changed } = self;
        format!(
            "file-{device:x}-{inode:x}-{size:x}-{:x}.{:x}-{:x}.{:x}",
            modified.0, modified.1, changed.0, changed.1
        )
    }

    /// Whether a later write would certainly show in these values.
    fn is_settled(&self) -> bool {
        let changed = i128::from(self.changed.0) * 1_000_000_000 + i128::from(self.changed.1);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as i128);
        now - changed > IDENTITY_SETTLED_NANOSECONDS
    }
}

/// The host seen through one captured environment.
pub(crate) struct CapturedHost<'a> {
    captured: &'a CapturedEnvironment,
    own_executable: &'a AbsolutePath,
    cache: Option<ProbeCache>,
    asked: RefCell<BTreeSet<String>>,
    seen: RefCell<BTreeMap<AbsolutePath, (FileStatus, File)>>,
}

impl<'a> CapturedHost<'a> {
    /// A host that answers from `captured` and remembers digests in `cache`.
    pub(crate) fn new(
        captured: &'a CapturedEnvironment,
        own_executable: &'a AbsolutePath,
        cache: Option<ProbeCache>,
    ) -> Self {
        Self { captured, own_executable, cache, asked: RefCell::default(), seen: RefCell::default() }
    }

    /// The variables that were asked for and are set: all that planning depended on.
    pub(crate) fn consulted(&self) -> CapturedEnvironment {
        let asked = self.asked.borrow();
        let variables = self
            .captured
            .variables
            .iter()
            .filter(|entry| entry.split_once('=').is_some_and(|(name, _)| asked.contains(name)))
            .cloned()
            .collect();
        CapturedEnvironment { variables, ..*self.captured }
    }

    /// The descriptor through which the content of `path` was hashed.
    pub(crate) fn take_hashed(&self, path: &AbsolutePath) -> Option<File> {
        let seen = self.seen.borrow();
        let (_, file) = seen.get(path)?;
        file.try_clone().ok()
    }

    /// Whether every hashed file still is, under its name, what was hashed.
    pub(crate) fn is_unchanged(&self) -> bool {
        self.seen.borrow().iter().all(|(path, (status, file))| {
            let now = |metadata: std::io::Result<std::fs::Metadata>| {
                metadata.is_ok_and(|now| FileStatus::of(&now) == *status)
            };
            now(std::fs::metadata(path)) && now(file.metadata())
        })
    }
}

/// Where PATH has an executable file of that name, symbolic links resolved.
pub(crate) fn on_path(captured: &CapturedEnvironment, program: &str) -> Option<AbsolutePath> {
    let is_executable =
        |metadata: std::fs::Metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0;
    captured
        .get("PATH")?
        .split(':')
        .filter(|directory| directory.starts_with('/'))
        .map(|directory| Path::new(directory).join(program))
        .find(|path| std::fs::metadata(path).is_ok_and(is_executable))
        .and_then(|path| AbsolutePath::new(&path.canonicalize().ok()?).ok())
}

fn unusable(path: &AbsolutePath, error: impl std::fmt::Display) -> HostError {
    HostError::Unusable { what: path.to_string(), why: error.to_string() }
}

fn open_regular(path: &AbsolutePath) -> Result<File, HostError> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    let file = match rustix::fs::open(path.as_path(), flags, Mode::empty()) {
        Ok(descriptor) => File::from(descriptor),
        Err(rustix::io::Errno::NOENT) => return Err(HostError::NotFound { what: path.to_string() }),
        Err(error) => return Err(unusable(path, error)),
    };
    match file.metadata() {
        Ok(metadata) if metadata.is_file() => Ok(file),
        _ => Err(unusable(path, "it is not a regular file")),
    }
}

impl Host for CapturedHost<'_> {
    fn resolve(&self, program: &str) -> Result<AbsolutePath, HostError> {
        // Noted as asked for, like every variable that planning depends on.
        self.variable("PATH");
        on_path(self.captured, program)
            .ok_or_else(|| HostError::NotFound { what: format!("the program {program}") })
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.asked.borrow_mut().insert(name.to_owned());
        self.captured.get(name).map(str::to_owned)
    }

    fn identify(&self, role: IdentityRole, path: &AbsolutePath) -> Result<IdentityFile, HostError> {
        let mut file = open_regular(path)?;
        let unreadable = |error: std::io::Error| unusable(path, error);
        let before = FileStatus::of(&file.metadata().map_err(unreadable)?);
        let key = before.cache_key();
        let cached = self
            .cache
            .as_ref()
            .and_then(|cache| cache.get(&key))
            .and_then(|text| String::from_utf8(text).ok()?.parse::<Sha256Digest>().ok());
        let sha256 = match cached {
            Some(digest) => digest,
            None => {
                let (digest, _) = Sha256Digest::of_reader(&mut file).map_err(unreadable)?;
                file.rewind().map_err(unreadable)?;
                if FileStatus::of(&file.metadata().map_err(unreadable)?) != before {
                    return Err(unusable(path, "it changed while it was read"));
                }
                if before.is_settled() {
                    // A cache that can not be written is slower, nothing else.
                    let _ = self.cache.as_ref().map(|cache| cache.put(&key, digest.to_string().as_bytes()));
                }
                digest
            }
        };
        self.seen.borrow_mut().insert(path.clone(), (before, file));
        Ok(IdentityFile { role, path: path.clone(), size: before.size, sha256 })
    }

    fn read(&self, path: &AbsolutePath, max: usize) -> Result<Vec<u8>, HostError> {
        let mut bytes = Vec::new();
        open_regular(path)?
            .take(max as u64)
            .read_to_end(&mut bytes)
            .map_err(|error| unusable(path, error))?;
        Ok(bytes)
    }

    fn canonical(&self, path: &AbsolutePath) -> Result<AbsolutePath, HostError> {
        match path.as_path().canonicalize() {
            Ok(canonical) => AbsolutePath::new(&canonical).map_err(|error| unusable(path, error)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                Err(HostError::NotFound { what: path.to_string() })
            }
            Err(error) => Err(unusable(path, error)),
        }
    }

    fn own_executable(&self) -> Result<AbsolutePath, HostError> {
        Ok(self.own_executable.clone())
    }
}
