//! How a turn ended, and its seal (STATE.md 3.7).

use std::collections::BTreeMap;
use std::time::Instant;

use process::{Child, Ending, Tree};
use record::Sha256Digest;
use record::event::EventKind;
use record::json::Record;
use record::launch::{Launch, Running};
use record::plan::Plan;
use record::request::Request;
use record::seal::{Invocation, InvocationState, ManifestEntry, Seal};
use record::words::{Launched, ReasonCode, StopCause};
use store::{Created, Import, Loaded, Root, RunLock, StoreError, Task};

use crate::context::now;
use crate::limits::{SEAL_PATIENCE, SLOW_RHYTHM, SWEEP_PATIENCE};
use crate::recover::{Licence, licence};
use crate::runner::journal;
use crate::{fence, points, streams};

/// The end of a turn, before it is sealed.
pub(crate) struct Ended {
    pub(crate) invocation: Invocation,
    pub(crate) stop: StopCause,
    pub(crate) launched: Launched,
    pub(crate) recovered: bool,
    pub(crate) leaked_processes: Option<u32>,
    pub(crate) rewritten: bool,
    /// Processes that may still be there and must go before the seal.
    pub(crate) unswept: Option<Box<Unswept>>,
}

/// A tree of which something may still run.
pub(crate) struct Unswept {
    tree: Tree,
    /// Keeps the child's number from being used again while the tree is swept.
    _child: Option<Child>,
}

impl From<Tree> for Box<Unswept> {
    fn from(tree: Tree) -> Self {
        Self::new(Unswept { tree, _child: None })
    }
}

impl Ended {
    /// The end of a provider that ran.
    pub(crate) fn of(ending: Ending, stop: StopCause, recovered: bool) -> Self {
        let invocation = match ending {
            Ending::Exited(code) => Invocation::exited(code),
            Ending::Signalled(signal) => Invocation::signalled(signal),
            Ending::Ended => Invocation::of(InvocationState::Ended),
        };
        Self {
            invocation,
            stop,
            launched: Launched::Yes,
            recovered,
            leaked_processes: None,
            rewritten: false,
            unswept: None,
        }
    }

    /// The same end, with the tree that must go before it is sealed.
    pub(crate) fn leaving(self, tree: Tree, child: Child) -> Self {
        Self { unswept: Some(Box::new(Unswept { tree, _child: Some(child) })), ..self }
    }

    /// Ends what is left of the turn's processes, and counts what had to be ended.
    ///
    /// # Errors
    /// Something still runs, or that could not be determined; try again.
    pub(crate) fn sweep(&mut self) -> Result<(), String> {
        let Some(unswept) = &self.unswept else { return Ok(()) };
        let swept = unswept
            .tree
            .sweep()
            .map_err(|error| format!("what is left of the turn can not be seen: {error}"))?;
        self.leaked_processes = Some(self.leaked_processes.unwrap_or(0).saturating_add(swept.ended));
        if swept.survivors > 0 {
            return Err(format!("{} processes of the turn can not be ended", swept.survivors));
        }
        self.unswept = None;
        Ok(())
    }

    /// No provider ran.
    pub(crate) fn not_started(reason: ReasonCode, message: String) -> Self {
        Self {
            invocation: Invocation::not_started(reason, Some(message)),
            stop: StopCause::None,
            launched: Launched::No,
            recovered: false,
            leaked_processes: None,
            rewritten: false,
            unswept: None,
        }
    }

    /// Cancelled before a provider ran.
    pub(crate) fn cancelled() -> Self {
        Self {
            stop: StopCause::User,
            ..Self::not_started(ReasonCode::Cancelled, "cancelled before the launch".to_owned())
        }
    }

    /// The gate was told to go, and nobody can tell whether it did.
    pub(crate) fn undetermined_start(tree: Tree) -> Self {
        Self {
            invocation: Invocation::of(InvocationState::Lost),
            launched: Launched::Unknown,
            unswept: Some(tree.into()),
            ..Self::not_started(ReasonCode::StartFailed, String::new())
        }
    }

