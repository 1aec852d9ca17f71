//! What is known of a task, without changing it: status, logs, discovery (STATE.md 3, 3.6).

use record::answer::{Answer, Continuation, RawFile, Status, SupervisorState, SupervisorView};
use record::failure::{FailureCode, NextAction, Stage};
use record::launch::{Launch, Running};
use record::outcome::Outcome;
use record::request::Request;
use record::seal::{ManifestEntry, Seal};
use record::submission::Submission;
use record::words::{Admission, Liveness, Permission, Publication, ReasonCode, SupervisorKind, Verdict};
use record::{AbsolutePath, ProfileId, Span, TaskId, Timestamp};
use store::{Loaded, PayloadName, Root, StoreError, Task};
use supervise::{SuperviseError, Supervisor};

use crate::activity::Comparison;
use crate::context::Context;
use crate::error::{At, TurnError};
use crate::evidence::unless_damaged;
use crate::ground::{self, Found};
use crate::launch;
use crate::recover::{Licence, Place, licence, place, where_launched};
use crate::{activity, damaged, rescue, stop, stopped, streams};

/// The supervisor of new tasks.
pub(crate) fn supervisor(context: &Context) -> Box<dyn Supervisor> {
    of_kind(context, context.supervisor)
}

/// The supervisor that a task was admitted for, whichever new tasks get.
pub(crate) fn owner(context: &Context, task: &Task) -> Result<Box<dyn Supervisor>, SuperviseError> {
    let recorded = task.read_apart::<Submission>()?.map(|submission| submission.record.supervisor);
    Ok(of_kind(context, recorded.unwrap_or(context.supervisor)))
}

/// Whether the supervisor of a task says that its job is over: all that can be known of a turn whose processes can not be seen
/// from here.
pub(crate) fn job_is_over(context: &Context, root: &Root, task: &Task) -> bool {
    owner(context, task).is_ok_and(|owner| owner.view(root, task).state == SupervisorState::Ended)
}

/// The supervisor of that kind, with the lead's settings.
pub(crate) fn of_kind(context: &Context, kind: SupervisorKind) -> Box<dyn Supervisor> {
    let settings = supervise::Settings {
        delegate: context.program.to_path_buf(),
        slots: context.slots,
        pueue_config: context.pueue_config.clone(),
        slurm: context.slurm.clone(),
    };
    supervise::for_kind(kind, settings)
}

/// The task, or the refusal that there is none.
pub(crate) fn existing_task(root: &Root, id: TaskId) -> Result<Task, TurnError> {
    root.task(id).at(Stage::OpenTaskRecord)?.ok_or_else(|| {
        TurnError::new(
            FailureCode::TaskNotFound,
            Stage::OpenTaskRecord,
            format!("there is no task {id} in {}", root.path()),
        )
    })
}

/// What is known of a task now. Starts the supervisor when it is missing and needed, and a runner for a task whose runner was
/// lost (STATE.md 3.2, 3.6).
pub fn status(context: &Context, id: TaskId) -> Answer {
    answer_for("status", context, id, Comparison::Sample, |_, _| Ok(()))
}

/// The raw evidence of a task. What the seal names is compared with it.
pub fn logs(context: &Context, id: TaskId) -> Answer {
    answer_for("logs", context, id, Comparison::Nothing, |task, answer| {
        let outcome = answer.outcome.as_deref();
        let files = raw_files(task, |seal, entry| {
            // Another seal than the one that was judged proves nothing.
            if outcome.is_some_and(|outcome| outcome.evidence_sha256 != seal.sha256) {
                return Ok(false);
            }
            match streams::is_as_sealed(task, entry, outcome.is_none()) {
                // What retention takes away, it takes with the directory.
                Err(_) if task.is_pruned()? => Ok(false),
                compared => compared,
            }
        })?;
        let altered = files.iter().find(|file| file.sha256.is_some() && !file.sealed);
        let complaint = altered.map(|file| format!("{} is not what the seal names", file.path));
        answer.raw = Some(files);
        let is_said = |outcome: &Outcome| outcome.reason.code == ReasonCode::EvidenceDamaged;
        match complaint {
            // Asked last: retention may have come by in between.
            Some(complaint)
                if !answer.outcome.as_deref().is_some_and(is_said)
                    && !task.is_pruned().at(Stage::ObserveTask)? =>
            {
                Err(TurnError::new(FailureCode::EvidenceDamaged, Stage::ObserveTask, complaint))
            }
            _ => Ok(()),
        }
    })
}

pub(crate) fn answer_for(
    command: &str,
    context: &Context,
    id: TaskId,
    comparison: Comparison<'_>,
    more: impl FnOnce(&Task, &mut Answer) -> Result<(), TurnError>,
) -> Answer {
    let mut answer = Answer::new(command);
    answer.task_id = Some(id);
    let look = || -> Result<(), TurnError> {
        let root = Root::open(&context.root).at(Stage::OpenState)?;
        answer.root_id = Some(root.id());
        let task = existing_task(&root, id)?;
        let cared_for = rescue::look_after(context, &root, &task);
        fill(context, &root, &task, comparison, &mut answer)?;
        if let (Err(error), Liveness::Queued, None) = (cared_for, answer.liveness, &answer.error) {
            answer.error =
                Some(format!("nobody starts this task, as its supervisor can not be started: {error}"));
        }
        more(&task, &mut answer)
    };
    match look() {
        Ok(()) => answer,
        Err(error) => error.into_answer(answer),
    }
}

