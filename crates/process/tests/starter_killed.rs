//! A child that is bound to its starter goes with it, however the starter ends.

mod common;

use std::io::BufReader;
use std::process::{Command, Stdio};

use common::{EndAtLast, TEST_PROGRAM, announced, ending};
use process::{Child, Ending};

#[test]
fn a_bound_child_is_killed_with_its_starter() {
    // The child comes home here, so that its end can be seen. That an unbound one lives on: output_outlives_starter.rs.
    process::become_subreaper().expect("a subreaper");
    let mut starter = Command::new(TEST_PROGRAM)
        .args(["launch-bound", "/dev/null", "trap '' TERM HUP INT; while :; do sleep 1; done"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("a starter");
    let stdout = starter.stdout.take().expect("its output");
    let identity = announced(&mut BufReader::new(stdout));
    let _end = EndAtLast(identity);
    let mut child = Child::adopt(identity).expect("determined").expect("a child");
    starter.kill().expect("killed");
    starter.wait().expect("an end");
    assert_eq!(ending(&mut child), Ending::Signalled(libc::SIGKILL));
}

#[test]
fn it_is_the_thread_that_counts() {
    let output = Command::new(TEST_PROGRAM)
        .args(["launch-bound-in-thread", "/dev/null", "while :; do sleep 1; done"])
        .output()
        .expect("a starter");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "Some(Signalled(9))\n");
}
