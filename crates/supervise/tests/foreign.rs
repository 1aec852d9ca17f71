//! What is not ours is left alone, and what is over is tidied up.

mod common;

use std::fs;

use common::{FAST, Stage, Variant, starts};
use record::Sha256Digest;
use record::answer::SupervisorState;
use record::words::SupervisorKind;
use supervise::{SuperviseError, Supervisor};

#[test]
fn tasks_of_another_machine_or_supervisor_are_left_alone() {
    let mut stage = Stage::new(FAST);
    let elsewhere = Variant { machine: Sha256Digest::of(b"another machine"), ..Variant::default() };
    let elsewhere = stage.admit_as("finish", elsewhere);
    let pueue = stage.admit_as("finish", Variant { kind: SupervisorKind::Pueue, ..Variant::default() });
    let embedded = stage.embedded(2);
    assert!(matches!(embedded.submit(&stage.root, &elsewhere), Err(SuperviseError::OtherMachine)));
    assert!(matches!(
        embedded.submit(&stage.root, &pueue),
        Err(SuperviseError::OtherSupervisor { recorded: SupervisorKind::Pueue })
    ));
    for task in [&elsewhere, &pueue] {
        assert_eq!(embedded.view(&stage.root, task).state, SupervisorState::Unknown);
    }
    embedded.ensure(&stage.root).expect("nothing to do");

    let ours = stage.dispatch("finish", 2);
    stage.wait_until_closed(ours);
    stage.wait_until_alone();
    assert_eq!(starts(&stage.events()), [ours]);
}

#[test]
fn a_damaged_task_stops_nobody() {
    let mut stage = Stage::new(FAST);
    let damaged = stage.admit("finish");
    fs::write(damaged.path().join("submission.json"), "{").expect("damaged");
    let task = stage.dispatch("finish", 1);
    stage.wait_until_closed(task);
    stage.wait_until_alone();
    assert_eq!(starts(&stage.events()), [task]);
    assert_eq!(stage.embedded(1).view(&stage.root, &damaged).state, SupervisorState::Unknown);
}

#[test]
fn the_marker_of_a_terminal_task_is_removed() {
    let mut stage = Stage::new(FAST);
    let over = stage.dispatch("finish", 1);
    stage.wait_until_closed(over);
    let marker = stage.root.open_directory_path().join(over.to_string());
    fs::write(&marker, "").expect("a marker");
    let task = stage.dispatch("finish", 1);
    stage.wait_until_closed(task);
    stage.wait_until_alone();
    assert!(!marker.exists());
    assert_eq!(starts(&stage.events()), [over, task]);
}
