//! What a runner leaves behind comes home to the supervisor, which reaps it and does not end it.

mod common;

use std::fs;

use common::{Event, STAYS, Stage, open_process, wait_until_reaped};

#[test]
fn an_orphan_is_left_alive_and_reaped_when_it_ends() {
    let mut stage = Stage::new(STAYS);
    let task = stage.dispatch("leave-orphan-on-hold", 1);
    stage.wait_for_log("ended: Exited(0)", 1);
    let (_, supervisor) = stage.wait_for_start(task);
    let orphan = stage.wait_for("an orphan", |events| {
        events.iter().find_map(|event| match event {
            Event::Orphan { pid } => Some(*pid),
            _ => None,
        })
    });
    let status = fs::read_to_string(format!("/proc/{orphan}/status")).expect("a living orphan");
    assert!(status.contains(&format!("PPid:\t{supervisor}\n")), "{status}");
    let process = open_process(orphan).expect("a living orphan");
    stage.release(task);
    wait_until_reaped(&process);
}
