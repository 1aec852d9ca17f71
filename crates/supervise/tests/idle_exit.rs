//! A supervisor leaves when nothing is open, and never while a task relies on it.

mod common;

use std::fs::File;

use common::{FAST, LEAVES_AT_ONCE, Stage, Variant, supervisors};
use supervise::Supervisor;
use supervise::embedded::Embedded;

/// Tasks of each dispatcher, one after another: each is committed when the one before has just ended, which is when the
/// supervisor wants to leave.
const ROUNDS: usize = 100;

fn dispatch_again_and_again(stage: &Stage) {
    for _ in 0..ROUNDS {
        let task = common::admit(&stage.root, store::random_task_id(), "finish", Variant::default());
        let embedded = Embedded { delegate: common::TEST_PROGRAM.into(), slots: Some(4) };
        embedded.submit(&stage.root, &task).expect("submitted");
        stage.wait_until_closed(task.id());
    }
}

/// Alone, so that no later dispatch rescues a task that was stranded.
#[test]
fn no_task_is_stranded_between_the_last_look_and_the_exit() {
    let stage = Stage::new(LEAVES_AT_ONCE);
    dispatch_again_and_again(&stage);
    stage.wait_until_alone();
    assert!(supervisors(&stage.events()) > ROUNDS / 10, "the supervisors hardly ever left");
}

#[test]
fn supervisors_that_come_and_go_serve_many_dispatchers() {
    let stage = Stage::new(LEAVES_AT_ONCE);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| dispatch_again_and_again(&stage));
        }
    });
    stage.wait_until_alone();
}

#[test]
fn it_leaves_when_nothing_is_open_and_a_marker_alone_does_not_count() {
    let mut stage = Stage::new(FAST);
    let marker = stage.root.open_directory_path().join(store::random_task_id().to_string());
    File::create(&marker).expect("a marker");
    let task = stage.dispatch("finish", 1);
    stage.wait_until_closed(task);
    stage.wait_until_alone();
    assert!(marker.exists(), "only a repair removes a marker without a task");
    assert!(stage.log().contains("leaves: nothing is open"));
    stage.embedded(1).ensure(&stage.root).expect("nothing to do");
    assert_eq!(supervisors(&stage.events()), 1);
}

#[test]
fn a_burst_is_served_by_one_that_lingers() {
    let mut stage = Stage::new("60000 200 5 20");
    for _ in 0..20 {
        let task = stage.dispatch("finish", 2);
        stage.wait_until_closed(task);
    }
    assert_eq!(supervisors(&stage.events()), 1);
}

/// Waits until every supervisor of the stage has ended, whatever became of the root.
fn wait_until_all_left(stage: &Stage) {
    for event in stage.events() {
        if let common::Event::Supervisor { pid } = event {
            common::wait_for_exit(pid);
        }
    }
}

#[test]
fn it_leaves_when_its_root_was_removed() {
    for brief in ["finish", "hold finish"] {
        let mut stage = Stage::new(FAST);
        let task = stage.dispatch(brief, 1);
        stage.wait_for_start(task);
        // Runners and logs may still make something in it.
        while std::fs::remove_dir_all(stage.root.path().as_path()).is_err() {}
        wait_until_all_left(&stage);
    }
}

#[test]
fn it_leaves_when_another_root_stands_in_the_place_of_its_own() {
    let mut stage = Stage::new(FAST);
    let task = stage.dispatch("hold finish", 1);
    stage.wait_for_start(task);
    let path = stage.root.path().clone();
    let aside = path.as_path().with_file_name("aside");
    std::fs::rename(path.as_path(), &aside).expect("moved");
    store::Root::open_or_create(&path).expect("another root");
    wait_until_all_left(&stage);
}
