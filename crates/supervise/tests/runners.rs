//! Which program is started as a runner, and with which arguments.

mod common;

use std::fs;
use std::os::unix::fs::symlink;

use common::{FAST, Stage, TEST_PROGRAM, Variant};
use record::AbsolutePath;
use store::Task;
use supervise::Supervisor;

/// Runs a task and answers the command line of its runner, less what stands on each.
fn command_line(stage: &Stage, task: &Task) -> String {
    stage.embedded(1).submit(&stage.root, task).expect("submitted");
    let (pid, _) = stage.wait_for_start(task.id());
    let line = fs::read(format!("/proc/{pid}/cmdline")).expect("a command line");
    stage.release(task.id());
    stage.wait_until_closed(task.id());
    let line = String::from_utf8(line).expect("text");
    let expected = format!("--root\0{}\0{}\0", stage.root.path(), task.id());
    line.strip_suffix(&expected).expect("root and task").to_owned()
}

fn program(stage: &Stage, name: &str) -> String {
    let directory = stage.path("").canonicalize().expect("a path");
    directory.join(name).to_str().expect("text").to_owned()
}

#[test]
fn a_task_may_name_its_runner() {
    let mut stage = Stage::new(FAST);
    let named = program(&stage, "named-runner");
    symlink(TEST_PROGRAM, &named).expect("a link");
    let runner: AbsolutePath = named.parse().expect("a path");
    let task = stage.admit_as("hold", Variant { runner: Some(runner), ..Variant::default() });
    assert_eq!(command_line(&stage, &task), format!("{named}\0"));
}

#[test]
fn without_another_one_our_own_executable_is_the_runner() {
    let mut stage = Stage::new(FAST);
    let task = stage.admit("hold");
    assert_eq!(command_line(&stage, &task), format!("{}\0__run\0", program(&stage, "delegate")));
}

#[test]
fn the_runner_beside_our_own_executable_is_preferred() {
    let mut stage = Stage::new(FAST);
    let beside = program(&stage, "delegate-run");
    symlink(TEST_PROGRAM, &beside).expect("a link");
    let task = stage.admit("hold");
    assert_eq!(command_line(&stage, &task), format!("{beside}\0"));
}

#[test]
fn a_runner_that_is_not_there_is_given_up_like_one_that_fails() {
    let mut stage = Stage::new(FAST);
    let runner = "/nowhere/runner".parse().expect("a path");
    let task = stage.admit_as("finish", Variant { runner: Some(runner), ..Variant::default() });
    stage.embedded(1).submit(&stage.root, &task).expect("submitted");
    stage.wait_for_log("is tried no more", 1);
    stage.wait_until_alone();
    assert_eq!(stage.log().matches("/nowhere/runner could not be started").count(), 5);
}
