//! Very many tasks behind two slots, and a supervisor that dies again and again: each has one outcome and one launch.
//!
//! `cargo xtask queue-storm` plays it with a thousand tasks and ten deaths.

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use support::{Lead, kill, until};

/// Number of tasks, if not the default.
const TASKS_VARIABLE: &str = "QUEUE_STORM_TASKS";
const TASKS_DEFAULT: usize = 60;
/// How often the supervisor is killed, if not the default.
const DEATHS_VARIABLE: &str = "QUEUE_STORM_DEATHS";
const DEATHS_DEFAULT: usize = 4;
const SLOTS: u32 = 2;
const DISPATCHERS: usize = 4;

fn number(variable: &str, default: usize) -> usize {
    std::env::var(variable).map_or(default, |number| number.parse().expect("a number"))
}

#[test]
fn each_of_very_many_tasks_has_one_outcome_and_one_launch() {
    let (tasks, deaths) = (number(TASKS_VARIABLE, TASKS_DEFAULT), number(DEATHS_VARIABLE, DEATHS_DEFAULT));
    let lead = Lead::with_slots(SLOTS);
    // One batch after the other may end, so that something is open whenever the supervisor dies.
    let batches: Vec<Vec<String>> =
        (0..=deaths).map(|batch| dispatch(&lead, batch, tasks.div_ceil(deaths + 1))).collect();
    let mut ids = batches.concat();

    for (batch, ids) in batches.iter().enumerate() {
        // An observer is enough: it starts a supervisor whenever there is none.
        let mut arguments = vec!["wait".to_owned(), "--all".to_owned(), "--json".to_owned()];
        arguments.extend(ids.iter().cloned());
        let mut observer = lead.command(&arguments).stdout(Stdio::null()).spawn().unwrap();
        fs::write(gate(&lead, batch), "").unwrap();
        if batch < deaths {
            kill(until("a supervisor", || lead.supervisor()), "KILL");
        }
        for id in ids {
            until("the outcome", || lead.record(id, "outcome.json"));
        }
        assert_eq!(until("the observer", || observer.try_wait().unwrap()).code(), Some(0));
    }

    let mut launched = BTreeMap::<String, usize>::new();
    for launch in lead.log().launches() {
        *launched.entry(support::task_of(&launch)).or_default() += 1;
    }
    ids.sort();
    assert_eq!(launched.keys().collect::<Vec<_>>(), ids.iter().collect::<Vec<_>>());
    assert!(launched.values().all(|count| *count == 1), "{launched:?}");
    for id in &ids {
        assert_eq!(lead.record(id, "outcome.json").unwrap()["reason"]["code"], "completed", "{id}");
    }
    until("nothing to be left", || lead.everything().is_empty().then_some(()));
    assert_eq!(fs::read_dir(lead.root().join("open")).unwrap().count(), 0);
}

/// Dispatches so many tasks from several processes at once; they end when the gate of their batch is open.
fn dispatch(lead: &Lead, batch: usize, number: usize) -> Vec<String> {
    let brief = format!("[[fake: wait-for-file {}]] [[fake: answer done]]", gate(lead, batch).display());
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        let dispatchers: Vec<_> = (0..DISPATCHERS)
            .map(|_| {
                scope.spawn(|| {
                    let mut ids = Vec::new();
                    while next.fetch_add(1, Ordering::Relaxed) < number {
                        ids.push(lead.dispatch("codex:exec", &brief, &[]));
                    }
                    ids
                })
            })
            .collect();
        dispatchers.into_iter().flat_map(|dispatcher| dispatcher.join().unwrap()).collect()
    })
}

fn gate(lead: &Lead, batch: usize) -> PathBuf {
    lead.path().join(format!("go-{batch}"))
}