/// Fills in everything that the records, the locks and the processes say of a task.
pub(crate) fn fill(
    context: &Context,
    root: &Root,
    task: &Task,
    comparison: Comparison<'_>,
    answer: &mut Answer,
) -> Result<(), TurnError> {
    answer.root_id = Some(root.id());
    answer.task_id = Some(task.id());
    answer.admission = Admission::Admitted;
    if let Some(outcome) = task.read::<Outcome>().at(Stage::ObserveTask)? {
        answer.stops = stop::view(task, true)?.map(|view| vec![view]);
        fill_terminal(root, outcome.record, answer);
        answer.pruned = task.is_pruned().at(Stage::ObserveTask)?;
        return Ok(());
    }
    can_end(task)?;
    answer.stops = stop::view(task, false)?.map(|view| vec![view]);
    answer.publication = publication(task)?;
    answer.liveness = liveness(task)?;
    answer.supervisor = owner(context, task).ok().map(|supervisor| supervisor.view(root, task));
    if answer.liveness == Liveness::Undetermined {
        answer.liveness = elsewhere(task, answer.supervisor.as_ref());
    }
    match answer.liveness {
        Liveness::Running => answer.activity = activity::observe(task, comparison),
        Liveness::Undetermined => answer.error = undetermined(task),
        Liveness::Queued | Liveness::Ended => {}
    }
    if let Some(warning) = stopped::warning(root, task, answer.liveness) {
        answer.error = Some(warning);
    }
    let is_nobodys = |view: &SupervisorView| match view.state {
        SupervisorState::GaveUp => true,
        // A queue that lost the task, or is through with it, starts nothing more.
        SupervisorState::Ended => answer.liveness == Liveness::Queued,
        _ => answer.liveness == Liveness::Queued && view.matched == Some(false),
    };
    if answer.supervisor.as_ref().is_some_and(is_nobodys) {
        answer.next_action = Some(NextAction::DispatchAgain);
    }
    Ok(())
}

/// Makes sure that somebody can bring the task to its end. What acts on it or runs for it is waited for first.
///
/// # Errors
/// So much is damaged that nobody can; that will not change.
fn can_end(task: &Task) -> Result<(), TurnError> {
    let is_locked = task.run_locked();
    let complaint = match (&is_locked, ground::read(task).at(Stage::ObserveTask)?) {
        (Ok(true), _) => return Ok(()),
        (_, Found::Ruined(error)) => Err(error),
        _ => is_locked.map(drop),
    };
    match complaint {
        Err(error) if error.is_damage() && damaged::something_runs(task) => Ok(()),
        complaint => complaint.at(Stage::ObserveTask),
    }
}

/// The command line that goes on with the conversation of a task (predecessor-core 3.11).
fn continue_command(root: &Root, outcome: &Outcome) -> String {
    let root = root.path().as_str().replace('\'', r"'\''");
    format!("delegate --root '{root}' continue --task {} --json", outcome.task_id)
}

fn fill_terminal(root: &Root, outcome: Outcome, answer: &mut Answer) {
    answer.liveness = Liveness::Ended;
    answer.publication = match outcome.verdict {
        Verdict::Committed => Publication::Committed,
        Verdict::Rejected => Publication::Rejected,
    };
    answer.status = match outcome.reason.code {
        ReasonCode::AuthenticationRequired => Some(Status::Blocked),
        ReasonCode::TimedOut => Some(Status::TimedOut),
        _ => None,
    };
    answer.next_action = match (outcome.reason.code, outcome.launched) {
        (ReasonCode::Completed, _) => None,
        (ReasonCode::AuthenticationRequired, _) => Some(NextAction::SignIn),
        (ReasonCode::RateLimited | ReasonCode::QuotaExhausted, _) if outcome.reason.retry_at.is_some() => {
            Some(NextAction::WaitUntil)
        }
        _ => None,
    };
    answer.continuation = outcome.session.as_ref().map(|session| Continuation {
        resumable: session.resumable,
        mode: provider::catalogue()
            .get(&session.provider)
            .map_or(record::words::ContinuationMode::Unsupported, |profile| {
                profile.description().continuation
            }),
        predecessor_task_id: session.resumable.then_some(outcome.task_id),
        continue_command: session.resumable.then(|| continue_command(root, &outcome)),
        reason: session.why_not.clone(),
    });
    answer.evidence_sha256 = Some(outcome.evidence_sha256);
    answer.payload = Some(outcome.payload.clone());
    answer.outcome = Some(Box::new(outcome));
}

