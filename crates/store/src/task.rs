//! An open task directory: reading and adding its records, its run lock and its launch licence (STATE.md 1 to 4).

use std::path::PathBuf;
use std::sync::OnceLock;

use record::TaskId;
use record::json::{self, DecodeError};
use record::launch::Launch;
use record::limits::{BRIEF_MAX_BYTES, RECORD_MAX_BYTES};
use record::plan::Plan;
use record::request::Request;
use record::{RootId, Sha256Digest};

use crate::directory::{Access, Directory};
use crate::error::{At, StoreError};
use crate::kind::{LaterRecord, TaskRecord};
use crate::limits::HOLDER_MAX_BYTES;
use crate::lock::{self, IfMissing, Lock, Sharing};
use crate::once::{Placed, uncertain, write_once};
use crate::points::{self, RecordPoints};
use crate::root::Root;

pub(crate) const BRIEF: &str = "brief.md";
pub(crate) const RUN_LOCK: &str = ".run.lock";

/// An open task directory.
#[derive(Debug)]
pub struct Task {
    root: Root,
    id: TaskId,
    directory: Directory,
    digests: OnceLock<Digests>,
}

/// Digests of the files that later records name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Digests {
    pub(crate) request: Sha256Digest,
    /// Absent once the plan was removed by retention.
    pub(crate) plan: Option<Sha256Digest>,
}

/// A record and the digest of the bytes of its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loaded<R> {
    /// The record.
    pub record: R,
    /// Digest of the file's bytes.
    pub sha256: Sha256Digest,
}

/// What came of adding a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Created<R> {
    /// It is there, and durable; the digest of its bytes.
    New(Sha256Digest),
    /// Somebody else's was there first. It may not be durable yet.
    Exists(Loaded<R>),
}

/// The held run lock of one task: whoever acts on the task has it (STATE.md 1).
#[derive(Debug)]
pub struct RunLock {
    lock: Lock,
    root: RootId,
    task: TaskId,
}

/// Proof that this process made the only licence to execute the provider of a task, and that it is durable.
/// Only [`Task::claim_launch`] makes one.
#[derive(Debug)]
pub struct LaunchClaim {
    task: TaskId,
    sha256: Sha256Digest,
}

impl LaunchClaim {
    /// The digest of the bytes of `launch.json`.
    pub fn sha256(&self) -> Sha256Digest {
        self.sha256
    }
}

impl Task {
    /// Takes a directory of `tasks/` as a task.
    pub(crate) fn open(root: Root, id: TaskId, directory: Directory) -> Result<Self, StoreError> {
        if directory.identity_of(Request::FILE)?.is_none() {
            return Err(StoreError::damaged(directory.path_of(Request::FILE), "is missing"));
        }
        Ok(Self { root, id, directory, digests: OnceLock::new() })
    }

    /// Takes a directory just made as a task.
    pub(crate) fn admitted(root: Root, id: TaskId, directory: Directory, digests: Digests) -> Self {
        Self { root, id, directory, digests: OnceLock::from(digests) }
    }

    /// The task's id.
    pub fn id(&self) -> TaskId {
        self.id
    }

    /// Where its directory is.
    pub fn path(&self) -> PathBuf {
        self.directory.path().to_owned()
    }

    /// The root that holds it.
    pub fn root(&self) -> &Root {
        &self.root
    }

    pub(crate) fn directory(&self) -> &Directory {
        &self.directory
    }

    /// Reads a record; `None` when it is not there.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] when it is no private regular file of at most 1 MiB in the strict form,
    /// [`StoreError::UnsupportedVersion`] when a newer version wrote it, [`StoreError::IdentityMismatch`] when it names
    /// another root or task, or other digests than those of `request.json` and `plan.json`. Without a plan that retention did
    /// not take away nothing can be compared, which is damage too.
    pub fn read<R: TaskRecord>(&self) -> Result<Option<Loaded<R>>, StoreError> {
        let Some(loaded) = self.read_apart::<R>()? else { return Ok(None) };
        self.check_identity(&loaded.record)?;
        Ok(Some(loaded))
    }

