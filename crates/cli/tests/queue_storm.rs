//! Very many tasks behind two slots, and a supervisor that dies again and again: each has one outcome and one launch.
//!
//! `cargo xtask queue-storm` plays it with a thousand tasks and ten deaths.

mod support;

use std::collections::BTreeMap;
use std::fs;
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
    let next = AtomicUsize::new(0);
    let mut ids: Vec<String> = thread::scope(|scope| {
        let dispatchers: Vec<_> = (0..DISPATCHERS)
            .map(|_| {
                scope.spawn(|| {
                    let mut ids = Vec::new();
                    while next.fetch_add(1, Ordering::Relaxed) < tasks {
                        ids.push(lead.dispatch("codex:exec", "[[fake: answer done]]", &[]));
                    }
                    ids
                })
            })
            .collect();
        dispatchers.into_iter().flat_map(|dispatcher| dispatcher.join().unwrap()).collect()
    });
    let outcomes = || ids.iter().filter(|id| lead.task_directory(id).join("outcome.json").exists()).count();
    let begun = outcomes();

    // One observer is enough: it starts a supervisor whenever there is none.
    let mut arguments = vec!["wait".to_owned(), "--all".to_owned(), "--json".to_owned()];
    arguments.extend(ids.iter().cloned());
    let answer = fs::File::create(lead.path().join("answer")).unwrap();
    let mut observer = lead.command(&arguments).stdout(answer).stderr(Stdio::null()).spawn().unwrap();
    for death in 1..=deaths {
        let due = begun + (tasks - begun) * death / (deaths + 1);
        // Progress is what is waited for, so that a storm of any size may take its time.
        let mut last = outcomes();
        while last < due {
            last = until("another outcome", || Some(outcomes()).filter(|count| *count > last));
        }
        let supervisor = until("a supervisor", || {
            let left = observer.try_wait().unwrap();
            let told = || fs::read_to_string(lead.path().join("answer"));
            assert!(
                left.is_none(),
                "the observer left after {} of {tasks}: {left:?} {:?}",
                outcomes(),
                told()
            );
            lead.supervisor()
        });
        kill(supervisor, "KILL");
        until("its end", || {
            lead.processes(&["__supervise"]).iter().all(|pid| *pid != supervisor).then_some(())
        });
    }
    let mut last = outcomes();
    while last < tasks {
        last = until("another outcome", || Some(outcomes()).filter(|count| *count > last));
    }
    assert_eq!(until("the observer", || observer.try_wait().unwrap()).code(), Some(0));

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
