//! A task appears whole (STATE.md 2, 3.1).

use std::fs::File;
use std::io::Write;

use record::event::{Event, EventKind};
use record::plan::Plan;
use record::request::Request;
use record::submission::Submission;
use record::{Sha256Digest, TaskId, json};

use crate::directory::{Directory, FILE_MODE};
use crate::error::{At, StoreError};
use crate::kind::TaskRecord;
use crate::once::uncertain;
use crate::points;
use crate::reserve;
use crate::root::Root;
use crate::staging::Staging;
use crate::task::{BRIEF, Digests, Task};

/// Where the provider leaves artifacts.
pub(crate) const OUTPUT: &str = "output";
/// Where the evidence is.
pub(crate) const RAW: &str = "raw";
/// The brief is never written again.
const BRIEF_MODE: u32 = 0o400;

/// What a new task is made of. The records name the same root and task, and each other's digests.
#[derive(Clone, Copy, Debug)]
pub struct NewTask<'a> {
    /// What was asked.
    pub request: &'a Request,
    /// The brief, as the request names it.
    pub brief: &'a [u8],
    /// What will be launched.
    pub plan: &'a Plan,
    /// Who will own the run.
    pub submission: &'a Submission,
}

/// What came of an admission.
#[derive(Debug)]
pub enum Admitted {
    /// The task was made now, and is durable.
    New(Task),
    /// A task of that id was there; the caller compares requests. It is durable.
    Existing(Task),
}

impl Root {
    /// Commits a task: from here on it will be run. After an error other than [`StoreError::Uncertain`] there is no task
    /// and the id is free.
    ///
    /// # Errors
    /// [`StoreError::IdentityMismatch`] when the parts do not belong together or to this root;
    /// [`StoreError::Uncertain`] when the task is there but a sync failed; [`StoreError::Full`] without space.
    pub fn admit(&self, new: NewTask<'_>) -> Result<Admitted, StoreError> {
        let id = new.request.task_id;
        let encoded = Encoded::of(self, new)?;
        if let Some(task) = self.existing(id)? {
            return Ok(task);
        }
        let name = id.to_string();
        let open = self.open_markers()?;
        make_marker(&open, &name)?;
        let staging = Staging::create(self)?;
        let files = encoded.write(staging.directory(), new.brief)?;
        sync_all(&files, staging.directory(), &open)?;
        fault::point(points::MARKER_SYNCED).at(open.path())?;

        let Some((directory, lock)) = staging.commit(self, &name)? else {
            return self
                .existing(id)?
                .ok_or_else(|| StoreError::damaged(self.tasks().path_of(&name), "vanished"));
        };
        uncertain(self.tasks(), &name, || {
            self.tasks().sync()?;
            fault::point(points::TASK_DIRECTORY_SYNCED)
        })?;
        drop(lock);
        // The journal is derived: what is missing in it is found again when it is rebuilt.
        let _ = self.journal().append(&Event {
            at: new.submission.admitted_at,
            task_id: id,
            event: EventKind::Admitted,
            detail: Some(new.request.provider.to_string()),
        });
        Ok(Admitted::New(Task::admitted(self.clone(), id, directory, encoded.digests)))
    }

    /// A task that is there. Its dispatcher may have died before it was durable.
    fn existing(&self, id: TaskId) -> Result<Option<Admitted>, StoreError> {
        let Some(task) = self.task(id)? else { return Ok(None) };
        task.sync()?;
        Ok(Some(Admitted::Existing(task)))
    }
}

/// One marker serves all who try; nobody who fails removes it, for another may rely on it.
fn make_marker(open: &Directory, name: &str) -> Result<(), StoreError> {
    match open.create_file(name, FILE_MODE) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
        result => drop(result.at(open.path_of(name))?),
    }
    fault::point(points::MARKER_MADE).at(open.path_of(name))
}

/// The bytes of the records.
struct Encoded {
    request: Vec<u8>,
    plan: Vec<u8>,
    submission: Vec<u8>,
    digests: Digests,
}

