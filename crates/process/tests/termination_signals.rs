//! The signals that ask for an end are read one by one instead of ending the process.

mod common;

use std::io::BufReader;
use std::process::{Child, Command, Stdio};

use common::{TEST_PROGRAM, announced, line};
use rustix::process::{Pid, Signal, kill_process};

/// The test program, with what it does with signals set by `env`.
fn start(disposition: &str) -> Child {
    let words = [disposition, TEST_PROGRAM, "signals"];
    Command::new("/usr/bin/env").args(words).stdout(Stdio::piped()).spawn().expect("a program")
}

#[test]
fn each_signal_is_read() {
    let mut program = start("--default-signal=HUP,INT,QUIT,TERM");
    let mut said = BufReader::new(program.stdout.take().expect("a pipe"));
    let pid = Pid::from_raw(announced(&mut said).pid.cast_signed()).expect("a number");
    for signal in [Signal::HUP, Signal::INT, Signal::QUIT, Signal::TERM] {
        kill_process(pid, signal).expect("signalled");
        assert_eq!(line(&mut said), format!("signal {}", signal.as_raw()));
    }
    assert!(program.wait().expect("an end").success());
}

#[test]
fn what_was_ignored_stays_ignored() {
    let mut program = start("--ignore-signal=HUP,INT,QUIT");
    let mut said = BufReader::new(program.stdout.take().expect("a pipe"));
    let pid = Pid::from_raw(announced(&mut said).pid.cast_signed()).expect("a number");
    for signal in [Signal::HUP, Signal::INT, Signal::QUIT, Signal::TERM] {
        kill_process(pid, signal).expect("signalled");
    }
    assert_eq!(line(&mut said), format!("signal {}", Signal::TERM.as_raw()));
    assert!(program.wait().expect("an end").success());
}