    /// Reads a record as [`Task::read`] does, but for the digests of request and plan that it names: for what must be known
    /// of a task also when one of these two is damaged.
    ///
    /// # Errors
    /// As for [`Task::read`].
    pub fn read_apart<R: TaskRecord>(&self) -> Result<Option<Loaded<R>>, StoreError> {
        let Some(bytes) = self.directory.read_file(R::FILE, RECORD_MAX_BYTES as u64)? else {
            return Ok(None);
        };
        let path = || self.directory.path_of(R::FILE);
        let record: R = json::decode_record(&bytes).map_err(|error| match error {
            DecodeError::UnsupportedSchemaVersion { found, supported } => {
                StoreError::UnsupportedVersion { path: path(), found, supported }
            }
            error => StoreError::damaged(path(), error.to_string()),
        })?;
        self.check_place(&record)?;
        Ok(Some(Loaded { record, sha256: Sha256Digest::of(&bytes) }))
    }

    /// Whether something has the name of a record, whatever it is.
    ///
    /// # Errors
    /// When the directory can not be asked.
    pub fn has<R: TaskRecord>(&self) -> Result<bool, StoreError> {
        Ok(self.directory.identity_of(R::FILE)?.is_some())
    }

    /// Reads a record that every task has.
    fn read_required<R: TaskRecord>(&self) -> Result<Loaded<R>, StoreError> {
        self.read()?.ok_or_else(|| StoreError::damaged(self.directory.path_of(R::FILE), "is missing"))
    }

    /// Whether the record belongs to this root and task.
    fn check_place<R: TaskRecord>(&self, record: &R) -> Result<(), StoreError> {
        self.belongs::<R>(record.root_id() == self.root.id() && record.task_id() == self.id)
    }

    /// Whether it belongs to this request and plan too.
    fn check_identity<R: TaskRecord>(&self, record: &R) -> Result<(), StoreError> {
        self.check_place(record)?;
        let Some(request) = record.request_sha256().filter(|_| !record.tells_of_damage()) else {
            return Ok(());
        };
        let digests = self.digests()?;
        let plan = record.plan_sha256().zip(digests.plan);
        self.belongs::<R>(request == digests.request && plan.is_none_or(|(named, found)| named == found))
    }

    fn belongs<R: TaskRecord>(&self, does: bool) -> Result<(), StoreError> {
        if does {
            Ok(())
        } else {
            Err(StoreError::IdentityMismatch { path: self.directory.path_of(R::FILE) })
        }
    }

    fn digests(&self) -> Result<Digests, StoreError> {
        if let Some(digests) = self.digests.get() {
            return Ok(*digests);
        }
        let digest = |file| {
            Ok(self.directory.read_file(file, RECORD_MAX_BYTES as u64)?.map(|bytes| Sha256Digest::of(&bytes)))
        };
        let request = digest(Request::FILE)?
            .ok_or_else(|| StoreError::damaged(self.directory.path_of(Request::FILE), "is missing"))?;
        let plan = digest(Plan::FILE)?;
        // Asked last: retention says so before it takes the plan away. Nothing else does.
        if plan.is_none() && !self.is_pruned()? {
            return Err(StoreError::damaged(self.directory.path_of(Plan::FILE), "is missing"));
        }
        let digests = Digests { request, plan };
        Ok(*self.digests.get_or_init(|| digests))
    }

    /// Adds a record, once (STATE.md 2).
    ///
    /// # Errors
    /// [`StoreError::Uncertain`] when it is visible but a sync failed: it counts as existing and gives nobody a licence.
    /// After any other error it is not there.
    pub fn create<R: LaterRecord>(&self, record: &R) -> Result<Created<R>, StoreError> {
        self.add(record, R::POINTS)
    }

    fn add<R: TaskRecord>(
        &self,
        record: &R,
        points: &'static RecordPoints,
    ) -> Result<Created<R>, StoreError> {
        let bytes = self.encode(record)?;
        match write_once(&self.directory, R::FILE, &bytes, points)? {
            Placed::Ours => Ok(Created::New(Sha256Digest::of(&bytes))),
            Placed::Taken => self.read_required().map(Created::Exists),
        }
    }

    /// The bytes of a record that belongs here.
    pub(crate) fn encode<R: TaskRecord>(&self, record: &R) -> Result<Vec<u8>, StoreError> {
        self.check_identity(record)?;
        json::encode(record)
            .map_err(|source| StoreError::Unwritable { path: self.directory.path_of(R::FILE), source })
    }

    /// Reads the record that another made first.
    pub(crate) fn existing<R: TaskRecord>(&self) -> Result<Created<R>, StoreError> {
        self.read_required().map(Created::Exists)
    }

