//! A supervisor keeps nothing of the command that started it.

mod common;

use std::fs;
use std::os::unix::process::CommandExt;
use std::process::Stdio;

use common::{FAST, STAYS, Stage};
use rustix::process::{Pid, Signal, kill_process_group};

/// Fields of `/proc/PID/stat` behind the name: state, parent, group, session, terminal.
fn stat(pid: u32) -> Vec<String> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).expect("a process");
    let (_, fields) = text.rsplit_once(')').expect("a name");
    fields.split_whitespace().map(str::to_owned).collect()
}

fn link(pid: u32, name: &str) -> String {
    fs::read_link(format!("/proc/{pid}/{name}")).expect("a link").to_str().expect("text").to_owned()
}

#[test]
fn it_has_a_session_of_its_own_and_inherits_nothing() {
    let mut stage = Stage::new(STAYS);
    let task = stage.admit("hold").id();
    let leak = stage.path("leak");
    fs::write(&leak, "").expect("a file");
    let mut shell = std::process::Command::new("/bin/sh");
    shell
        .args(["-c", "umask 002; cd /tmp; exec 7<\"$3\"; \"$0\" submit \"$1\" \"$2\"", common::TEST_PROGRAM])
        .args([stage.root.path().as_str(), &task.to_string()])
        .arg(&leak)
        .env("A_SECRET", "value")
        .env("LC_MESSAGES", "C");
    assert!(shell.status().expect("a shell").success());
    let (runner, supervisor) = stage.wait_for_start(task);

    let pid = supervisor.to_string();
    assert_eq!(stat(supervisor)[2..5], [&pid, &pid, "0"], "group, session, terminal");
    for process in [supervisor, runner] {
        assert_eq!(link(process, "cwd"), "/");
        assert_eq!(link(process, "fd/0"), "/dev/null");
        let descriptors: Vec<_> = fs::read_dir(format!("/proc/{process}/fd"))
            .expect("descriptors")
            .filter_map(|entry| fs::read_link(entry.ok()?.path()).ok())
            .collect();
        assert!(!descriptors.contains(&leak), "{descriptors:?}");
        let environment = fs::read(format!("/proc/{process}/environ")).expect("an environment");
        let environment = String::from_utf8_lossy(&environment).into_owned();
        assert!(!environment.contains("A_SECRET") && environment.contains("LC_MESSAGES=C"), "{environment}");
        let status = fs::read_to_string(format!("/proc/{process}/status")).expect("a status");
        assert!(status.contains("Umask:\t0077\n"), "{status}");
    }
    assert!(link(supervisor, "fd/2").ends_with("/log"));
    let status = fs::read_to_string(format!("/proc/{runner}/status")).expect("a status");
    assert!(status.contains("SigBlk:\t0000000000000000\n"), "{status}");
    stage.release(task);
    stage.wait_until_closed(task);
}

#[test]
fn it_survives_the_group_of_the_command_that_started_it() {
    let mut stage = Stage::new(FAST);
    let first = stage.admit("hold").id();
    let mut command = stage.submitter(first);
    let mut dispatcher = command.process_group(0).stdin(Stdio::null()).spawn().expect("a dispatcher");
    let group = Pid::from_child(&dispatcher);
    let (_, supervisor) = stage.wait_for_start(first);
    // Not reaped yet, so that the number can not be another group's.
    let _ = kill_process_group(group, Signal::KILL);
    dispatcher.wait().expect("an end");
    let second = stage.admit("finish").id();
    stage.release(first);
    stage.wait_until_closed(second);
    assert_eq!(common::started(&stage.events(), second)[0].1, supervisor);
}
