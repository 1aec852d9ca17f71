//! Handing over to the real codex, in a closed network.

use std::fs;
use std::path::Path;

use testkit::real::{Component, Stage, StageError};

use super::latency::added;
use super::limits::FIRST_DISPATCH_SAMPLES_COUNT;
use super::pueue::Pueue;
use super::rounds::{take, time};
use super::table::{Row, Samples, Unit};
use super::world::{CODEX, World};
use crate::failure::Failure;
use crate::real;

/// First dispatches, which hash the executable and ask it for version and help, and repeated ones.
pub(super) fn measure(world: &World, pueue: &Pueue<'_>, samples: usize) -> Result<Vec<Row>, Failure> {
    real::install(&[Component::Codex])?;
    // The thread that sets a stage stays in its network.
    std::thread::scope(|scope| {
        let measured = scope.spawn(|| on_stage(world, pueue, samples)).join();
        measured.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

fn on_stage(world: &World, pueue: &Pueue<'_>, samples: usize) -> Result<Vec<Row>, Failure> {
    let stage = match Stage::set(Component::Codex) {
        Ok(stage) => stage,
        Err(StageError::Unavailable(reason)) => {
            eprintln!("not measured: codex: {reason}");
            return Ok(Vec::new());
        }
        Err(error) => return Err(error.into()),
    };
    let lead = world.lead("root").elsewhere(stage.workspace(), stage.environment());
    let brief = world.brief();
    let mut first = Vec::new();
    for _ in 0..FIRST_DISPATCH_SAMPLES_COUNT {
        forget_probes(&lead.root().join("probes"))?;
        first.push(time(&mut lead.dispatch(CODEX, &brief))?.as_secs_f64() * 1e3);
        lead.wait_until_idle()?;
    }
    let repeated = Box::new(|| {
        let taken = time(&mut lead.dispatch(CODEX, &brief))?;
        lead.wait_until_idle()?;
        Ok(taken)
    });
    let mut taken = take(samples, vec![repeated, added(pueue)])?.into_iter();
    let mut next = || taken.next().expect("one for each subject");
    let (repeated, added) = (next(), next());
    let row = |what: &str, ours, peer: &str, peers| Row {
        what: format!("`dispatch`, codex {}, {what}", stage.version()),
        ours,
        peer: peer.to_owned(),
        peers: Ok(peers),
        aim: None,
    };
    let first = Samples::new(first, Unit::Milliseconds);
    Ok(vec![
        row("first", first, "repeated", repeated.clone()),
        row("repeated", repeated, "`pueue add`", added),
    ])
}

/// What makes the next dispatch a first one.
fn forget_probes(directory: &Path) -> Result<(), Failure> {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        fs::remove_file(entry.path()).map_err(Failure::file(entry.path()))?;
    }
    Ok(())
}