    /// The process is gone, and nobody saw how.
    pub(crate) fn lost(stop: StopCause, message: &str) -> Self {
        Self {
            invocation: Invocation {
                message: Some(message.to_owned()),
                ..Invocation::of(InvocationState::Lost)
            },
            stop,
            launched: Launched::Unknown,
            recovered: true,
            ..Self::not_started(ReasonCode::RunnerLost, String::new())
        }
    }
}

/// Takes in the artifacts, makes the evidence durable, and lists it: of a stream that grew over the cap what is below it.
fn manifest(sealing: &Sealing<'_>, stdout_rewritten: bool) -> Result<Vec<ManifestEntry>, StoreError> {
    let Sealing { task, lock, plan, cap, .. } = sealing;
    let artifacts = plan.map_or(&[][..], |plan| &plan.launch.output_artifacts);
    let mut cut_from = BTreeMap::new();
    for name in artifacts {
        if let Import::Imported { cut_from: Some(size) } = task.import_artifact(lock, name, *cap)? {
            cut_from.insert(name.as_str(), size);
        }
    }
    points::reached(points::IMPORTED);
    for name in STREAMS {
        if let Some(size) = streams::raw_size(task, name).filter(|size| size > cap) {
            cut_from.insert(name, size);
        }
    }
    let names: Vec<&str> = STREAMS.into_iter().chain(artifacts.iter().map(String::as_str)).collect();
    task.sync_raw(&names)?;
    let mut entries = task.manifest(&names, *cap)?;
    for entry in &mut entries {
        let name = entry.path.strip_prefix("raw/").unwrap_or(&entry.path);
        entry.cut_from = cut_from.get(name).copied();
        entry.rewritten = stdout_rewritten && name == "stdout";
    }
    Ok(entries)
}

/// A record, and whether it is there but damaged: the turn ends all the same, without trust in it.
pub(crate) fn unless_damaged<R>(
    read: Result<Option<Loaded<R>>, StoreError>,
) -> Result<(Option<Loaded<R>>, bool), StoreError> {
    match read {
        Ok(record) => Ok((record, false)),
        Err(error) if error.is_damage() => Ok((None, true)),
        Err(error) => Err(error),
    }
}

/// The two streams of every provider.
const STREAMS: [&str; 2] = ["stdout", "stderr"];

/// What sealing works on.
pub(crate) struct Sealing<'a> {
    pub(crate) root: &'a Root,
    pub(crate) task: &'a Task,
    pub(crate) lock: &'a RunLock,
    pub(crate) request_sha256: Sha256Digest,
    pub(crate) plan_sha256: Sha256Digest,
    /// Cap of each stream and artifact, in bytes.
    pub(crate) cap: u64,
    /// Absent when the records of the admission are damaged, and so is the evidence then.
    pub(crate) plan: Option<&'a Plan>,
}

impl<'a> Sealing<'a> {
    /// Sealing a task whose records are whole.
    pub(crate) fn of(
        root: &'a Root,
        task: &'a Task,
        lock: &'a RunLock,
        request: &Loaded<Request>,
        plan: &'a Loaded<Plan>,
    ) -> Self {
        Self {
            root,
            task,
            lock,
            request_sha256: request.sha256,
            plan_sha256: plan.sha256,
            cap: request.record.limits.max_output_bytes.bytes(),
            plan: Some(&plan.record),
        }
    }
}

/// Ends what is left of the turn and seals it. What only this process knows of the end would be lost with it, so it tries for
/// a while when the storage refuses or a process does not end.
///
/// # Errors
/// A sentence that says what stood in the way.
pub(crate) fn bring_to_seal(sealing: &Sealing<'_>, mut ended: Ended) -> Result<Loaded<Seal>, String> {
    let deadline = Instant::now() + SWEEP_PATIENCE;
    while let Err(survivors) = ended.sweep() {
        if Instant::now() >= deadline {
            return Err(survivors);
        }
        std::thread::sleep(SLOW_RHYTHM);
    }
    points::reached(points::SWEPT);
    let deadline = Instant::now() + SEAL_PATIENCE;
    loop {
        match seal(sealing, &ended) {
            // Only time, or somebody who makes room, can cure it.
            Err(StoreError::Full { .. } | StoreError::Io { .. }) if Instant::now() < deadline => {
                std::thread::sleep(SLOW_RHYTHM)
            }
            sealed => return sealed.map_err(|error| error.to_string()),
        }
    }
}

