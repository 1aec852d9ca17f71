//! The runner: one process that takes one task from wherever it stands to its outcome (STATE.md 3.3).

mod waiting;

use std::time::Instant;

use process::TerminationSignals;
use record::TaskId;
use record::event::{Event, EventKind};
use record::json::Record;
use record::launch::Launch;
use record::outcome::Outcome;
use record::plan::Plan;
use record::request::Request;
use record::seal::Seal;
use record::submission::Submission;
use record::words::{ReasonCode, StopCause};
use store::{Loaded, Root, RunLock, StoreError, Task};

use crate::context::{Context, now};
use crate::evidence::{Ended, Sealing, bring_to_seal, seal};
use crate::ground::{self, Found, Ground};
use crate::launch::{LaunchInput, Launched, launch};
use crate::lease::Lease;
use crate::limits::{RUN_LOCK_PATIENCE, RUN_LOCK_RHYTHM};
use crate::monitor::Monitor;
use crate::planning::{self, Planned, Planning};
use crate::publish::{Publishing, publish, tidy};
use crate::recover::{Licence, Place, Recovery, UNREADABLE, licence, place, recover, unreadable};
use crate::{admit, containment, damaged, fence, observe, points, stop};

/// How a runner ended (CLI.md "Exit codes").
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunnerExit {
    /// The task has an outcome. Exit code 0.
    Done,
    /// Try later: somebody else acts on the task, or its workspace is busy. Exit code 75.
    Busy,
    /// It could not be done; the sentence says why. Exit code 1.
    Failed(String),
}

/// Why a runner goes before there is an outcome.
enum Leave {
    Busy,
    Failed(String),
}

impl From<StoreError> for Leave {
    fn from(error: StoreError) -> Self {
        Self::Failed(error.to_string())
    }
}

/// Everything about the task that a runner holds.
struct Work<'a> {
    context: &'a Context,
    root: &'a Root,
    task: &'a Task,
    lock: &'a RunLock,
    request: Loaded<Request>,
    plan: Loaded<Plan>,
    submission: Loaded<Submission>,
    signals: &'a TerminationSignals,
}

/// Takes one task to its outcome. Must be called in a process of its own, before it has other threads: it takes over the
/// termination signals and becomes the parent of orphans.
pub fn run(context: &Context, id: TaskId) -> RunnerExit {
    match attempt(context, id) {
        Ok(()) => RunnerExit::Done,
        Err(Leave::Busy) => RunnerExit::Busy,
        Err(Leave::Failed(message)) => RunnerExit::Failed(message),
    }
}

fn attempt(context: &Context, id: TaskId) -> Result<(), Leave> {
    let signals = TerminationSignals::block().map_err(|error| Leave::Failed(format!("signals: {error}")))?;
    process::become_subreaper().map_err(|error| Leave::Failed(format!("containment: {error}")))?;
    let root = Root::open(&context.root)?;
    let task =
        root.task(id)?.ok_or_else(|| Leave::Failed(format!("there is no task {id} in {}", context.root)))?;
    let lock = take_run_lock(&task)?;
    if task.read::<Outcome>()?.is_some() {
        tidy(&root, &task, &lock);
        return Ok(());
    }
    let Ground { request, plan, submission } = match ground::read(&task)? {
        Found::Whole(ground) => *ground,
        Found::Damaged(remains) => {
            return damaged::end(context, &root, &task, &lock, &remains).map_err(Leave::Failed);
        }
        Found::Ruined(error) => {
            damaged::end_processes(&task).map_err(Leave::Failed)?;
            return Err(error.into());
        }
    };
    let (root, task, lock, signals) = (&root, &task, &lock, &signals);
    let work = Work { context, root, task, lock, request, plan, submission, signals };
    let sealed = match task.read::<Seal>()? {
        Some(sealed) => sealed,
        None => {
            let (ended, lease) = work.bring_to_end()?;
            let sealing = Sealing::of(root, task, lock, &work.request, &work.plan);
            let sealed = bring_to_seal(&sealing, ended).map_err(Leave::Failed)?;
            if let Some(lease) = lease {
                lease.give_back();
            }
            sealed
        }
    };
    publish(&Publishing { root, task, lock, request: &work.request, plan: &work.plan, seal: &sealed })?;
    Ok(())
}

