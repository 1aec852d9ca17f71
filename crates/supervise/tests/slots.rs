//! As many runners at once as there are slots, never more.

mod common;

use std::process::Stdio;

use common::{Event, FAST, Stage, Variant, most_at_once, place_of_start, starts};
use supervise::Supervisor;

#[test]
fn all_slots_are_used_and_none_that_is_not_there() {
    let mut stage = Stage::new(FAST);
    let tasks: Vec<_> = (0..12).map(|_| stage.dispatch("hold", 3)).collect();
    for round in 0..tasks.len() {
        let running = stage.wait_for("three runners, or all that are left", |events| {
            let starts = starts(events);
            (starts.len() == (round + 3).min(tasks.len())).then_some(starts)
        });
        let first = running.into_iter().find(|task| !stage.events().contains(&Event::End { task: *task }));
        let first = first.expect("a running task");
        stage.release(first);
        stage.wait_for_end(first);
    }
    tasks.iter().for_each(|task| stage.wait_until_closed(*task));
    assert_eq!(most_at_once(&stage.events()), 3);
    assert_eq!(starts(&stage.events()).len(), tasks.len());
}

#[test]
fn two_tasks_do_not_write_to_one_directory_at_once() {
    let mut stage = Stage::new(FAST);
    let variant = |admitted, inode| Variant { admitted, writes: Some(inode), ..Variant::default() };
    let first = stage.admit_as("hold", variant(1, 7)).id();
    let second = stage.admit_as("finish", variant(2, 7)).id();
    let elsewhere = stage.admit_as("finish", variant(3, 8)).id();
    stage.embedded(3).ensure(&stage.root).expect("a supervisor");
    stage.wait_until_closed(elsewhere);
    stage.release(first);
    stage.wait_until_closed(second);
    let events = stage.events();
    let place = |wanted: &Event| events.iter().position(|event| event == wanted).expect("an event");
    let second_start = place_of_start(&events, second);
    assert!(place(&Event::End { task: elsewhere }) < second_start, "{events:#?}");
    assert!(place(&Event::End { task: first }) < second_start, "{events:#?}");
}

#[test]
fn the_environment_of_the_starting_command_may_choose_the_slots() {
    let mut stage = Stage::new(FAST);
    let tasks: Vec<_> = (0..6).map(|_| stage.admit("finish").id()).collect();
    let status = stage
        .submitter(tasks[0])
        .env("DELEGATE_SLOTS", "1")
        .stdin(Stdio::null())
        .status()
        .expect("a dispatcher");
    assert!(status.success());
    tasks.iter().for_each(|task| stage.wait_until_closed(*task));
    assert_eq!(most_at_once(&stage.events()), 1);
    assert!(stage.log().contains("with 1 slots"), "{}", stage.log());
}
