//! The supervisor of this machine, and the tasks on which it gave up (STATE.md 3.2).

use record::answer::SupervisorState;
use record::failure::Stage;
use record::health::{Check, CheckStatus};
use record::submission::Submission;
use store::Root;

use super::{Findings, undetermined};
use crate::context::Context;
use crate::limits::OPEN_TASKS_ASKED_MAX_COUNT;
use crate::{admit, observe, stopped};

/// Whether somebody starts the open tasks of this machine.
pub(super) fn checks(context: &Context, root: &Root) -> Vec<Check> {
    const ID: &str = "supervisor";
    let open = match root.open_tasks() {
        Ok(open) => open,
        Err(error) => return vec![undetermined(ID, error)],
    };
    let machine = match admit::machine_id(Stage::StartSupervisor) {
        Ok(machine) => machine,
        Err(error) => return vec![undetermined(ID, error)],
    };
    let (mut ours, mut gave_up, mut stopped) = (0_u64, Findings::default(), Findings::default());
    for id in open.iter().take(OPEN_TASKS_ASKED_MAX_COUNT) {
        let Ok(Some(task)) = root.task(*id) else { continue };
        if let Some(runner) = stopped::runner(&task) {
            stopped.add(format!("process {} of task {id}", runner.pid));
        }
        let Ok(Some(submission)) = task.read::<Submission>() else { continue };
        if submission.record.machine_id != machine {
            continue;
        }
        let mut owner = context.clone();
        owner.supervisor = submission.record.supervisor;
        match observe::supervisor(&owner).map(|supervisor| supervisor.view(root, &task).state) {
            Ok(SupervisorState::GaveUp) => gave_up.add(id.to_string()),
            Ok(SupervisorState::Ended) | Err(_) => {}
            Ok(_) => ours += 1,
        }
    }
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
        Err(error) => undetermined(ID, error),
    };
    let given_up = if gave_up.count == 0 {
        Check::new("gave_up", CheckStatus::Ok, "no task was given up")
    } else {
        Check::new(
            "gave_up",
            CheckStatus::Warning,
            format!(
                "the runners of {} tasks ended again and again without progress: {}",
                gave_up.count,
                gave_up.sample()
            ),
        )
        .with_fix("read supervisor/*/log in the root; dispatch the same id again, or cancel it")
    };
    let runners = if stopped.count == 0 {
        Check::new("runners", CheckStatus::Ok, "no runner is stopped")
    } else {
        let who =
            format!("{} stopped, so that nobody watches their turns: {}", stopped.count, stopped.sample());
        Check::new("runners", CheckStatus::Warning, who).with_fix("kill -CONT PID lets one go on")
    };
    vec![supervisor, given_up, runners]
}