fn publication(task: &Task) -> Result<Publication, TurnError> {
    let sealed = task.read_apart::<Seal>().at(Stage::ObserveTask)?.is_some();
    let payload = [PayloadName::Result, PayloadName::Refusal]
        .iter()
        .any(|name| matches!(task.open_payload(*name), Ok(Some(_))));
    Ok(if sealed || payload { Publication::Pending } else { Publication::None })
}

/// Computed from the run lock, the licence and the process; never stored. A damaged record leaves open what runs; a runner
/// finds out, and the task ends.
pub(crate) fn liveness(task: &Task) -> Result<Liveness, TurnError> {
    if task.read_apart::<Seal>().at(Stage::ObserveTask)?.is_some() {
        return Ok(Liveness::Ended);
    }
    let launch = match licence(task).at(Stage::ObserveTask)? {
        Licence::Whole(launch) => launch,
        Licence::Damaged => return Ok(Liveness::Undetermined),
        Licence::Missing => return Ok(Liveness::Queued),
    };
    if matches!(task.run_locked(), Ok(true)) {
        return Ok(Liveness::Running);
    }
    match where_launched(&launch.record) {
        Place::Elsewhere | Place::Undetermined => return Ok(Liveness::Undetermined),
        Place::EarlierBoot => return Ok(Liveness::Ended),
        Place::Here => {}
    }
    let running = match unless_damaged(task.read_apart::<Running>()).at(Stage::ObserveTask)? {
        (Some(running), _) => running,
        (None, true) => return Ok(Liveness::Undetermined),
        (None, false) => return Ok(Liveness::Ended),
    };
    Ok(match process::process_state(launch::identity(&running.record)) {
        process::ProcessState::Alive => Liveness::Running,
        process::ProcessState::Gone => Liveness::Ended,
        process::ProcessState::Undetermined => Liveness::Undetermined,
    })
}

/// What the supervisor's word makes of a turn whose process can not be seen from here. Only a job that runs, or that is over
/// for certain, says something of the turn.
fn elsewhere(task: &Task, view: Option<&SupervisorView>) -> Liveness {
    match view.map(|view| view.state) {
        _ if !is_elsewhere(task) => Liveness::Undetermined,
        Some(SupervisorState::Running) => Liveness::Running,
        Some(SupervisorState::Ended) => Liveness::Ended,
        _ => Liveness::Undetermined,
    }
}

/// Whether the turn was launched on another machine.
pub(crate) fn is_elsewhere(task: &Task) -> bool {
    matches!(task.read::<Launch>(), Ok(Some(launch)) if where_launched(&launch.record) == Place::Elsewhere)
}

/// Where somebody would have to look, and what a lead can do who knows that nothing runs there any more.
fn undetermined(task: &Task) -> Option<String> {
    if !matches!(place(task), Ok(Some(Place::Elsewhere | Place::Undetermined))) {
        return None;
    }
    let launch = ground::apart::<Launch>(task)?.record;
    Some(format!(
        "the turn was launched on {}, and its process can not be seen from here; look from there, or, when you know that it is \
         gone, end the task with: delegate cancel {} --declare-lost",
        launch.host_name,
        task.id()
    ))
}

/// The raw files of a task: from the manifest when sealed, else what is there. `is_sealed` compares a file with what the seal
/// says of it.
pub(crate) fn raw_files(
    task: &Task,
    is_sealed: impl Fn(&Loaded<Seal>, &ManifestEntry) -> Result<bool, StoreError>,
) -> Result<Vec<RawFile>, TurnError> {
    if let Some(seal) = task.read_apart::<Seal>().at(Stage::ObserveTask)? {
        let file = |entry: &ManifestEntry| {
            let size = streams::raw_size(task, entry.path.strip_prefix("raw/").unwrap_or(&entry.path));
            Ok(RawFile {
                path: task.path().join(&entry.path).display().to_string(),
                available: size.is_some(),
                sealed: is_sealed(&seal, entry).at(Stage::ObserveTask)?,
                size: size.or(Some(entry.size)),
                sha256: Some(entry.sha256),
            })
        };
        return seal.record.manifest.iter().map(file).collect();
    }
    Ok(["stderr", "stdout"]
        .iter()
        .map(|name| {
            let size = streams::raw_size(task, name);
            RawFile {
                path: task.raw_path(name).display().to_string(),
                available: size.is_some(),
                sealed: false,
                size,
                sha256: None,
            }
        })
        .collect())
}

/// What a task is about, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    /// The profile.
    pub provider: ProfileId,
    /// The workspace.
    pub workspace: AbsolutePath,
    /// What the turn may change.
    pub permission: Permission,
    /// Wall-clock budget.
    pub budget: Span,
    /// When the task was admitted.
    pub admitted_at: Timestamp,
}

/// What a task is about; `None` when its records can not be read.
pub fn subject(context: &Context, id: TaskId) -> Option<Subject> {
    let task = Root::open(&context.root).ok()?.task(id).ok()??;
    let request = task.read::<Request>().ok()??.record;
    Some(Subject {
        provider: request.provider,
        workspace: request.canonical_cwd,
        permission: request.requested_config.permission,
        budget: request.requested_config.budget,
        admitted_at: task.read::<Submission>().ok()??.record.admitted_at,
    })
}