fn take_run_lock(task: &Task) -> Result<RunLock, Leave> {
    let deadline = Instant::now() + RUN_LOCK_PATIENCE;
    loop {
        if let Some(lock) = task.try_run_lock()? {
            return Ok(lock);
        }
        if Instant::now() >= deadline {
            return Err(Leave::Busy);
        }
        // The kernel offers no wait for an open-file-description lock that ends by itself.
        std::thread::sleep(RUN_LOCK_RHYTHM);
    }
}

impl Work<'_> {
    /// The end of the turn, from a launch or from what is left of one; with the lease that is kept until the seal.
    fn bring_to_end(&self) -> Result<(Ended, Option<Lease>), Leave> {
        match licence(self.task)? {
            Licence::Missing => self.name_the_holder(),
            Licence::Whole(launch) => {
                return match recover(self.task, &launch.record, || self.job_is_over())? {
                    Recovery::Adopted(launched) => {
                        self.name_the_holder();
                        // The lost runner's lease went with it; another writer may hold it by now, which changes nothing for
                        // a process that writes already.
                        let lease = self.lease().ok().flatten();
                        Ok((self.watch(*launched)?, lease))
                    }
                    Recovery::Ended(ended) => Ok((ended, None)),
                    Recovery::Elsewhere => Err(Leave::Failed(format!(
                        "the task {} was launched on {}; its process can not be seen from here",
                        self.task.id(),
                        launch.record.host_name
                    ))),
                };
            }
            // Launched for certain, and by whom is not known any more. Never a second launch.
            Licence::Damaged => {
                return match place(self.task)? {
                    Some(Place::Here) => Ok((unreadable(self.task, StopCause::None), None)),
                    Some(Place::Elsewhere) if self.job_is_over() => {
                        Ok((Ended::lost(StopCause::None, UNREADABLE), None))
                    }
                    _ => Err(Leave::Failed(format!(
                        "the task {} was launched on another machine; its process can not be seen from here",
                        self.task.id()
                    ))),
                };
            }
        }
        match self.when_it_may_start()? {
            Ok(lease) => Ok((self.launch_and_watch()?, lease)),
            Err(ended) => Ok((ended, None)),
        }
    }

    fn job_is_over(&self) -> bool {
        observe::job_is_over(self.context, self.root, self.task)
    }

    /// Writes into the run lock which process acts on the task: for a diagnosis alone, the turn goes on without.
    fn name_the_holder(&self) {
        if let Ok(Some(own)) = process::identity_of(std::process::id()) {
            let _ = self.task.name_holder(self.lock, &own.to_string());
        }
    }

    fn launch_and_watch(&self) -> Result<Ended, Leave> {
        let request = &self.request.record;
        let Some(profile) = provider::catalogue().get(&request.provider) else {
            let message = "this program does not know the provider".to_owned();
            return Ok(Ended::not_started(ReasonCode::PlanDrift, message));
        };
        let brief = match self.task.brief() {
            Ok(brief) => brief,
            Err(error) if error.is_damage() => {
                return Ok(Ended::not_started(ReasonCode::EvidenceDamaged, error.to_string()));
            }
            Err(error) => return Err(error.into()),
        };
        let planning = Planning {
            root: self.root.path(),
            cache: Some(self.root.probe_cache()),
            request,
            request_sha256: self.request.sha256,
            brief: &brief,
            captured: &self.plan.record.captured,
            own_executable: &self.context.program,
        };
        let Planned { plan, host } = match planning::plan(profile, planning) {
            Ok(planned) => planned,
            Err(error) => return Ok(Ended::not_started(not_plannable(&error), error.to_string())),
        };
        if let Some((reason, message)) = planning::difference(&self.plan.record, &plan) {
            return Ok(Ended::not_started(reason, message));
        }
        points::reached(points::REPLANNED);
        let arranged = containment::arrange(request)
            .and_then(|containment| Ok((self.licence(&containment)?, containment)));
        let (licence, containment) = match arranged {
            Ok(arranged) => arranged,
            Err(message) => return Ok(Ended::not_started(ReasonCode::StartFailed, message)),
        };
        if self.signals.take().is_some() {
            // Told to end before anything was paid for: the next runner may do it.
            return Err(Leave::Busy);
        }
        let Some(claim) = self.task.claim_launch(self.lock, &licence)? else {
            return Err(Leave::Failed("somebody else launched the task".to_owned()));
        };
        points::reached(points::CLAIMED);
        journal(self.root, self.task, EventKind::Launched, None);
        let input = LaunchInput {
            task: self.task,
            request,
            plan: &self.plan.record,
            launch: &licence,
            host: &host,
            brief: &brief,
            containment: &containment,
        };
        match launch(&input, &claim) {
            Ok(launched) => {
                drop(brief);
                self.watch(launched)
            }
            Err(ended) => Ok(ended),
        }
    }

    fn licence(&self, containment: &process::Containment) -> Result<Launch, String> {
        let describe = |error: std::io::Error| error.to_string();
        Ok(Launch {
            schema_version: Launch::SCHEMA_VERSION,
            root_id: self.root.id(),
            task_id: self.task.id(),
            request_sha256: self.request.sha256,
            plan_sha256: self.plan.sha256,
            nonce: store::random_nonce(),
            machine_id: admit::machine_id(record::failure::Stage::SubmitTask)
                .map_err(|error| error.to_string())?,
            boot_id: process::boot_id().map_err(describe)?,
            pid_namespace: process::pid_namespace().map_err(describe)?,
            host_name: process::host_name(),
            containment: containment::word(containment),
            cgroup: containment::directory(containment),
            git_control_sha256: fence::git_control(&self.plan.record),
            created_at: now(),
        })
    }

    fn watch(&self, launched: Launched) -> Result<Ended, Leave> {
        let profile = provider::catalogue()
            .get(&self.request.record.provider)
            .ok_or_else(|| Leave::Failed("this program does not know the provider".to_owned()))?;
        let monitor = Monitor::new(
            self.root,
            self.task,
            &self.request,
            &self.plan,
            self.signals,
            profile.summariser(),
        )?;
        Ok(monitor.watch(launched))
    }
}