/// Takes in the artifacts of a turn of which nothing runs any more, and commits the seal.
///
/// # Errors
/// Those of the store; nothing is sealed then, and sealing again is harmless.
pub(crate) fn seal(sealing: &Sealing<'_>, ended: &Ended) -> Result<Loaded<Seal>, StoreError> {
    let Sealing { root, task, lock, request_sha256, plan_sha256, plan, .. } = sealing;
    let (running, running_damaged) = unless_damaged(task.read::<Running>())?;
    let (launch, launch_damaged) = unless_damaged(task.read::<Launch>())?;
    let launch_damaged = launch_damaged || matches!(licence(task)?, Licence::Damaged);
    if launch.is_none() {
        // The licence made the task durable before itself; without one the seal must (STATE.md 2).
        task.sync()?;
    }
    let before = launch.as_ref().and_then(|launch| launch.record.git_control_sha256);
    let git_control_changed = match (before, &running, plan) {
        (Some(before), Some(_), Some(plan)) => fence::git_control(plan).map(|after| after != before),
        _ => None,
    };
    let (manifest, manifest_damaged) = match manifest(sealing, ended.rewritten) {
        Ok(manifest) => {
            // What runs has both streams from its first moment on.
            let has = |name| manifest.iter().any(|entry| entry.path == format!("raw/{name}"));
            let is_whole = running.is_none() || STREAMS.into_iter().all(has);
            (manifest, !is_whole)
        }
        Err(StoreError::Damaged { .. }) => (Vec::new(), true),
        Err(error) => return Err(error),
    };
    let seal = Seal {
        schema_version: Seal::SCHEMA_VERSION,
        root_id: root.id(),
        task_id: task.id(),
        request_sha256: *request_sha256,
        plan_sha256: *plan_sha256,
        invocation: ended.invocation.clone(),
        stop: cause(ended, &manifest),
        launched: launched(ended, &manifest),
        recovered: ended.recovered,
        containment: running.as_ref().map(|running| running.record.containment),
        fence: running.as_ref().map(|running| running.record.fence),
        leaked_processes: ended.leaked_processes,
        git_control_changed,
        resources: None,
        started_at: running.map(|running| running.record.started_at),
        sealed_at: now(),
        damaged: running_damaged || launch_damaged || manifest_damaged || plan.is_none(),
        manifest,
    };
    let loaded = match task.create_reserved(lock, &seal)? {
        Created::New(sha256) => Loaded { record: seal, sha256 },
        Created::Exists(existing) => existing,
    };
    points::reached(points::SEALED);
    journal(root, task, EventKind::Sealed, None);
    Ok(loaded)
}

/// Why it stopped. What is over the cap tells that by itself: nobody may have looked in time, or lived to say so.
fn cause(ended: &Ended, manifest: &[ManifestEntry]) -> StopCause {
    match ended.stop {
        StopCause::None if manifest.iter().any(|entry| entry.cut_from.is_some()) => StopCause::OutputLimit,
        cause => cause,
    }
}

/// Whether the provider ran. Where nobody saw it start, only what it said makes that certain.
fn launched(ended: &Ended, manifest: &[ManifestEntry]) -> Launched {
    let is_stream = |entry: &&ManifestEntry| matches!(entry.path.as_str(), "raw/stdout" | "raw/stderr");
    match ended.launched {
        Launched::Unknown if manifest.iter().filter(is_stream).any(|entry| entry.size > 0) => Launched::Yes,
        launched => launched,
    }
}
