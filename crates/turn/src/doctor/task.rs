//! One task, record by record: strict form, identity, and the digests that tie each record to those before it (STATE.md 1, 3).

use std::io::Read;
use std::path::PathBuf;

use record::event::EventKind;
use record::launch::{Launch, Running, Session, StopRequest};
use record::outcome::Outcome;
use record::plan::Plan;
use record::request::{PriorSession, Request};
use record::retention::Pruned;
use record::seal::{ManifestEntry, Seal};
use record::submission::Submission;
use record::words::{Launched, Permission, ReasonCode, Verdict};
use record::{Sha256Digest, TaskId};
use store::{Loaded, PayloadName, Root, StoreError, Task, TaskRecord};

use crate::clock::ClockEvidence;
use crate::streams;

/// What one task shows.
#[derive(Debug, Default)]
pub(super) struct Examined {
    /// What is not as it must be, each with its path.
    pub(super) damage: Vec<String>,
    /// Its outcome says that the evidence is damaged, so that the damage is no news.
    pub(super) is_known: bool,
    /// The events of which its records tell.
    pub(super) events: Vec<EventKind>,
    /// Whether it certainly has no outcome.
    pub(super) is_open: bool,
    /// Whether it may have been launched to write and may have no outcome.
    pub(super) may_write: bool,
    /// The conversation that it goes on with.
    pub(super) prior: Option<PriorSession>,
    /// The clock, as its records saw it.
    pub(super) clock: ClockEvidence,
}

/// Looks at a task. What looks damaged is looked at once more: a record may have been in the making, or retention have come by.
pub(super) fn examine(root: &Root, id: TaskId) -> Examined {
    let first = once(root, id);
    if first.damage.is_empty() { first } else { once(root, id) }
}

fn once(root: &Root, id: TaskId) -> Examined {
    let mut examined = Examined::default();
    match root.task(id) {
        Ok(Some(task)) => examined.task(&task),
        // It was there when the directory was read; nothing of this program removes one.
        Ok(None) => examined.damage.push(format!(
            "{}: vanished",
            root.path().as_path().join("tasks").join(id.to_string()).display()
        )),
        Err(error) => {
            examined.damage.push(error.to_string());
            // Nothing tells that it does not.
            examined.may_write = true;
        }
    }
    examined
}

impl Examined {
    /// The records in the reverse order of their making: what an earlier look found must have been there before.
    fn task(&mut self, task: &Task) {
        let outcome = self.read::<Outcome>(task);
        self.is_open = matches!(outcome, Ok(None));
        let has_ended = matches!(outcome, Ok(Some(_)));
        let outcome = outcome.unwrap_or_default();
        let seal = self.read::<Seal>(task).unwrap_or_default();
        let running = self.read::<Running>(task);
        let launch = self.read::<Launch>(task);
        let _ = self.read::<Session>(task);
        let stop = self.read::<StopRequest>(task);
        if matches!(task.read::<Submission>(), Err(StoreError::IdentityMismatch { .. })) {
            // They were committed together, so that any of them may be the wrong one.
            let names = [Request::FILE, Plan::FILE, Submission::FILE].map(|file| task.path().join(file));
            let names = names.map(|path| path.display().to_string());
            self.damage.push(format!("{}: do not belong together", names.join(", ")));
        }
        let submission = self.required::<Submission>(task);
        let request = self.required::<Request>(task);
        self.is_known = seal.as_ref().is_some_and(|seal| seal.record.damaged)
            || outcome.as_ref().is_some_and(|found| found.record.reason.code == ReasonCode::EvidenceDamaged);
        let writes = |request: &Loaded<Request>| {
            request.record.requested_config.permission == Permission::WorkspaceWrite
        };
        self.may_write = !has_ended && !matches!(launch, Ok(None)) && request.as_ref().is_none_or(writes);
        self.prior = request.as_ref().and_then(|request| request.record.prior_session.clone());
        self.order(task, &outcome, &seal, &running, &launch);
        self.content(task, &request, &seal, &outcome);

        if let Some(submission) = &submission {
            self.clock.see(submission.record.admitted_at);
        }
        if let (Ok(Some(launch)), Ok(Some(running))) = (&launch, &running) {
            self.clock.see_turn(&launch.record, &running.record);
        }
        if let Some(seal) = &seal {
            self.clock.see(seal.record.sealed_at);
        }
        let mut tell = |is_told: bool, event| {
            if is_told {
                self.events.push(event)
            }
        };
        tell(submission.is_some(), EventKind::Admitted);
        tell(matches!(launch, Ok(Some(_))), EventKind::Launched);
        tell(matches!(stop, Ok(Some(_))), EventKind::StopRequested);
        tell(seal.is_some(), EventKind::Sealed);
        tell(outcome.is_some(), EventKind::Published);
        tell(matches!(task.is_pruned(), Ok(true)), EventKind::Pruned);
    }

    /// A record, if it is there; an error is damage.
    fn read<R: TaskRecord>(&mut self, task: &Task) -> Result<Option<Loaded<R>>, ()> {
        task.read::<R>().map_err(|error| {
            let complaint = error.to_string();
            // Every record is compared with the request and the plan.
            if !self.damage.contains(&complaint) {
                self.damage.push(complaint);
            }
        })
    }

