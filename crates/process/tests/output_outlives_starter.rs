//! Output is a file of the child's own: it goes on after the starter was killed, and the child can be adopted.

mod common;

use std::fs;
use std::io::BufReader;
use std::process::{Command, Stdio};

use common::{EndAtLast, TEST_PROGRAM, announced, barrier, ending, pass};
use process::{Child, Ending};

#[test]
fn a_child_writes_on_after_its_starter_was_killed() {
    process::become_subreaper().expect("a subreaper");
    let directory = tempfile::tempdir().expect("a directory");
    let output = directory.path().join("output");
    let gate = directory.path().join("barrier");
    barrier(&gate);
    let mut starter = Command::new(TEST_PROGRAM)
        .arg("launch")
        .arg(&output)
        .arg(format!("echo before; read line < {}; echo after; exit 5", gate.display()))
        .stdout(Stdio::piped())
        .spawn()
        .expect("a starter");
    let identity = announced(&mut BufReader::new(starter.stdout.take().expect("a pipe")));
    let _end = EndAtLast(identity);
    starter.kill().expect("a kill");
    starter.wait().expect("an end");

    let mut child = Child::adopt(identity).expect("determined").expect("alive");
    pass(&gate);
    // It came home to this process, so its exit code is known on any kernel.
    assert_eq!(ending(&mut child), Ending::Exited(5));
    assert_eq!(fs::read_to_string(&output).expect("output"), "before\nafter\n");
}
