//! Who starts the open tasks: the supervisor of this machine, the queues of others, and the tasks on which somebody gave up
//! (STATE.md 3.2).

use record::answer::SupervisorState;
use record::failure::Stage;
use record::health::{Check, CheckStatus};
use record::submission::Submission;
use record::words::SupervisorKind;
use store::Root;

use super::records::failed_step;
use super::{Findings, undetermined};
use crate::context::Context;
use crate::limits::OPEN_TASKS_ASKED_MAX_COUNT;
use crate::{admit, observe, stopped};

/// What the supervisors say of the open tasks.
#[derive(Debug, Default)]
struct Open {
    /// Tasks of this machine's own supervisor.
    ours: u64,
    gave_up: Findings,
    /// Runners that are stopped.
    stopped: Findings,
    /// Kinds of queues that have tasks and could not be asked.
    silent: Vec<SupervisorKind>,
}

/// Whether somebody starts the open tasks of this machine, and whether the queues can be asked.
pub(super) fn checks(context: &Context, root: &Root) -> Vec<Check> {
    const ID: &str = "supervisor";
    let machine = match admit::machine_id(Stage::StartSupervisor) {
        Ok(machine) => machine,
        Err(error) => return vec![undetermined(ID, error)],
    };
    let open = match ask(context, root, machine) {
        Ok(open) => open,
        Err(error) => return vec![failed_step(ID, &error)],
    };
    let ours = open.ours;
    let supervisor_stopped = supervise::embedded::stopped(root);
    let supervisor = match root.supervisor_directory(&machine).is_locked() {
        Ok(true) if supervisor_stopped.is_some() => {
            let pid = supervisor_stopped.unwrap_or_default();
            Check::new(ID, CheckStatus::Warning, format!("process {pid} is stopped and starts nothing"))
                .with_fix(format!("kill -CONT {pid} lets it go on"))
        }
        Ok(true) => Check::new(ID, CheckStatus::Ok, format!("runs; {ours} tasks of this machine are open")),
        Ok(false) if ours == 0 => Check::new(ID, CheckStatus::Ok, "none runs, and none is needed"),
        Ok(false) => Check::new(
            ID,
            CheckStatus::Warning,
            format!("none runs, and {ours} tasks of this machine are open"),
        )
        .with_fix("delegate status ID on any of them starts one"),
        Err(error) => failed_step(ID, &error),
    };
    let mut checks = vec![supervisor, given_up(&open.gave_up), stopped_runners(&open.stopped)];
    checks.extend(queues(context, Some(root), &open.silent));
    checks
}

/// The checks of the queues, where there is no root yet.
pub(super) fn without_root(context: &Context) -> Vec<Check> {
    queues(context, None, &[])
}

fn ask(context: &Context, root: &Root, machine: record::Sha256Digest) -> Result<Open, store::StoreError> {
    let mut open = Open::default();
    for id in root.open_tasks()?.iter().take(OPEN_TASKS_ASKED_MAX_COUNT) {
        let Ok(Some(task)) = root.task(*id) else { continue };
        if let Some(runner) = stopped::runner(&task) {
            open.stopped.add(format!("process {} of task {id}", runner.pid));
        }
        let Ok(Some(submission)) = task.read::<Submission>() else { continue };
        let kind = submission.record.supervisor;
        // A cluster has one answer for all machines.
        if kind != SupervisorKind::Slurm && submission.record.machine_id != machine {
            continue;
        }
        let view = observe::of_kind(context, kind).view(root, &task);
        match view.state {
            SupervisorState::GaveUp => open.gave_up.add(id.to_string()),
            SupervisorState::Ended => {}
            _ if kind == SupervisorKind::Embedded => open.ours += 1,
            SupervisorState::Unknown if view.matched.is_none() && !open.silent.contains(&kind) => {
                open.silent.push(kind);
            }
            _ => {}
        }
    }
    Ok(open)
}

fn given_up(gave_up: &Findings) -> Check {
    const ID: &str = "gave_up";
    if gave_up.count == 0 {
        return Check::new(ID, CheckStatus::Ok, "no task was given up");
    }
    let detail = format!(
        "the runners of {} tasks ended again and again without progress: {}",
        gave_up.count,
        gave_up.sample()
    );
    Check::new(ID, CheckStatus::Warning, detail)
        .with_fix("read supervisor/*/log in the root; dispatch the same id again, or cancel it")
}

fn stopped_runners(stopped: &Findings) -> Check {
    const ID: &str = "runners";
    if stopped.count == 0 {
        return Check::new(ID, CheckStatus::Ok, "no runner is stopped");
    }
    let who = format!("{} stopped, so that nobody watches their turns: {}", stopped.count, stopped.sample());
    Check::new(ID, CheckStatus::Warning, who).with_fix("kill -CONT PID lets one go on")
}

/// A check for each kind of queue that is a service of its own.
fn queues(context: &Context, root: Option<&Root>, silent: &[SupervisorKind]) -> Vec<Check> {
    let kinds = [SupervisorKind::Pueue, SupervisorKind::Slurm];
    kinds.map(|kind| queue(context, root, kind, silent.contains(&kind))).to_vec()
}

fn queue(context: &Context, root: Option<&Root>, kind: SupervisorKind, is_silent: bool) -> Check {
    let id = format!("supervisor:{kind}");
    let is_chosen = context.supervisor == kind;
    let wrong = if is_chosen { CheckStatus::Failed } else { CheckStatus::Warning };
    const UNASKED: &str = "open tasks were admitted for it, and it can not be asked about them";
    let owner = observe::of_kind(context, kind);
    if !(is_chosen || is_silent || owner.is_set_up()) {
        return Check::new(id, CheckStatus::Ok, "not set up");
    }
    let Some(found) = owner.inspect(root) else {
        return match (is_chosen, is_silent) {
            (true, _) => Check::new(id, wrong, "it was asked for, and is not installed"),
            (false, true) => Check::new(id, wrong, format!("not installed; {UNASKED}")),
            (false, false) => Check::new(id, CheckStatus::Ok, "not installed"),
        };
    };
    let version = match found.version {
        Ok(version) => version,
        Err(error) => return Check::new(id, wrong, error.to_string()),
    };
    let place = found.place;
    match found.reached {
        _ if is_silent => Check::new(id, wrong, format!("{version}; {UNASKED}"))
            .with_fix("start its daemon, or put its configuration back as submission.json names it"),
        // A queue that nobody asked for may be one that nobody set up.
        Some(Err(error)) if is_chosen => {
            Check::new(id, wrong, format!("{version}; {place} can not be used: {error}"))
                .with_fix("start its daemon; docs/supervisors.md has examples")
        }
        Some(Err(_)) => Check::new(id, CheckStatus::Ok, format!("{version}; not asked for, and not set up")),
        Some(Ok(())) => Check::new(id, CheckStatus::Ok, format!("{version}; answers for {place}")),
        None => Check::new(id, CheckStatus::Ok, format!("{version}; {place}, started when it is needed")),
    }
}
