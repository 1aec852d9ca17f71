//! A gate that dies between *go* and the execution looks like a child that a signal ended: nobody can tell more.

mod common;

use std::io::BufReader;
use std::process::{Command, Stdio};

use common::{TEST_PROGRAM, announced};
use rustix::process::{Pid, WaitOptions, waitpid};

#[test]
fn nothing_is_executed_and_the_starter_takes_it_for_a_child() {
    process::become_subreaper().expect("a subreaper");
    let directory = tempfile::tempdir().expect("a directory");
    let mark = directory.path().join("mark");
    let mut starter = Command::new(TEST_PROGRAM)
        .arg("launch")
        .arg(directory.path().join("output"))
        .arg(format!(": > {}", mark.display()))
        .env(fault::ENVIRONMENT_NAME, "process.gate.released=kill")
        .stdout(Stdio::piped())
        .spawn()
        .expect("a starter");
    let gate = announced(&mut BufReader::new(starter.stdout.take().expect("a pipe")));
    starter.kill().expect("a kill");
    starter.wait().expect("an end");
    // The gate came home, and is waited for: its socket closed a moment before it was seen to have ended.
    let (_, status) = waitpid(Pid::from_raw(gate.pid.cast_signed()), WaitOptions::empty())
        .expect("a child")
        .expect("an end");
    assert_eq!(status.terminating_signal(), Some(libc::SIGKILL));
    assert!(!mark.exists());
}
