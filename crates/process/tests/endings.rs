//! Waiting tells how a child ended, and that it has not ended yet.

mod common;

use std::io::Write;
use std::os::fd::AsFd;
use std::path::Path;
use std::time::Duration;

use common::{PATIENCE, append, shell, start};
use process::{Ending, ProcessState, process_state};

fn started(script: &str) -> common::Started {
    start(shell(script, append(Path::new("/dev/null"))))
}

#[test]
fn an_exit_code_is_told_and_told_again() {
    for code in [0, 1, 127, 255] {
        let mut child = started(&format!("exit {code}"));
        assert_eq!(child.ending(), Ending::Exited(code));
        assert_eq!(child.0.wait(Duration::ZERO, &[]).expect("a wait"), Some(Ending::Exited(code)));
        assert_eq!(process_state(child.0.identity()), ProcessState::Gone, "a zombie is gone");
    }
}

#[test]
fn a_signal_is_told() {
    for signal in [libc::SIGTERM, libc::SIGKILL, libc::SIGSEGV] {
        let mut child = started(&format!("kill -{signal} $$"));
        assert_eq!(child.ending(), Ending::Signalled(signal));
    }
}

#[test]
fn a_living_child_has_no_ending() {
    let mut child = started("sleep 100");
    assert_eq!(child.0.wait(Duration::ZERO, &[]).expect("a wait"), None);
    assert_eq!(process_state(child.0.identity()), ProcessState::Alive);
}

#[test]
fn another_descriptor_interrupts_the_wait() {
    let mut child = started("sleep 100");
    let (reader, mut writer) = std::io::pipe().expect("a pipe");
    writer.write_all(b"now").expect("written");
    let answer = child.0.wait(PATIENCE, &[reader.as_fd()]);
    assert_eq!(answer.expect("a wait"), None);
}

#[test]
fn the_ending_comes_before_another_descriptor() {
    let mut child = started("exit 4");
    child.ending();
    let (reader, mut writer) = std::io::pipe().expect("a pipe");
    writer.write_all(b"now").expect("written");
    let answer = child.0.wait(PATIENCE, &[reader.as_fd()]);
    assert_eq!(answer.expect("a wait"), Some(Ending::Exited(4)));
}
