//! A gate that is dropped, or whose starter is gone, executes nothing.

mod common;

use common::{append, shell, test_program};
use process::{Gate, ProcessState, process_state};

#[test]
fn a_dropped_gate_executes_nothing_and_is_reaped() {
    let directory = tempfile::tempdir().expect("a directory");
    let mark = directory.path().join("mark");
    let script = format!(": > {}", mark.display());
    let gate = Gate::spawn(test_program(), shell(&script, append(&directory.path().join("output"))))
        .expect("a gate");
    let identity = gate.identity();
    assert_eq!(process_state(identity), ProcessState::Alive);
    drop(gate);
    assert_eq!(process_state(identity), ProcessState::Gone);
    assert!(!std::path::Path::new(&format!("/proc/{}", identity.pid)).exists());
    assert!(!mark.exists());
}
