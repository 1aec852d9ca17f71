//! How a run of the GLM runner ends before its turn does: by its limit, by its caller, by force (runners.md 0.1, 2.3).

mod glm_support;
mod support;

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::time::Duration;

use glm_support::{fails, ready};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

#[test]
fn a_turn_that_does_not_end_is_ended() {
    let mut stage = ready();
    stage.set("DELEGATION_GLM_TIMEOUT_SECONDS", "1");
    let diagnostic = fails(&stage, "[[GLM: hang]]", 75, "dispatch", "operational_timeout");
    assert_eq!(diagnostic["cli_exit_code"], Value::Null);
}

/// A process that a test found, killed when the test is over.
struct Found(process::Child);

impl Drop for Found {
    fn drop(&mut self) {
        let _ = process::Tree::new(self.0.identity(), "none").kill();
    }
}

#[test]
fn a_runner_that_is_killed_takes_its_child_along() {
    let stage = ready();
    stage.write("prompt.md", "[[GLM: deaf]] [[GLM: started]] [[GLM: hang]]");
    let started = stage.start(&stage.words("scout", &[]));
    let said = glm_support::wait_for_start(&stage).join("started");
    let child: u32 = fs::read_to_string(said).expect("readable").parse().expect("a number");
    let identity = process::identity_of(child).expect("determined").expect("a process");
    let mut child = Found(process::Child::adopt(identity).expect("determined").expect("a child"));
    let pid = Pid::from_raw(started.pid().cast_signed()).expect("a number");
    kill_process(pid, Signal::KILL).expect("killed");
    let ended = started.wait();
    assert_eq!(ended.status.signal(), Some(9));
    let patience = Duration::from_secs(testkit::limits::TEST_WAIT_MAX_SECONDS);
    assert!(child.0.wait(patience, &[]).expect("watched").is_some(), "it runs on");
}

#[test]
fn a_runner_that_is_told_to_end_leaves_nothing() {
    let stage = ready();
    stage.write("prompt.md", "[[GLM: started]] [[GLM: hang]]");
    let started = stage.start(&stage.words("scout", &[]));
    glm_support::wait_for_start(&stage);
    let pid = Pid::from_raw(started.pid().cast_signed()).expect("a number");
    kill_process(pid, Signal::TERM).expect("told");
    let finished = stage.finish(started);
    assert_eq!((finished.code, finished.stderr.as_str()), (-15, ""), "{finished:?}");
    assert_eq!(stage.outputs(), Vec::<String>::new());
}
