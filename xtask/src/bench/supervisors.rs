//! What each supervisor adds to the bare command of its queue.

use std::os::unix::fs::symlink;
use std::process::Command;
use std::time::{Duration, Instant};

use testkit::real::slurm::{self, Cluster, Plan};

use super::latency::{TRIVIAL, added, dispatched};
use super::limits::{QUEUE_QUESTION_MILLISECONDS, WAIT_MAX_SECONDS};
use super::pueue::Pueue;
use super::rounds::{Subject, read, take, time};
use super::table::{Row, Samples};
use super::world::{SURVEY, World};
use crate::failure::Failure;

/// The hand-over by `delegate` and by the bare command, in turn; the embedded supervisor in the same run for comparison.
pub(super) fn measure(world: &World, pueue: &Pueue<'_>, samples: usize) -> Result<Vec<Row>, Failure> {
    let client = world.place("bin/pueue");
    symlink(pueue.command()?.get_program(), &client).map_err(Failure::file(&client))?;
    let embedded = world.lead("root");
    let queued = world.lead("root-of-pueue").and("DELEGATE_PUEUE_CONFIG", world.place("pueue/pueue.yml"));
    let cluster = match slurm::missing() {
        None => Ok(Cluster::start(&Plan::default()).map_err(|error| Failure::Other(error.to_string()))?),
        Some(reason) => Err(reason),
    };
    let on_cluster = cluster.as_ref().ok().map(|cluster| {
        world.lead("root-of-slurm").and("DELEGATE_SUPERVISOR", "slurm").and("SLURM_CONF", cluster.config())
    });
    let mut subjects = vec![
        dispatched(world, &embedded, SURVEY),
        after(dispatched(world, &queued, SURVEY), || pueue.wait_until_idle()),
        added(pueue),
    ];
    if let (Ok(cluster), Some(lead)) = (&cluster, &on_cluster) {
        subjects.push(after(dispatched(world, lead, SURVEY), || wait_until_idle(cluster)));
        subjects.push(after(Box::new(|| time(&mut submitted(cluster))), || wait_until_idle(cluster)));
    }
    let mut taken = take(samples, subjects)?.into_iter();
    let mut next = || taken.next().expect("one for each subject");
    let (embedded, queued, bare) = (next(), next(), next());
    let row = |what: &str, ours: Samples, peer: &str, peers: Samples| Row {
        what: format!("`dispatch`, {what}"),
        ours,
        peer: peer.to_owned(),
        peers: Ok(peers),
        aim: None,
    };
    let mut rows = vec![
        row("embedded", embedded, "`pueue add`", bare.clone()),
        row("pueue", queued, "`pueue add`", bare),
    ];
    match cluster {
        Ok(_) => rows.push(row("slurm", next(), "`sbatch`", next())),
        Err(reason) => eprintln!("not measured: slurm: {reason}"),
    }
    Ok(rows)
}

/// The bare command for a job that does nothing.
fn submitted(cluster: &Cluster) -> Command {
    let mut command = cluster.program("sbatch");
    command.args(["--output=/dev/null", "--wrap", TRIVIAL[0]]);
    command
}

/// The subject, and quiet behind it.
fn after<'a>(mut subject: Subject<'a>, quiet: impl Fn() -> Result<(), Failure> + 'a) -> Subject<'a> {
    Box::new(move || {
        let taken = subject()?;
        quiet()?;
        Ok(taken)
    })
}

/// Asks again and again: Slurm tells nobody.
fn wait_until_idle(cluster: &Cluster) -> Result<(), Failure> {
    let deadline = Instant::now() + Duration::from_secs(WAIT_MAX_SECONDS);
    while !read(cluster.program("squeue").arg("--noheader"))?.is_empty() {
        if Instant::now() >= deadline {
            return Err(Failure::Other("slurm does not end its jobs".to_owned()));
        }
        std::thread::sleep(Duration::from_millis(QUEUE_QUESTION_MILLISECONDS));
    }
    Ok(())
}
