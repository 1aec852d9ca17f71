//! Opening and making a state root (STATE.md 1).

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use record::json::{self, DecodeError};
use record::limits::RECORD_MAX_BYTES;
use record::submission::RootRecord;
use record::{AbsolutePath, RootId, Sha256Digest, TaskId, Timestamp};
use rustix::fs::StatVfsMountFlags;

use crate::directory::{Directory, Privacy, plain_name};
use crate::error::{At, StoreError};
use crate::journal::Journal;
use crate::lease::LeaseFile;
use crate::once::{TEMPORARY_PREFIX, write_once};
use crate::points;
use crate::probes::ProbeCache;
use crate::random::random;
use crate::supervisor::SupervisorDirectory;
use crate::task::Task;

const ROOT_FILE: &str = "root.json";
/// Made with its root by the program that this one replaces, and never removed by it.
const PREDECESSOR_FILE: &str = ".maintenance.lock";
pub(crate) const TASKS: &str = "tasks";
pub(crate) const STAGING: &str = "staging";
const OPEN: &str = "open";
pub(crate) const LEASES: &str = "leases";
pub(crate) const PROBES: &str = "probes";
pub(crate) const SUPERVISOR: &str = "supervisor";
pub(crate) const SESSIONS: &str = "sessions";
pub(crate) const DIRECTORIES: [&str; 7] = [TASKS, STAGING, OPEN, SESSIONS, LEASES, PROBES, SUPERVISOR];

/// An open state root. Clones share it.
#[derive(Clone, Debug)]
pub struct Root {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    id: RootId,
    path: AbsolutePath,
    directory: Directory,
    tasks: Directory,
}

impl Root {
    /// Opens a root for dispatching, and makes it first when it is missing or an empty directory.
    ///
    /// `path` has its symbolic links resolved. Missing directories are made with mode 0700. Of two that make a root at once
    /// both get the same one.
    ///
    /// # Errors
    /// [`StoreError::ReadOnly`] on a read-only file system; else as [`Root::open`].
    pub fn open_or_create(path: &AbsolutePath) -> Result<Self, StoreError> {
        make_directory(path.as_path())?;
        let directory = open_directory(path)?;
        if rustix::fs::fstatvfs(directory.file()).at(path)?.f_flag.contains(StatVfsMountFlags::RDONLY) {
            return Err(StoreError::ReadOnly { path: path.to_path_buf() });
        }
        let root = match read_root(&directory)? {
            Some(root) => root,
            None => make_root(&directory)?,
        };
        Self::new(path, directory, &root)
    }

    /// Opens a root that exists. Never writes, and works on a read-only file system.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when there is none; [`StoreError::RootInvalid`] when it can not be used as it is;
    /// [`StoreError::UnsupportedRoot`] when another program or a newer version made it.
    pub fn open(path: &AbsolutePath) -> Result<Self, StoreError> {
        let directory = open_directory(path)?;
        match read_root(&directory)? {
            Some(root) => Self::new(path, directory, &root),
            None => match foreign_content(&directory)? {
                // One that is made this moment has its record by now.
                Some(why) => match read_root(&directory)? {
                    Some(root) => Self::new(path, directory, &root),
                    None => Err(StoreError::RootInvalid { path: directory.path().to_owned(), why }),
                },
                None => Err(StoreError::NotFound { path: path.as_path().join(ROOT_FILE) }),
            },
        }
    }

    fn new(path: &AbsolutePath, directory: Directory, root: &RootRecord) -> Result<Self, StoreError> {
        let tasks = directory.required_child(TASKS)?;
        Ok(Self { shared: Arc::new(Shared { id: root.root_id, path: path.clone(), directory, tasks }) })
    }

    /// The root's identity, which every record carries.
    pub fn id(&self) -> RootId {
        self.shared.id
    }

    /// Where the root is.
    pub fn path(&self) -> &AbsolutePath {
        &self.shared.path
    }

