//! The oldest task comes first, and a queue of any length is worked off.

mod common;

use common::{FAST, Stage, Variant, most_at_once, starts};
use supervise::Supervisor;

#[test]
fn with_one_slot_the_oldest_comes_first() {
    let mut stage = Stage::new(FAST);
    let admitted = [30, 10, 50, 20, 40, 10];
    let mut tasks: Vec<_> = admitted
        .iter()
        .map(|second| {
            (*second, stage.admit_as("finish", Variant { admitted: *second, ..Variant::default() }))
        })
        .map(|(second, task)| (second, task.id()))
        .collect();
    stage.embedded(1).ensure(&stage.root).expect("a supervisor");
    for (_, task) in &tasks {
        stage.wait_until_closed(*task);
    }
    tasks.sort();
    let order: Vec<_> = tasks.into_iter().map(|(_, task)| task).collect();
    assert_eq!(starts(&stage.events()), order);
    assert_eq!(most_at_once(&stage.events()), 1);
}

#[test]
fn a_task_committed_while_the_slot_is_taken_is_sorted_in() {
    let mut stage = Stage::new(FAST);
    let first = stage.dispatch("hold", 1);
    stage.wait_for_start(first);
    let newest = stage.admit_as("finish", Variant { admitted: 20, ..Variant::default() }).id();
    let older = stage.admit_as("finish", Variant { admitted: 10, ..Variant::default() }).id();
    stage.release(first);
    stage.wait_until_closed(newest);
    stage.wait_until_closed(older);
    assert_eq!(starts(&stage.events()), [first, older, newest]);
}
