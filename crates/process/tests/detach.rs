//! A detached process keeps nothing of who started it.

mod common;

use std::fs;
use std::process::Command;

use common::TEST_PROGRAM;

#[test]
fn nothing_of_the_starter_is_left() {
    let directory = tempfile::tempdir().expect("a directory");
    let log = directory.path().join("log");
    let output = Command::new("/bin/sh")
        .arg("-c")
        .arg("umask 022; trap '' HUP INT; exec 7</dev/null; \"$0\" detach \"$1\"; exit $?")
        .arg(TEST_PROGRAM)
        .arg(&log)
        .output()
        .expect("a shell");
    assert!(output.status.success(), "{output:?}");
    assert!(output.stdout.is_empty() && output.stderr.is_empty(), "{output:?}");
    let said = fs::read_to_string(&log).expect("a log");
    let expected = format!(
        "descriptors [\"0\", \"1\", \"2\", \"3\"]\nstdin /dev/null\nstderr {}\ndirectory /\nleads its session true\n\
         Umask: 0077\nSigBlk: 0000000000000000\nSigIgn: 0000000000000000\n",
        log.canonicalize().expect("a path").display()
    );
    assert_eq!(said, expected);
}

#[test]
fn a_log_that_is_a_link_is_refused_where_the_starter_sees_it() {
    let directory = tempfile::tempdir().expect("a directory");
    let log = directory.path().join("log");
    std::os::unix::fs::symlink("elsewhere", &log).expect("a link");
    let output = Command::new(TEST_PROGRAM).arg("detach").arg(&log).output().expect("a program");
    assert!(!output.status.success());
    assert!(!output.stderr.is_empty());
    assert!(!directory.path().join("elsewhere").exists());
}

#[test]
fn a_log_is_not_needed() {
    let output = Command::new(TEST_PROGRAM).arg("detach").output().expect("a program");
    assert!(output.status.success(), "{output:?}");
}
