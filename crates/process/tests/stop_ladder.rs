//! SIGTERM reaches the whole tree once; what ignores it dies by SIGKILL.

mod common;

use common::{line, pipe, shell, start};
use process::Ending;

#[test]
fn termination_reaches_every_member() {
    let (mut reader, writer) = pipe();
    // Each shell waits in a loop, so that it is still there when its own signal comes after that of its children.
    let script = "trap 'wait; echo outer; exit 7' TERM
        sh -c 'trap \"echo inner; exit 0\" TERM; echo ready; while :; do sleep 100 & wait; done' &
        while :; do wait; done";
    let mut child = start(shell(script, writer));
    assert_eq!(line(&mut reader), "ready");
    assert!(child.tree().terminate().expect("signalled") >= 2);
    assert_eq!(line(&mut reader), "inner");
    assert_eq!(line(&mut reader), "outer");
    assert_eq!(child.ending(), Ending::Exited(7));
    assert_eq!(child.tree().sweep().expect("swept").survivors, 0);
}

#[test]
fn a_tree_that_ignores_termination_is_killed() {
    let (mut reader, writer) = pipe();
    let script = "trap '' TERM; echo ready; while :; do sleep 100; done";
    let mut child = start(shell(script, writer));
    assert_eq!(line(&mut reader), "ready");
    let tree = child.tree();
    tree.terminate().expect("signalled");
    assert_eq!(child.0.wait(std::time::Duration::ZERO, &[]).expect("a wait"), None);
    assert!(tree.kill().expect("signalled") >= 1);
    assert_eq!(child.ending(), Ending::Signalled(libc::SIGKILL));
}
