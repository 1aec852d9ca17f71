//! When what followed *go* is not known, the starter is told exactly that and the process is ended.

mod common;

use std::process::Command;

use common::TEST_PROGRAM;

fn fail_at(point: &str) -> String {
    let directory = tempfile::tempdir().expect("a directory");
    let output = Command::new(TEST_PROGRAM)
        .arg("launch")
        .arg(directory.path().join("output"))
        .arg("exec sleep 100")
        .env(fault::ENVIRONMENT_NAME, format!("{point}=error:EIO"))
        .output()
        .expect("a starter");
    assert!(!output.status.success());
    assert!(output.stdout.is_empty());
    String::from_utf8(output.stderr).expect("UTF-8")
}

#[test]
fn nothing_is_left_whichever_step_failed() {
    // Whatever outlived the starter would come home here.
    process::become_subreaper().expect("a subreaper");
    for (point, said) in [
        ("process.gate.spawned", "Channel("),
        ("process.gate.ready", "Channel("),
        ("process.gate.go", "ExecutionUndetermined("),
        ("process.gate.released", "Step(Execute, "),
    ] {
        let error = fail_at(point);
        assert!(error.contains(said), "{point}: {error}");
        assert_eq!(process::reap_orphans(&[]).expect("reaped"), [], "{point}");
        assert_eq!(children(), "", "{point}");
    }
}

/// The children of this test, as the kernel lists them for its threads.
fn children() -> String {
    std::fs::read_dir("/proc/self/task")
        .expect("threads")
        .map(|thread| std::fs::read_to_string(thread.expect("a thread").path().join("children")))
        .map(|list| list.expect("a list"))
        .collect()
}