    /// Whether the root was removed or moved away since it was opened, or another one stands in its place. What could not be
    /// determined is not gone.
    pub fn is_gone(&self) -> bool {
        match fs::metadata(self.path()) {
            Ok(found) => {
                let own = self.directory().file().metadata();
                own.is_ok_and(|own| (own.dev(), own.ino()) != (found.dev(), found.ino()))
            }
            Err(error) => error.kind() == io::ErrorKind::NotFound,
        }
    }

    pub(crate) fn directory(&self) -> &Directory {
        &self.shared.directory
    }

    pub(crate) fn tasks(&self) -> &Directory {
        &self.shared.tasks
    }

    /// A task; `None` when there is none of this id.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] when something else stands in its place, or a directory without `request.json`.
    pub fn task(&self, id: TaskId) -> Result<Option<Task>, StoreError> {
        let Some(directory) = self.tasks().child(&id.to_string(), Privacy::Private)? else {
            return Ok(None);
        };
        Task::open(self.clone(), id, directory).map(Some)
    }

    /// The tasks that may not be terminal, in no order (STATE.md 3.1). A marker without a task is ignored by all, so that a
    /// listed id may have none.
    ///
    /// # Errors
    /// When `open/` can not be read.
    pub fn open_tasks(&self) -> Result<Vec<TaskId>, StoreError> {
        let names = self.open_markers()?.names()?;
        Ok(names.iter().filter_map(|name| name.parse().ok()).collect())
    }

    pub(crate) fn open_markers(&self) -> Result<Directory, StoreError> {
        self.directory().required_child(OPEN)
    }

    /// Removes the marker of a task that has an outcome. Not synced: a marker too much is harmless.
    ///
    /// # Errors
    /// When it can not be removed; a missing one is no error.
    pub fn remove_open_marker(&self, id: TaskId) -> Result<(), StoreError> {
        let open = self.open_markers()?;
        let name = id.to_string();
        open.remove_file(&name).at(open.path_of(&name))?;
        fault::point(points::MARKER_REMOVED).at(open.path_of(&name))
    }

    /// Where the markers are, for watching. The scan of [`Root::open_tasks`] is the truth.
    pub fn open_directory_path(&self) -> PathBuf {
        self.directory().path_of(OPEN)
    }

    /// The journal.
    pub fn journal(&self) -> Journal {
        Journal::new(self.clone())
    }

    /// What the embedded supervisor of one machine keeps here; nothing is opened or made yet.
    pub fn supervisor_directory(&self, machine: &Sha256Digest) -> SupervisorDirectory {
        SupervisorDirectory::new(self.clone(), machine)
    }

    /// The lock file of a lease; nothing is opened yet.
    ///
    /// # Errors
    /// [`StoreError::InvalidName`] for a key that can not be a file name.
    pub fn lease(&self, key: &str) -> Result<LeaseFile, StoreError> {
        Ok(LeaseFile::new(self.clone(), plain_name(key)?))
    }

    /// The cache of executable fingerprints and probes.
    pub fn probe_cache(&self) -> ProbeCache {
        ProbeCache::new(self.clone())
    }
}

/// Makes a directory and those above it, each durable in its parent before anything is put into it.
fn make_directory(path: &Path) -> Result<(), StoreError> {
    let make = || fs::DirBuilder::new().mode(0o700).create(path);
    match make() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let Some(parent) = path.parent() else { return Err(StoreError::at(path, error)) };
            make_directory(parent)?;
            match make() {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
                result => result.and_then(|()| sync_parent(path)).at(path),
            }
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        result => result.and_then(|()| sync_parent(path)).at(path),
    }
}

fn sync_parent(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), |parent| fs::File::open(parent)?.sync_all())
}