    /// The brief, exactly as it was given.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] when it is missing or does not have the length and digest that the request names.
    pub fn brief(&self) -> Result<Vec<u8>, StoreError> {
        let request = self.read_required::<Request>()?.record;
        let path = || self.directory.path_of(BRIEF);
        let brief = self
            .directory
            .read_file(BRIEF, BRIEF_MAX_BYTES)?
            .ok_or_else(|| StoreError::damaged(path(), "is missing"))?;
        if brief.len() as u64 == request.brief_length && Sha256Digest::of(&brief) == request.brief_sha256 {
            Ok(brief)
        } else {
            Err(StoreError::damaged(path(), "is not the brief that the request names"))
        }
    }

    /// Makes sure that the task itself is durable, whoever admitted it.
    ///
    /// # Errors
    /// [`StoreError::Uncertain`] when a sync fails.
    pub fn sync(&self) -> Result<(), StoreError> {
        uncertain(self.root.tasks(), &self.id.to_string(), || {
            self.root.tasks().sync()?;
            self.directory.sync()
        })
    }

    /// Takes the run lock; `None` when somebody acts on the task.
    ///
    /// # Errors
    /// When the lock file is missing or damaged.
    pub fn try_run_lock(&self) -> Result<Option<RunLock>, StoreError> {
        let Some(lock) = Lock::try_take(&self.directory, RUN_LOCK, IfMissing::Fail, Sharing::Exclusive)?
        else {
            return Ok(None);
        };
        fault::point(points::RUN_LOCKED).at(self.directory.path_of(RUN_LOCK))?;
        Ok(Some(RunLock { lock, root: self.root.id(), task: self.id }))
    }

    /// Writes down in the lock file who acts on the task.
    ///
    /// # Errors
    /// When the file can not be written.
    ///
    /// # Panics
    /// When the lock is another task's.
    pub fn name_holder(&self, lock: &RunLock, holder: &str) -> Result<(), StoreError> {
        self.assert_locked_by(lock);
        lock.lock.name_holder(holder.as_bytes()).at(self.directory.path_of(RUN_LOCK))
    }

    /// Who wrote that last; `None` when nobody did, or it can not be read.
    pub fn holder(&self) -> Option<String> {
        String::from_utf8(self.directory.read_file(RUN_LOCK, HOLDER_MAX_BYTES).ok()??).ok()
    }

    /// Whether somebody acts on the task. Asks only, and so disturbs nobody (STATE.md 4).
    ///
    /// # Errors
    /// When the lock file is missing or damaged.
    pub fn run_locked(&self) -> Result<bool, StoreError> {
        let path = || self.directory.path_of(RUN_LOCK);
        let file = self
            .directory
            .open_file(RUN_LOCK, Access::Read)?
            .ok_or_else(|| StoreError::damaged(path(), "is missing"))?;
        lock::is_locked(&file).at(path())
    }

    /// # Panics
    /// When the lock is another task's: a mistake of the caller.
    pub(crate) fn assert_locked_by(&self, lock: &RunLock) {
        assert!((lock.root, lock.task) == (self.root.id(), self.id), "the run lock belongs to another task");
    }

    /// Makes `launch.json`, the only licence to execute the provider; `None` when there is one already. The task is synced
    /// first, always: a licence is never more durable than its task (STATE.md 2).
    ///
    /// # Errors
    /// [`StoreError::Uncertain`] when a sync fails: there is no claim then, even if the file is there.
    ///
    /// # Panics
    /// When the lock is another task's.
    pub fn claim_launch(&self, lock: &RunLock, launch: &Launch) -> Result<Option<LaunchClaim>, StoreError> {
        self.assert_locked_by(lock);
        self.sync()?;
        fault::point(points::CLAIM_TASK_SYNCED).at(self.directory.path())?;
        match self.add(launch, &points::LAUNCH)? {
            Created::New(sha256) => Ok(Some(LaunchClaim { task: self.id, sha256 })),
            Created::Exists(_) => Ok(None),
        }
    }

    /// # Panics
    /// When the claim is another task's: a mistake of the caller.
    pub(crate) fn assert_claimed_by(&self, claim: &LaunchClaim) {
        assert!(claim.task == self.id, "the launch claim belongs to another task");
    }
}
