//! What is in a root, as a whole: for `doctor` and `prune`, which look at everything (STATE.md 9). No other call lists a
//! directory of tasks.

use std::os::unix::fs::MetadataExt;
use std::time::{Duration, SystemTime};

use record::outcome::Outcome;
use record::{ProfileId, TaskId, Timestamp};

use crate::conversation::{CLAIM_ENDING, claim_name, directory_name};
use crate::directory::{Access, Directory, FILE_MODE, Privacy};
use crate::error::{At, StoreError};
use crate::kind::TaskRecord;
use crate::lock;
use crate::root::{DIRECTORIES, LEASES, Root, SESSIONS, STAGING};
use crate::task::{RUN_LOCK, Task};

/// One entry of `tasks/`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TaskEntry {
    /// The id of a task; whether its directory is one is for [`Root::task`] to say.
    Task(TaskId),
    /// Something that can be no task.
    Foreign(String),
}

/// A directory of the root that is not as it must be.
#[derive(Debug)]
pub enum DirectoryFault {
    /// Nothing has its name.
    Missing(&'static str),
    /// Something else has its name, or it is not ours alone.
    Spoiled(StoreError),
}

impl Root {
    /// The directories of the root that are not as they must be, in the order in which a root is made.
    pub fn directory_faults(&self) -> Vec<DirectoryFault> {
        let fault = |name| match self.directory().child(name, Privacy::Private) {
            Ok(Some(_)) => None,
            Ok(None) => Some(DirectoryFault::Missing(name)),
            Err(error) => Some(DirectoryFault::Spoiled(error)),
        };
        DIRECTORIES.into_iter().filter_map(fault).collect()
    }

    /// Makes a directory of the root that is missing, empty and durable. What is there stays as it is.
    ///
    /// # Errors
    /// When it can not be made or synced.
    pub fn restore_directory(&self, name: &'static str) -> Result<(), StoreError> {
        self.directory().make(name).at(self.directory().path_of(name))?;
        self.directory().sync().at(self.directory().path())
    }

    /// Everything in `tasks/`, one by one, in no order. Tasks that come or go meanwhile may or may not be seen.
    ///
    /// # Errors
    /// When the directory can not be read.
    pub fn task_entries(
        &self,
    ) -> Result<impl Iterator<Item = Result<TaskEntry, StoreError>> + use<>, StoreError> {
        let path = self.tasks().path().to_owned();
        let entries = rustix::fs::Dir::read_from(self.tasks().file()).at(&path)?;
        Ok(entries.filter_map(move |entry| match entry {
            Err(error) => Some(Err(StoreError::at(&path, error))),
            Ok(entry) => match entry.file_name().to_string_lossy().into_owned() {
                name if name == "." || name == ".." => None,
                name => Some(Ok(match name.parse() {
                    Ok(id) => TaskEntry::Task(id),
                    Err(_) => TaskEntry::Foreign(name),
                })),
            },
        }))
    }

    /// How long ago, by the wall clock, the marker of a task was made; `None` when there is none.
    ///
    /// # Errors
    /// When `open/` can not be asked.
    pub fn open_marker_age(&self, id: TaskId) -> Result<Option<Duration>, StoreError> {
        let path = self.open_markers()?.path_of(&id.to_string());
        match path.symlink_metadata() {
            Ok(metadata) => {
                let made = metadata.modified().at(&path)?;
                Ok(Some(SystemTime::now().duration_since(made).unwrap_or_default()))
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(StoreError::at(path, error)),
        }
    }

    /// Makes the marker of a task that has none, durably; for a task without an outcome.
    ///
    /// # Errors
    /// When it can not be made or synced.
    pub fn restore_open_marker(&self, id: TaskId) -> Result<(), StoreError> {
        let open = self.open_markers()?;
        let name = id.to_string();
        match open.create_file(&name, FILE_MODE) {
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            result => drop(result.at(open.path_of(&name))?),
        }
        open.sync().at(open.path())
    }

    /// The directories of `staging/` whose maker is gone, so that [`Root::clean_staging`] would remove them. Changes nothing.
    ///
    /// # Errors
    /// When `staging/` can not be read.
    pub fn staging_left_overs(&self) -> Result<Vec<String>, StoreError> {
        let parent = self.directory().required_child(STAGING)?;
        let mut left_over = Vec::new();
        for name in parent.names()? {
            if !is_being_made(&parent, &name)? {
                left_over.push(name);
            }
        }
        Ok(left_over)
    }

    /// The keys of all leases that were ever taken.
    ///
    /// # Errors
    /// When `leases/` can not be read.
    pub fn lease_keys(&self) -> Result<Vec<String>, StoreError> {
        let names = self.directory().required_child(LEASES)?.names()?;
        Ok(names.iter().filter_map(|name| Some(name.strip_suffix(".lock")?.to_owned())).collect())
    }

    /// The tasks that claimed a conversation, without its lock; none when nobody ever did. A claim may have no task.
    ///
    /// # Errors
    /// When the directory can not be read.
    pub fn claimants(&self, provider: &ProfileId, conversation: &str) -> Result<Vec<TaskId>, StoreError> {
        let sessions = self.directory().required_child(SESSIONS)?;
        let Some(claims) = sessions.child(&directory_name(provider, conversation), Privacy::Private)? else {
            return Ok(Vec::new());
        };
        Ok(claims.names()?.iter().filter_map(|name| name.strip_suffix(CLAIM_ENDING)?.parse().ok()).collect())
    }

    /// Whether a task claimed a conversation, without its lock.
    ///
    /// # Errors
    /// When the directory can not be asked.
    pub fn has_claim(
        &self,
        provider: &ProfileId,
        conversation: &str,
        task: TaskId,
    ) -> Result<bool, StoreError> {
        let sessions = self.directory().required_child(SESSIONS)?;
        match sessions.child(&directory_name(provider, conversation), Privacy::Private)? {
            Some(claims) => Ok(claims.identity_of(&claim_name(task))?.is_some()),
            None => Ok(false),
        }
    }
}

/// Whether somebody holds the lock of a staging directory, or has not come to making it yet.
fn is_being_made(parent: &Directory, name: &str) -> Result<bool, StoreError> {
    let Some(directory) = parent.child(name, Privacy::Private)? else { return Ok(true) };
    match directory.open_file(RUN_LOCK, Access::Read)? {
        Some(file) => lock::is_locked(&file).at(directory.path_of(RUN_LOCK)),
        None => Ok(false),
    }
}

/// When the status of a file last changed, counted from 1970; what is earlier counts as then.
fn changed_after_epoch(metadata: &std::fs::Metadata) -> Duration {
    Duration::new(
        u64::try_from(metadata.ctime()).unwrap_or(0),
        u32::try_from(metadata.ctime_nsec()).unwrap_or(0),
    )
}

impl Task {
    /// When the status of `outcome.json` last changed, by the file system; `None` without an outcome.
    ///
    /// # Errors
    /// When it can not be asked, or lies outside all calendars.
    pub fn outcome_changed_at(&self) -> Result<Option<Timestamp>, StoreError> {
        let Some(file) = self.directory().open_file(Outcome::FILE, Access::Read)? else { return Ok(None) };
        let path = || self.directory().path_of(Outcome::FILE);
        let metadata = file.metadata().at(path())?;
        Timestamp::from_system_time(SystemTime::UNIX_EPOCH + changed_after_epoch(&metadata))
            .map(Some)
            .map_err(|error| StoreError::damaged(path(), error.to_string()))
    }
}
