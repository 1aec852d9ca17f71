//! Many trivial jobs, from the first command to the last end.

use std::time::Instant;

use super::latency::TRIVIAL;
use super::limits::{TURNS_AIM_RATIO, TURNS_COUNT, TURNS_SAMPLES_COUNT};
use super::pueue::Pueue;
use super::rounds::run;
use super::table::{Aim, Row, Samples, Unit};
use super::tsp::Tsp;
use super::world::{CODEX, Lead, SURVEY, World};
use crate::failure::Failure;

/// The same number of slots for all; one command after the other hands them over.
pub(super) fn measure(
    world: &World,
    pueue: &Pueue<'_>,
    tsp: Result<&Tsp<'_>, &str>,
) -> Result<Vec<Row>, Failure> {
    let lead = world.lead("root");
    turns(world, &lead, SURVEY, 1)?;
    turns(world, &lead, CODEX, 1)?;
    let (mut survey, mut codex, mut queued, mut spooled) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for _ in 0..TURNS_SAMPLES_COUNT {
        survey.push(turns(world, &lead, SURVEY, TURNS_COUNT)?);
        codex.push(turns(world, &lead, CODEX, TURNS_COUNT)?);
        let begun = Instant::now();
        for _ in 0..TURNS_COUNT {
            run(&mut pueue.add(&[], &TRIVIAL)?)?;
        }
        pueue.wait_until_idle()?;
        queued.push(begun.elapsed().as_secs_f64());
        if let Ok(tsp) = tsp {
            let begun = Instant::now();
            for _ in 0..TURNS_COUNT {
                run(&mut tsp.command(&TRIVIAL))?;
            }
            tsp.wait_for_last()?;
            spooled.push(begun.elapsed().as_secs_f64());
        }
    }
    let seconds = |values| Samples::new(values, Unit::Seconds);
    let (survey, queued) = (seconds(survey), seconds(queued));
    let row = |what: &str, ours: Samples, peer: &str, peers, aim| Row {
        what: format!("{TURNS_COUNT} turns to done, {what}"),
        ours,
        peer: peer.to_owned(),
        peers,
        aim,
    };
    let aim = Some(Aim::RatioAtMost(TURNS_AIM_RATIO));
    Ok(vec![
        row("offline:survey", survey.clone(), "`pueue add true`", Ok(queued.clone()), aim),
        row("fake codex", seconds(codex), "`pueue add true`", Ok(queued), None),
        row(
            "offline:survey",
            survey,
            "`tsp true`",
            tsp.map(|_| seconds(spooled)).map_err(str::to_owned),
            None,
        ),
    ])
}

fn turns(world: &World, lead: &Lead, provider: &str, count: usize) -> Result<f64, Failure> {
    let begun = Instant::now();
    for _ in 0..count {
        run(&mut lead.dispatch(provider, &world.brief()))?;
    }
    lead.wait_until_idle()?;
    Ok(begun.elapsed().as_secs_f64())
}