impl Encoded {
    fn of(root: &Root, new: NewTask<'_>) -> Result<Self, StoreError> {
        let name = new.request.task_id.to_string();
        let path = |file| root.tasks().path_of(&name).join(file);
        let unwritable = |file| move |source| StoreError::Unwritable { path: path(file), source };
        let request = json::encode(new.request).map_err(unwritable(Request::FILE))?;
        let plan = json::encode(new.plan).map_err(unwritable(Plan::FILE))?;
        let submission = json::encode(new.submission).map_err(unwritable(Submission::FILE))?;
        let digests = Digests { request: Sha256Digest::of(&request), plan: Some(Sha256Digest::of(&plan)) };

        let belongs = |root_id, task_id| root_id == root.id() && task_id == new.request.task_id;
        let mismatch = if !belongs(new.request.root_id, new.request.task_id) {
            Some(Request::FILE)
        } else if new.request.brief_length != new.brief.len() as u64
            || new.request.brief_sha256 != Sha256Digest::of(new.brief)
        {
            Some(BRIEF)
        } else if !belongs(new.plan.root_id, new.plan.task_id) || new.plan.request_sha256 != digests.request {
            Some(Plan::FILE)
        } else if !belongs(new.submission.root_id, new.submission.task_id)
            || new.submission.request_sha256 != digests.request
            || Some(new.submission.plan_sha256) != digests.plan
        {
            Some(Submission::FILE)
        } else {
            None
        };
        match mismatch {
            None => Ok(Self { request, plan, submission, digests }),
            Some(file) => Err(StoreError::IdentityMismatch { path: path(file) }),
        }
    }

    /// Writes everything that a task has from the beginning; nothing is synced yet, so that the file system can take it in
    /// one go.
    fn write(&self, directory: &Directory, brief: &[u8]) -> Result<[File; 4], StoreError> {
        let write = |name: &str, mode, bytes: &[u8], point| {
            let write = || {
                let mut file = directory.create_file(name, mode)?;
                file.write_all(bytes)?;
                fault::point(point)?;
                Ok::<_, std::io::Error>(file)
            };
            write().at(directory.path_of(name))
        };
        let files = [
            write(Request::FILE, FILE_MODE, &self.request, points::TASK_REQUEST_WRITTEN)?,
            write(BRIEF, BRIEF_MODE, brief, points::TASK_BRIEF_WRITTEN)?,
            write(Plan::FILE, FILE_MODE, &self.plan, points::TASK_PLAN_WRITTEN)?,
            write(Submission::FILE, FILE_MODE, &self.submission, points::TASK_SUBMISSION_WRITTEN)?,
        ];
        for name in [OUTPUT, RAW] {
            directory.make(name).at(directory.path_of(name))?;
        }
        reserve::fill(directory)?;
        fault::point(points::TASK_DIRECTORIES_MADE).at(directory.path())?;
        Ok(files)
    }
}

/// All at once, so that the disk can make them durable together; the marker among them, which must be durable before its task
/// can be. The reserve itself needs no sync: what a power cut takes from it is only the space.
fn sync_all(files: &[File], directory: &Directory, open: &Directory) -> Result<(), StoreError> {
    for file in files {
        begin_to_write_back(file);
    }
    std::thread::scope(|scope| {
        let files: Vec<_> = files.iter().map(|file| scope.spawn(|| file.sync_all())).collect();
        let marker = scope.spawn(|| open.sync());
        directory.sync().at(directory.path())?;
        for file in files {
            file.join().expect("a sync does not panic").at(directory.path())?;
        }
        marker.join().expect("a sync does not panic").at(open.path())
    })?;
    files.iter().for_each(fault::synced);
    fault::point(points::TASK_FILES_SYNCED).at(directory.path())?;
    fault::point(points::TASK_STAGING_SYNCED).at(directory.path())
}

/// With all files on their way the first sync commits them together, where each would else need a commit of its own.
#[cfg(target_os = "linux")]
fn begin_to_write_back(file: &File) {
    // Advice only: the kernel starts to write what it is told not to keep.
    let _ = rustix::fs::fadvise(file, 0, None, rustix::fs::Advice::DontNeed);
}

#[cfg(not(target_os = "linux"))]
fn begin_to_write_back(_: &File) {}
