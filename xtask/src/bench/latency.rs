//! How long it takes to hand over a job, and until it runs.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::changes::Changes;
use super::limits::TO_RUNNING_AIM_MILLISECONDS;
use super::pueue::Pueue;
use super::rounds::{Subject, not_started, quiet, run, take, time};
use super::table::{Aim, Row, Samples};
use super::tsp::Tsp;
use super::world::{CODEX, Lead, SURVEY, World};
use crate::failure::Failure;

/// A job that does nothing.
pub(super) const TRIVIAL: [&str; 1] = ["true"];

/// The command that hands over a job, from its start to its end.
pub(super) fn handing_over(
    world: &World,
    pueue: &Pueue<'_>,
    tsp: Result<&Tsp<'_>, &str>,
    samples: usize,
) -> Result<Vec<Row>, Failure> {
    let lead = world.lead("root");
    let mut subjects = vec![
        dispatched(world, &lead, SURVEY),
        dispatched(world, &lead, CODEX),
        after_cold(dispatched(world, &lead, SURVEY), &lead),
        added(pueue),
    ];
    if let Ok(tsp) = tsp {
        subjects.push(Box::new(|| {
            let taken = time(&mut tsp.command(&TRIVIAL))?;
            tsp.wait_for_last()?;
            Ok(taken)
        }));
    }
    let mut taken = take(samples, subjects)?.into_iter();
    let mut next = || taken.next().expect("one for each subject");
    let (survey, codex, cold, pueue) = (next(), next(), next(), next());
    let tsp = tsp.map(|_| next()).map_err(str::to_owned);
    let row = |what: &str, ours: &Samples, peer: &str, peers: Result<Samples, String>, aim| Row {
        what: what.to_owned(),
        ours: ours.clone(),
        peer: peer.to_owned(),
        peers,
        aim,
    };
    Ok(vec![
        row(
            "`dispatch`, offline:survey",
            &survey,
            "`pueue add`",
            Ok(pueue.clone()),
            Some(Aim::RatioAtMost(1.0)),
        ),
        row("`dispatch`, offline:survey", &survey, "`tsp`", tsp, None),
        row("`dispatch` that starts the supervisor", &cold, "`pueue add`", Ok(pueue.clone()), None),
        row("`dispatch`, fake codex, repeated", &codex, "`pueue add`", Ok(pueue), None),
    ])
}

/// A dispatch; afterwards the task has ended.
pub(super) fn dispatched<'a>(world: &'a World, lead: &'a Lead, provider: &'a str) -> Subject<'a> {
    Box::new(move || {
        let taken = time(&mut lead.dispatch(provider, &world.brief()))?;
        lead.wait_until_idle()?;
        Ok(taken)
    })
}

/// `pueue add`; afterwards the job has ended.
pub(super) fn added<'a>(pueue: &'a Pueue<'a>) -> Subject<'a> {
    Box::new(move || {
        let taken = time(&mut pueue.add(&[], &TRIVIAL)?)?;
        pueue.wait_until_idle()?;
        Ok(taken)
    })
}

/// The subject without a supervisor that runs already.
fn after_cold<'a>(mut subject: Subject<'a>, lead: &'a Lead) -> Subject<'a> {
    Box::new(move || {
        lead.end_supervisor();
        subject()
    })
}

/// From the start of the command that hands over a job until the job runs: ours until `running.json` is there, theirs
/// until the job has made a file.
pub(super) fn to_running(
    world: &World,
    pueue: &Pueue<'_>,
    tsp: Result<&Tsp<'_>, &str>,
    samples: usize,
) -> Result<Vec<Row>, Failure> {
    let lead = world.lead("root");
    let job = world.place("jobs/begun");
    // Makes the folders of the root.
    run(&mut lead.dispatch(SURVEY, &world.brief()))?;
    lead.wait_until_idle()?;
    let mut subjects: Vec<Subject<'_>> = vec![
        Box::new(|| until_running(world, &lead, false)),
        Box::new(|| until_running(world, &lead, true)),
        Box::new(|| until_begun(world, &job, |job| pueue.add(&[], job), || pueue.wait_until_idle())),
        Box::new(|| {
            until_begun(world, &job, |job| pueue.add(&["--immediate"], job), || pueue.wait_until_idle())
        }),
    ];
    if let Ok(tsp) = tsp {
        subjects
            .push(Box::new(|| until_begun(world, &job, |job| Ok(tsp.command(job)), || tsp.wait_for_last())));
    }
    let mut taken = take(samples, subjects)?.into_iter();
    let mut next = || taken.next().expect("one for each subject");
    let (warm, cold, queued, immediate) = (next(), next(), next(), next());
    let tsp = tsp.map(|_| next()).map_err(str::to_owned);
    let row = |what: &str, ours: &Samples, peer: &str, peers, aim| Row {
        what: format!("`dispatch` to running, supervisor {what}"),
        ours: ours.clone(),
        peer: peer.to_owned(),
        peers,
        aim,
    };
    Ok(vec![
        row(
            "there",
            &warm,
            "`pueue add`",
            Ok(queued.clone()),
            Some(Aim::AtMost(TO_RUNNING_AIM_MILLISECONDS)),
        ),
        row("there", &warm, "`pueue add --immediate`", Ok(immediate), None),
        row("there", &warm, "`tsp`", tsp, None),
        row("started", &cold, "`pueue add`", Ok(queued), None),
    ])
}

fn until_running(world: &World, lead: &Lead, cold: bool) -> Result<Duration, Failure> {
    if cold {
        lead.end_supervisor();
    }
    let id = store::random_task_id();
    let task = lead.task_directory(id);
    let changes = Changes::of(&lead.root().join("tasks"))?;
    let mut command = lead.dispatch(SURVEY, &world.brief());
    command.args(["--id", &id.to_string()]);
    let begun = Instant::now();
    let mut dispatcher = quiet(&mut command).spawn().map_err(|source| not_started(&command, source))?;
    changes.until("the task", || task.exists())?;
    changes.also(&task)?;
    changes.until("the launch", || task.join("running.json").exists())?;
    let taken = begun.elapsed();
    let status = dispatcher.wait().map_err(|source| not_started(&command, source))?;
    if !status.success() {
        return Err(Failure::Program(format!("{command:?}")));
    }
    lead.wait_until_idle()?;
    Ok(taken)
}

fn until_begun(
    world: &World,
    job: &PathBuf,
    add: impl Fn(&[&str]) -> Result<std::process::Command, Failure>,
    wait: impl Fn() -> Result<(), Failure>,
) -> Result<Duration, Failure> {
    if job.exists() {
        fs::remove_file(job).map_err(Failure::file(job))?;
    }
    let changes = Changes::of(&world.place("jobs"))?;
    let mut command = add(&["touch", &job.to_string_lossy()])?;
    let begun = Instant::now();
    let mut client = quiet(&mut command).spawn().map_err(|source| not_started(&command, source))?;
    changes.until("a job", || job.exists())?;
    let taken = begun.elapsed();
    client.wait().map_err(|source| not_started(&command, source))?;
    wait()?;
    Ok(taken)
}
