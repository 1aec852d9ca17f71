//! The three signals that ask for an end are read one by one instead of ending the process.

mod common;

use std::io::BufReader;
use std::process::{Command, Stdio};

use common::{TEST_PROGRAM, announced, line};
use rustix::process::{Pid, Signal, kill_process};

#[test]
fn each_signal_is_read() {
    let mut program =
        Command::new(TEST_PROGRAM).arg("signals").stdout(Stdio::piped()).spawn().expect("a program");
    let mut said = BufReader::new(program.stdout.take().expect("a pipe"));
    let pid = Pid::from_raw(announced(&mut said).pid.cast_signed()).expect("a number");
    for signal in [Signal::HUP, Signal::INT, Signal::TERM] {
        kill_process(pid, signal).expect("signalled");
        assert_eq!(line(&mut said), format!("signal {}", signal.as_raw()));
    }
    assert!(program.wait().expect("an end").success());
}