fn open_directory(path: &AbsolutePath) -> Result<Directory, StoreError> {
    Directory::open(path.as_path()).map_err(|error| match error {
        // Nobody may be told to close a directory that is something else.
        StoreError::Damaged { path, .. } if is_something_else(&path) => StoreError::RootInvalid {
            path,
            why: "is not a state root; choose a directory of its own".to_owned(),
        },
        StoreError::Damaged { path, why } => StoreError::RootInvalid { path, why },
        error => error,
    })
}

/// Whether a directory can be read and is neither a root nor empty.
fn is_something_else(path: &Path) -> bool {
    fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_some()) && !path.join(ROOT_FILE).exists()
}

/// `root.json`, if there is one.
fn read_root(directory: &Directory) -> Result<Option<RootRecord>, StoreError> {
    let unsupported = |why: String| StoreError::UnsupportedRoot { path: directory.path().to_owned(), why };
    if directory.identity_of(PREDECESSOR_FILE)?.is_some() {
        return Err(unsupported(format!(
            "made by another program ({PREDECESSOR_FILE}); choose another directory"
        )));
    }
    let Some(bytes) = directory.read_file(ROOT_FILE, RECORD_MAX_BYTES as u64)? else {
        return Ok(None);
    };
    match json::decode_record(&bytes) {
        Ok(root) => Ok(Some(root)),
        Err(error @ DecodeError::UnsupportedSchemaVersion { .. }) => {
            Err(unsupported(format!("{ROOT_FILE}: {error}")))
        }
        Err(error @ DecodeError::UnknownField) => {
            Err(unsupported(format!("{ROOT_FILE}: {error}; made by another program or a newer version")))
        }
        Err(error) => Err(StoreError::RootInvalid {
            path: directory.path().to_owned(),
            why: format!("{ROOT_FILE} is damaged: {error}"),
        }),
    }
}

/// Makes the directories, then `root.json`: who sees that file finds the rest durable.
fn make_root(directory: &Directory) -> Result<RootRecord, StoreError> {
    if let Some(why) = foreign_content(directory)? {
        // Another maker may have finished since the first look.
        return match read_root(directory)? {
            Some(root) => Ok(root),
            None => Err(StoreError::RootInvalid { path: directory.path().to_owned(), why }),
        };
    }
    for name in DIRECTORIES {
        directory.make(name).at(directory.path_of(name))?;
    }
    directory.sync().at(directory.path())?;
    fault::point(points::ROOT_DIRECTORIES_SYNCED).at(directory.path())?;
    let root = RootRecord {
        schema_version: 1,
        root_id: RootId::from_random(random()),
        created_at: Timestamp::from_system_time(SystemTime::now())
            .map_err(|error| StoreError::at(directory.path(), io::Error::other(error)))?,
    };
    let path = || directory.path_of(ROOT_FILE);
    let bytes = json::encode(&root).map_err(|source| StoreError::Unwritable { path: path(), source })?;
    let _ = write_once(directory, ROOT_FILE, &bytes, &points::ROOT)?;
    // Read back whoever won; a loser syncs too, for the winner may not have come so far.
    directory.sync().map_err(|source| StoreError::Uncertain { path: path(), source })?;
    read_root(directory)?.ok_or_else(|| StoreError::damaged(path(), "vanished"))
}

/// Why a directory without `root.json` is no root that was left half made.
fn foreign_content(directory: &Directory) -> Result<Option<String>, StoreError> {
    for name in directory.names()? {
        if name.starts_with(TEMPORARY_PREFIX) {
            continue;
        }
        if !DIRECTORIES.contains(&name.as_str()) {
            return Ok(Some("is not empty and no state root; choose an empty or a new directory".to_owned()));
        }
        if directory
            .child(&name, Privacy::Private)?
            .is_some_and(|child| child.names().is_ok_and(|names| !names.is_empty()))
        {
            return Ok(Some(format!("{ROOT_FILE} is missing but {name}/ is not empty; restore it")));
        }
    }
    Ok(None)
}