    /// A record that every task has.
    fn required<R: TaskRecord>(&mut self, task: &Task) -> Option<Loaded<R>> {
        let record = self.read::<R>(task).ok()?;
        if record.is_none() {
            self.damaged(task, R::FILE, "is missing");
        }
        record
    }

    fn damaged(&mut self, task: &Task, file: &str, why: &str) {
        self.damage.push(format!("{}: {why}", task.path().join(file).display()));
    }

    /// Which records need which others.
    fn order(
        &mut self,
        task: &Task,
        outcome: &Option<Loaded<Outcome>>,
        seal: &Option<Loaded<Seal>>,
        running: &Result<Option<Loaded<Running>>, ()>,
        launch: &Result<Option<Loaded<Launch>>, ()>,
    ) {
        match (outcome, seal) {
            (Some(_), None) if self.damage.is_empty() => {
                self.damaged(task, Seal::FILE, "is missing beside an outcome")
            }
            (Some(outcome), Some(seal)) if outcome.record.evidence_sha256 != seal.sha256 => {
                let seal = task.path().join(Seal::FILE);
                let why = format!("does not name the seal beside it, {}", seal.display());
                self.damaged(task, Outcome::FILE, &why);
            }
            (Some(outcome), Some(seal)) if !agree(&outcome.record, &seal.record) => {
                self.damaged(task, Outcome::FILE, "says something else than the seal that it names");
            }
            _ => {}
        }
        if let (Ok(Some(launch)), Ok(Some(running))) = (launch, running)
            && running.record.launch_sha256 != launch.sha256
        {
            self.damaged(task, Running::FILE, "names another licence than the one beside it");
        }
        let was_launched = matches!(running, Ok(Some(_)))
            || seal.as_ref().is_some_and(|seal| seal.record.launched == Launched::Yes);
        if was_launched && matches!(launch, Ok(None)) {
            self.damaged(task, Launch::FILE, "is missing beside a turn that ran");
        }
    }

    /// The files that records name: brief, plan, raw output, answer. Retention may take them away at any moment.
    fn content(
        &mut self,
        task: &Task,
        request: &Option<Loaded<Request>>,
        seal: &Option<Loaded<Seal>>,
        outcome: &Option<Loaded<Outcome>>,
    ) {
        let mut missing = Vec::new();
        let mut judge = |path: PathBuf, found: Result<Content, StoreError>| match found {
            Ok(Content::AsNamed) => {}
            Ok(Content::Other) => missing.push(format!("{}: is not what its record names", path.display())),
            Err(error) => missing.push(error.to_string()),
        };
        if request.is_some() {
            judge(task.path().join("brief.md"), task.brief().map(|_| Content::AsNamed));
            let plan = task
                .read::<Plan>()
                .map(|plan| if plan.is_some() { Content::AsNamed } else { Content::Other });
            judge(task.path().join(Plan::FILE), plan);
        }
        for entry in seal.iter().flat_map(|seal| &seal.record.manifest) {
            judge(task.path().join(&entry.path), raw(task, entry, self.is_open));
        }
        if let Some(outcome) = outcome {
            judge(task.path().join(&outcome.record.payload.basename), payload(task, &outcome.record));
        }
        match task.read::<Pruned>() {
            Ok(None) => self.damage.append(&mut missing),
            Ok(Some(pruned)) => match outcome {
                Some(outcome) if pruned.record.outcome_sha256 == outcome.sha256 => {}
                Some(_) => self.damaged(task, Pruned::FILE, "names another outcome"),
                None if self.is_open => self.damaged(task, Pruned::FILE, "stands beside no outcome"),
                None => {}
            },
            Err(error) => self.damage.push(error.to_string()),
        }
    }
}

/// Whether an outcome repeats what its seal says.
fn agree(outcome: &Outcome, seal: &Seal) -> bool {
    let artifacts = outcome.artifacts.iter().map(|artifact| (&artifact.path, artifact.size, artifact.sha256));
    let mut sealed = seal.manifest.iter().map(|entry| (&entry.path, entry.size, entry.sha256));
    (outcome.launched, outcome.stop, outcome.recovered) == (seal.launched, seal.stop, seal.recovered)
        && (outcome.containment, outcome.fence) == (seal.containment, seal.fence)
        && (outcome.leaked_processes, outcome.git_control_changed)
            == (seal.leaked_processes, seal.git_control_changed)
        && artifacts.into_iter().all(|artifact| sealed.any(|entry| entry == artifact))
}

enum Content {
    AsNamed,
    Other,
}

fn compared(
    file: Option<impl Read>,
    path: PathBuf,
    named: (Sha256Digest, u64),
) -> Result<Content, StoreError> {
    let Some(file) = file else { return Ok(Content::Other) };
    let found = Sha256Digest::of_reader(file).map_err(|source| StoreError::Io { path, source })?;
    Ok(if found == named { Content::AsNamed } else { Content::Other })
}

fn raw(task: &Task, entry: &ManifestEntry, is_open: bool) -> Result<Content, StoreError> {
    Ok(if streams::is_as_sealed(task, entry, is_open)? { Content::AsNamed } else { Content::Other })
}

fn payload(task: &Task, outcome: &Outcome) -> Result<Content, StoreError> {
    let name = match outcome.verdict {
        Verdict::Committed => PayloadName::Result,
        Verdict::Rejected => PayloadName::Refusal,
    };
    let path = task.path().join(name.basename());
    compared(task.open_payload(name)?, path, (outcome.payload.sha256, outcome.payload.length))
}
