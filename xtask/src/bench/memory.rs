//! Anonymous memory of what waits for a running job.

use std::fs;
use std::time::Duration;

use super::changes::Changes;
use super::limits::{MEMORY_SAMPLES_COUNT, MEMORY_SETTLE_MILLISECONDS, RUNNER_MEMORY_AIM_KIBIBYTES};
use super::processes;
use super::pueue::Pueue;
use super::rounds::run;
use super::table::{Aim, Row, Samples, Unit};
use super::world::{CODEX, Lead, World};
use crate::failure::Failure;

/// Runner and supervisor in the middle of a turn, beside the daemon of pueue (which is the only one of its kind, while each
/// turn has a runner).
pub(super) fn measure(world: &World, pueue: &Pueue<'_>) -> Result<Vec<Row>, Failure> {
    let lead = world.lead("root");
    let (mut runner, mut supervisor, mut daemon) = (Vec::new(), Vec::new(), Vec::new());
    run(&mut pueue.add(&[], &["true"])?)?;
    pueue.wait_until_idle()?;
    for _ in 0..MEMORY_SAMPLES_COUNT {
        let (of_runner, of_supervisor) = in_mid_turn(world, &lead)?;
        runner.push(of_runner);
        supervisor.push(of_supervisor);
        daemon.push(anonymous(Some(pueue.daemon()))?);
    }
    let kibibytes = |values| Samples::new(values, Unit::Kibibytes);
    let daemon = kibibytes(daemon);
    let row = |what: &str, ours, aim| Row {
        what: format!("`RssAnon` of the {what}"),
        ours: kibibytes(ours),
        peer: "`pueued`".to_owned(),
        peers: Ok(daemon.clone()),
        aim,
    };
    let aim = Some(Aim::AtMost(RUNNER_MEMORY_AIM_KIBIBYTES));
    Ok(vec![row("runner in mid-turn", runner, aim), row("supervisor", supervisor, None)])
}

/// Of the runner and the supervisor of a turn that waits for a file.
fn in_mid_turn(world: &World, lead: &Lead) -> Result<(f64, f64), Failure> {
    let go = world.place("jobs/go");
    let brief = world.place("waiting.md");
    fs::write(&brief, format!("[[fake: wait-for-file {}]]\n", go.display()))
        .map_err(Failure::file(&brief))?;
    let id = store::random_task_id();
    run(lead.dispatch(CODEX, &brief).args(["--id", &id.to_string()]))?;

    let task = lead.task_directory(id);
    let changes = Changes::of(&task)?;
    changes.also(&task.join("raw"))?;
    let begun = || fs::metadata(task.join("raw/stdout")).is_ok_and(|stdout| stdout.len() > 0);
    changes.until("the first output", begun)?;
    std::thread::sleep(Duration::from_millis(MEMORY_SETTLE_MILLISECONDS));

    let id = id.to_string();
    let runner = ["delegate-run", "delegate"]
        .iter()
        .find_map(|program| processes::of_program(program, &[&id]).first().copied());
    let measured = (anonymous(runner)?, anonymous(lead.supervisor())?);
    fs::write(&go, "").map_err(Failure::file(&go))?;
    lead.wait_until_idle()?;
    fs::remove_file(&go).map_err(Failure::file(&go))?;
    Ok(measured)
}

fn anonymous(pid: Option<u32>) -> Result<f64, Failure> {
    pid.and_then(processes::anonymous_kibibytes)
        .ok_or_else(|| Failure::Other("a process is gone that should be there".to_owned()))
}
