//! What it costs to look at a root of very many tasks, and that nothing is lost while content is removed from it.

use std::fs;
use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::Value;

use super::changes::Changes;
use super::limits::{
    EVENTS_BEHIND_COUNT, LOOK_AIM_MILLISECONDS, LOOKED_AT_FEW_COUNT, LOOKED_AT_MANY_COUNT,
    TURNS_BESIDE_PRUNE_COUNT,
};
use super::rounds::{Subject, not_started, read, take, time};
use super::stored::{store, store_more};
use super::table::{Aim, Row, Samples, Unit};
use super::world::{Lead, SURVEY, World};
use crate::failure::Failure;

/// A root, a task in the middle of it, and a cursor near its end.
struct Looked {
    lead: Lead,
    task: String,
    cursor: String,
}

/// The command of a look.
type Look = fn(&Looked) -> Command;

/// Looks at a root with few tasks and at one with very many, then prunes half of that one while turns run.
pub(super) fn measure(world: &World, samples: usize) -> Result<Vec<Row>, Failure> {
    let half = LOOKED_AT_MANY_COUNT / 2;
    let many = world.lead("many");
    let model = store(world, &many, half)?;
    let first_half_stored = Instant::now();
    let few = world.lead("few");
    let of_few = store(world, &few, LOOKED_AT_FEW_COUNT)?.id().to_owned();
    let few = looked(few, of_few)?;
    let of_many = store_more(&many, &model, half)?.to_string();
    let many = looked(many, of_many)?;
    // Else the new files would be written back while samples are taken.
    rustix::fs::sync();

    let looks: [(&str, Look); 5] = [
        ("list", |looked| looked.lead.delegate(["list", "--json"])),
        ("list --state running", |looked| looked.lead.delegate(["list", "--state", "running", "--json"])),
        ("status", |looked| looked.lead.delegate(["status", &looked.task, "--json"])),
        ("collect", |looked| looked.lead.delegate(["collect", &looked.task, "--json"])),
        ("events --since", |looked| looked.lead.delegate(["events", "--since", &looked.cursor])),
    ];
    let mut subjects: Vec<Subject<'_>> = Vec::new();
    for (_, look) in &looks {
        for looked in [&many, &few] {
            subjects.push(Box::new(move || time(&mut look(looked))));
        }
    }
    let mut taken = take(samples, subjects)?.into_iter();
    let mut next = || taken.next().expect("one for each subject");
    let mut rows = Vec::new();
    for (name, _) in &looks {
        let (many, few) = (next(), next());
        rows.push(Row {
            what: format!("`{name}` with {LOOKED_AT_MANY_COUNT} tasks"),
            ours: many,
            peer: format!("the same with {LOOKED_AT_FEW_COUNT}"),
            peers: Ok(few),
            aim: Some(Aim::AtMost(LOOK_AIM_MILLISECONDS)),
        });
    }
    rows.push(prune(world, &many.lead, half, first_half_stored)?);
    Ok(rows)
}

fn looked(lead: Lead, task: String) -> Result<Looked, Failure> {
    let events = read(&mut lead.delegate(["events"]))?;
    let lines = events.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let cursor = lines
        .rev()
        .nth(EVENTS_BEHIND_COUNT)
        .and_then(|line| serde_json::from_slice::<Value>(line).ok())
        .and_then(|line| Some(line["cursor"].as_str()?.to_owned()))
        .ok_or_else(|| Failure::Other("there are too few events".to_owned()))?;
    Ok(Looked { lead, task, cursor })
}

/// Removes the content of the older half while turns run, and makes sure that all of it went and nothing else.
fn prune(world: &World, lead: &Lead, count: usize, stored_before: Instant) -> Result<Row, Failure> {
    let age = format!("{}ms", stored_before.elapsed().as_millis());
    let journal = lead.root().join("journal.ndjson");
    let told = || journal.metadata().map_or(0, |metadata| metadata.len());
    let (changes, told_before) = (Changes::of(lead.root())?, told());
    let begun = Instant::now();
    let mut command = lead.delegate(["prune", "--older-than", &age, "--json"]);
    let pruning = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|source| not_started(&command, source))?;
    // Before, it only looks which tasks are old enough.
    changes.until("the first removal", || told() > told_before)?;
    let mut turns = Vec::new();
    for _ in 0..TURNS_BESIDE_PRUNE_COUNT {
        turns.push(read(lead.dispatch(SURVEY, &world.brief()).arg("--wait"))?);
    }
    let turns_took = begun.elapsed();
    let output = pruning.wait_with_output().map_err(Failure::file("prune"))?;
    let took = begun.elapsed();
    if took <= turns_took {
        return Err(Failure::Other("prune was over before the turns were".to_owned()));
    }
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    if answer["pruned_count"] != count || answer["kept_count"] != 0 {
        return Err(Failure::Other(format!("prune did something else: {answer}")));
    }
    for turn in turns {
        let answer: Value = serde_json::from_slice(&turn).unwrap_or_default();
        let id = answer["task_id"].as_str().unwrap_or_default();
        if answer["publication"] != "committed" {
            return Err(Failure::Other(format!("a turn beside prune was lost: {answer}")));
        }
        read(&mut lead.delegate(["collect", id]))?;
    }
    let tasks = lead.root().join("tasks");
    let (mut pruned, mut whole) = (0, 0);
    for entry in fs::read_dir(&tasks).map_err(Failure::file(&tasks))?.flatten() {
        let has = |name: &str| entry.path().join(name).exists();
        match (has("pruned.json"), has("result.txt") && has("raw/stdout")) {
            (true, false) => pruned += 1,
            (false, true) => whole += 1,
            other => {
                return Err(Failure::Other(format!("{}: half removed: {other:?}", entry.path().display())));
            }
        }
    }
    if (pruned, whole) != (count, count + TURNS_BESIDE_PRUNE_COUNT) {
        return Err(Failure::Other(format!("{pruned} are pruned and {whole} are whole")));
    }
    Ok(Row {
        what: format!("`prune` of {count} of {} tasks while {TURNS_BESIDE_PRUNE_COUNT} turns run", 2 * count),
        ours: Samples::new(vec![took.as_secs_f64()], Unit::Seconds),
        peer: String::new(),
        peers: Err("no peer".to_owned()),
        aim: None,
    })
}
