//! A runner that ended too early is started again; one that gets nowhere is given up.

mod common;

use std::fs;

use common::{Event, FAST, STAYS, Stage, Variant, end, place_of_start, started, supervisors};
use record::answer::SupervisorState;
use supervise::Supervisor;

#[test]
fn a_failing_runner_is_given_up_after_five_starts_and_tried_again_when_submitted() {
    let mut stage = Stage::new(FAST);
    let task = stage.dispatch("fail-until repaired", 1);
    stage.wait_until_alone_after_start(task);
    assert_eq!(started(&stage.events(), task).len(), 5);
    let opened = stage.root.task(task).expect("readable").expect("a task");
    let embedded = stage.embedded(1);
    assert_eq!(embedded.view(&stage.root, &opened).state, SupervisorState::GaveUp);

    let before = supervisors(&stage.events());
    embedded.ensure(&stage.root).expect("nothing to do");
    fs::write(stage.path("repaired"), "").expect("a file");
    embedded.submit(&stage.root, &opened).expect("submitted");
    stage.wait_until_closed(task);
    assert_eq!(embedded.view(&stage.root, &opened).state, SupervisorState::Ended);
    assert_eq!(started(&stage.events(), task).len(), 6);
    assert_eq!(
        supervisors(&stage.events()),
        before + 1,
        "an observer started one for a task that was given up"
    );
}

#[test]
fn a_living_supervisor_hears_of_a_task_that_is_submitted_again() {
    let mut stage = Stage::new(STAYS);
    let task = stage.dispatch("fail-until repaired", 1);
    let opened = stage.root.task(task).expect("readable").expect("a task");
    let notes = stage.root.supervisor_directory(&common::machine()).path().join("gave-up");
    stage.wait_for("five starts", |events| (started(events, task).len() == 5).then_some(()));
    stage.wait_in(&notes, "a note", || notes.join(task.to_string()).exists().then_some(()));
    fs::write(stage.path("repaired"), "").expect("a file");
    stage.embedded(1).submit(&stage.root, &opened).expect("submitted");
    stage.wait_until_closed(task);
    assert_eq!(supervisors(&stage.events()), 1);
}

#[test]
fn a_runner_that_is_told_to_come_later_is_not_given_up() {
    let mut stage = Stage::new(FAST);
    let task = stage.dispatch("busy-times 8", 1);
    stage.wait_until_closed(task);
    assert_eq!(started(&stage.events(), task).len(), 9);
}

#[test]
fn a_busy_task_does_not_wait_for_its_time_when_another_one_ended() {
    let mut stage = Stage::new("100 3600000 3600000 3600000");
    let first = stage.dispatch("hold", 2);
    let second = stage.dispatch("busy-times 1", 2);
    stage.wait_for_start(first);
    stage.wait_for_log("is tried again in", 1);
    stage.release(first);
    stage.wait_until_closed(second);
}

#[test]
fn a_killed_runner_is_started_again_and_progress_is_counted() {
    let mut stage = Stage::new(FAST);
    let dies_once = stage.dispatch("launch\ndie-first\nfinish", 1);
    stage.wait_until_closed(dies_once);
    assert_eq!(started(&stage.events(), dies_once).len(), 2);

    let held = stage.dispatch("hold", 1);
    let (runner, _) = stage.wait_for_start(held);
    end(runner);
    stage.wait_for("a second start", |events| (started(events, held).len() == 2).then_some(()));
    stage.release(held);
    stage.wait_until_closed(held);
}

#[test]
fn a_launched_task_gets_its_next_runner_before_the_queue() {
    let mut stage = Stage::new(FAST);
    let launched = stage.dispatch("launch\ndie-first\nhold", 1);
    // The later one, also for a supervisor that finds both at once.
    let queued = stage.admit_as("finish", Variant { admitted: 9, ..Variant::default() }).id();
    stage.wait_for("a second start", |events| (started(events, launched).len() == 2).then_some(()));
    stage.release(launched);
    stage.wait_until_closed(queued);
    let events = stage.events();
    let place = |wanted: &Event| events.iter().position(|event| event == wanted).expect("an event");
    assert!(place_of_start(&events, queued) > place(&Event::End { task: launched }), "{events:#?}");
}

impl Stage {
    fn wait_until_alone_after_start(&self, task: record::TaskId) {
        self.wait_for_start(task);
        self.wait_until_alone();
    }
}
