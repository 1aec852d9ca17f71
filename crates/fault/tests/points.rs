//! Each action happens at the point it names and nowhere else.

use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Output};

const SIGNAL_ABORT: i32 = 6;
const SIGNAL_KILL: i32 = 9;

fn run_with(fault: Option<&str>) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fault-test-program"));
    command.env_remove(fault::ENVIRONMENT_NAME);
    if let Some(fault) = fault {
        command.env(fault::ENVIRONMENT_NAME, fault);
    }
    command.output().expect("the program starts")
}

fn printed(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).expect("UTF-8")
}

#[test]
fn without_a_chosen_fault_every_point_passes() {
    assert_eq!(printed(&run_with(None)), "test.first ok\ntest.second ok\n");
}

#[test]
fn an_error_is_returned_at_its_point_only() {
    let output = run_with(Some("test.second=error:ENOSPC"));
    assert_eq!(printed(&output), "test.first ok\ntest.second 28\n");
    let output = run_with(Some("test.first=error:EIO"));
    assert_eq!(printed(&output), "test.first 5\ntest.second ok\n");
}

#[test]
fn kill_ends_the_process_at_its_point() {
    let output = run_with(Some("test.second=kill"));
    assert_eq!(output.status.signal(), Some(SIGNAL_KILL));
    assert_eq!(printed(&output), "test.first ok\n");
}

#[test]
fn abort_ends_the_process_at_its_point() {
    let output = run_with(Some("test.first=abort"));
    assert_eq!(output.status.signal(), Some(SIGNAL_ABORT));
    assert_eq!(printed(&output), "");
}

#[test]
fn a_misspelt_fault_is_not_ignored() {
    for fault in ["test.first", "test.first=kil", "elsewhere=error:EAGAIN"] {
        assert!(!run_with(Some(fault)).status.success(), "{fault}");
    }
}
