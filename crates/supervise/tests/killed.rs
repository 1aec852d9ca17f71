//! The end of a supervisor costs nothing, wherever it comes.

mod common;

use std::process::Command;

use common::{
    Event, FAST, STAYS, Stage, TEST_PROGRAM, Variant, end, most_at_once, signal, started, wait_for_exit,
};
use record::answer::SupervisorState;
use rustix::process::Signal;
use supervise::{POINTS, Supervisor};

#[test]
fn the_next_one_counts_the_runners_that_live() {
    let mut stage = Stage::new(FAST);
    let held = stage.dispatch("hold", 1);
    let (runner, supervisor) = stage.wait_for_start(held);
    end(supervisor);
    wait_for_exit(supervisor);
    assert!(!stage.is_served());

    let queued = stage.admit("finish");
    let view = |task: &store::Task| stage.embedded(1).view(&stage.root, task).state;
    assert_eq!(view(&queued), SupervisorState::Queued);
    stage.embedded(1).ensure(&stage.root).expect("a supervisor");
    stage.wait_for_log("with 1 slots", 2);
    let opened = stage.root.task(held).expect("readable").expect("a task");
    assert_eq!(view(&opened), SupervisorState::Running);
    assert_eq!(view(&queued), SupervisorState::Queued);
    stage.release(held);
    stage.wait_until_closed(queued.id());
    let events = stage.events();
    assert_eq!(most_at_once(&events), 1);
    assert_eq!(started(&events, held), [(runner, supervisor)], "the living runner was not left alone");
}

#[test]
fn a_runner_lost_together_with_its_supervisor_is_replaced() {
    let mut stage = Stage::new(FAST);
    let held = stage.dispatch("launch\nhold", 1);
    let (runner, supervisor) = stage.wait_for_start(held);
    end(supervisor);
    wait_for_exit(supervisor);
    stage.embedded(1).ensure(&stage.root).expect("a supervisor");
    stage.wait_for_log("with 1 slots", 2);
    end(runner);
    stage.wait_for("a second start", |events| (started(events, held).len() == 2).then_some(()));
    stage.release(held);
    stage.wait_until_closed(held);
}

#[test]
fn a_task_that_is_submitted_while_the_supervisor_dies_is_started() {
    let mut stage = Stage::new(FAST);
    for _ in 0..20 {
        let held = stage.dispatch("hold", 1);
        let (_, supervisor) = stage.wait_for_start(held);
        let next = stage.admit("finish");
        end(supervisor);
        // It may hold its lock for another moment, and nobody looks later.
        stage.embedded(1).submit(&stage.root, &next).expect("submitted");
        stage.release(held);
        stage.wait_until_closed(next.id());
        stage.wait_until_closed(held);
    }
}

#[test]
fn killed_at_any_point_it_strands_nothing() {
    for point in POINTS {
        let mut stage = Stage::new(FAST);
        let tasks: Vec<_> = (0..3).map(|_| stage.admit("finish")).collect();
        let status = stage
            .submitter(tasks[0].id())
            .env("DELEGATE_FAULT", format!("{point}=kill"))
            .status()
            .expect("a dispatcher");
        assert!(status.success());
        let killed = stage.wait_for("a supervisor", |events| {
            events.iter().find_map(|event| match event {
                Event::Supervisor { pid } => Some(*pid),
                _ => None,
            })
        });
        wait_for_exit(killed);
        // A runner that it was just starting has a copy of the lock until its exec is done.
        while stage.is_served() {
            std::thread::yield_now();
        }
        assert!(!stage.log().contains("leaves"), "{point}: it was not killed");
        let late = stage.admit_as("finish", Variant { admitted: 9, ..Variant::default() });
        stage.embedded(2).ensure(&stage.root).expect("a supervisor");
        for task in tasks.iter().chain([&late]) {
            stage.wait_until_closed(task.id());
        }
    }
}

#[test]
fn asked_to_end_it_leaves_its_runners_alone() {
    for asked in [Signal::TERM, Signal::INT, Signal::HUP, Signal::QUIT] {
        let mut stage = Stage::new(STAYS);
        let held = stage.admit("hold").id();
        let queued = stage.admit_as("finish", Variant { admitted: 9, ..Variant::default() });
        // Our own child, so that its exit code can be seen. A shell starts what is beside it with SIGINT ignored.
        let mut child = Command::new("/bin/sh")
            .args([
                "-c",
                "env --default-signal \"$0\" __supervise --root \"$1\" --slots 1 & wait $!",
                TEST_PROGRAM,
            ])
            .arg(stage.root.path().as_path())
            .spawn()
            .expect("a supervisor");
        let (runner, supervisor) = stage.wait_for_start(held);
        signal(supervisor, asked);
        assert_eq!(child.wait().expect("an end").code(), Some(0), "{}", stage.log());
        assert!(!stage.is_served());
        stage.release(held);
        wait_for_exit(runner);
        stage.wait_until_closed(held);
        assert_eq!(started(&stage.events(), queued.id()), []);
    }
}