/// Publishes the outcome of a task that is cancelled before anybody launched it. The caller holds the run lock. Does nothing
/// to a task that has an outcome or was launched meanwhile.
///
/// # Errors
/// Those of the store; the stop request stays and the next runner obeys it.
pub(crate) fn cancel_before_launch(root: &Root, task: &Task, lock: &RunLock) -> Result<(), StoreError> {
    if task.has::<Launch>()? {
        return Ok(());
    }
    conclude(root, task, lock, Ended::cancelled())
}

/// Publishes the outcome of a task whose process is gone on the lead's word. The caller holds the run lock.
///
/// # Errors
/// Those of the store.
pub(crate) fn end_as_lost(root: &Root, task: &Task, lock: &RunLock) -> Result<(), StoreError> {
    let stop = if stop::is_requested(task)? { StopCause::User } else { StopCause::None };
    conclude(root, task, lock, Ended::lost(stop, "the lead declared the turn lost"))
}

/// Seals and publishes an end that needs no runner.
fn conclude(root: &Root, task: &Task, lock: &RunLock, ended: Ended) -> Result<(), StoreError> {
    let Ground { request, plan, .. } = match ground::read(task)? {
        Found::Whole(ground) => *ground,
        Found::Damaged(remains) => return damaged::conclude(root, task, lock, &remains, &ended),
        Found::Ruined(error) => return Err(error),
    };
    let sealed = match task.read::<Seal>()? {
        Some(sealed) => sealed,
        None => seal(&Sealing::of(root, task, lock, &request, &plan), &ended)?,
    };
    publish(&Publishing { root, task, lock, request: &request, plan: &plan, seal: &sealed })?;
    Ok(())
}

/// What a refusal to plan at the launch boundary means for the outcome.
fn not_plannable(error: &crate::TurnError) -> ReasonCode {
    use record::failure::FailureCode;
    match error.code {
        FailureCode::WorkspaceInvalid => ReasonCode::WorkspaceGone,
        FailureCode::ProviderUnavailable | FailureCode::ProviderPreflightFailed => {
            ReasonCode::ExecutableDrift
        }
        FailureCode::FenceUnavailable => ReasonCode::FenceUnavailable,
        _ => ReasonCode::PlanDrift,
    }
}

/// Appends to the journal. It is derived and can be rebuilt, so a failure changes nothing.
pub(crate) fn journal(root: &Root, task: &Task, event: EventKind, detail: Option<String>) {
    let _ = root.journal().append(&Event { at: now(), task_id: task.id(), event, detail });
}
