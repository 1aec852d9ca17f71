//! One supervisor per root and machine, whoever starts how many.

mod common;

use std::collections::HashSet;
use std::process::Command;

use common::{Event, STAYS, Stage, TEST_PROGRAM};
use record::answer::SupervisorState;
use supervise::Supervisor;

#[test]
fn of_many_started_at_once_one_serves() {
    let mut stage = Stage::new(STAYS);
    let tasks: Vec<_> = (0..8).map(|_| stage.admit("finish").id()).collect();
    let dispatchers: Vec<_> =
        tasks.iter().map(|task| stage.submitter(*task).spawn().expect("a dispatcher")).collect();
    for mut dispatcher in dispatchers {
        assert!(dispatcher.wait().expect("an end").success());
    }
    tasks.iter().for_each(|task| stage.wait_until_closed(*task));
    let serving: HashSet<_> = stage
        .events()
        .into_iter()
        .filter_map(|event| match event {
            Event::Start { supervisor, .. } => Some(supervisor),
            _ => None,
        })
        .collect();
    assert_eq!(serving.len(), 1);
}

#[test]
fn a_second_one_leaves_at_once_and_in_peace() {
    let mut stage = Stage::new(STAYS);
    let task = stage.dispatch("hold", 1);
    stage.wait_for_hold(task);
    let second = Command::new(TEST_PROGRAM)
        .args(["__supervise", "--root", stage.root.path().as_str()])
        .status()
        .expect("a supervisor");
    assert!(second.success());
    let opened = stage.root.task(task).expect("readable").expect("a task");
    let view = || stage.embedded(1).view(&stage.root, &opened).state;
    assert_eq!(view(), SupervisorState::Running);
    stage.release(task);
    stage.wait_until_closed(task);
    assert_eq!(view(), SupervisorState::Ended);
}
