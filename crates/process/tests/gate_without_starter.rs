//! A starter that is killed between `ready` and *go* leaves nothing behind.

mod common;

use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};

use common::TEST_PROGRAM;

#[test]
fn the_gate_of_a_killed_starter_exits_without_executing() {
    let directory = tempfile::tempdir().expect("a directory");
    let mark = directory.path().join("mark");
    let output = directory.path().join("output");
    // The gate inherits standard output of nobody; the mark is what an execution would leave. Orphans come home here, so
    // the end of the gate can be awaited.
    process::become_subreaper().expect("a subreaper");
    for point in ["process.gate.spawned", "process.gate.ready"] {
        let mut starter = Command::new(TEST_PROGRAM)
            .arg("launch")
            .arg(&output)
            .arg(format!(": > {}", mark.display()))
            .env(fault::ENVIRONMENT_NAME, format!("{point}=kill"))
            .stdout(Stdio::null())
            .spawn()
            .expect("a starter");
        assert_eq!(starter.wait().expect("an end").signal(), Some(9));
        let (_, status) = rustix::process::wait(rustix::process::WaitOptions::empty())
            .expect("the gate came home")
            .expect("it ended");
        assert_eq!(status.exit_status(), Some(127), "{point}");
        assert!(!mark.exists(), "{point}");
    }
}
