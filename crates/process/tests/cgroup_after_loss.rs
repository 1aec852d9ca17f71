//! After the loss of the starter the cgroup still tells what belongs to the tree, also of a process that left its session and
//! has no environment.

mod common;

use std::fs::File;
use std::io::BufReader;
use std::process::{Command, Stdio};

use common::{TEST_PROGRAM, announced, barrier, node};
use process::{ProcessState, Swept, Tree, process_state};

#[test]
fn an_orphan_that_left_everything_is_swept_by_its_node() {
    let Some(node) = node("escape") else { return };
    let directory = tempfile::tempdir().expect("a directory");
    let says = directory.path().join("orphan");
    barrier(&says);
    let script = format!("{TEST_PROGRAM} escape clear > {}; exec sleep 100", says.display());
    let mut starter = Command::new(TEST_PROGRAM)
        .arg("launch-in")
        .arg(node.0.path())
        .arg(directory.path().join("output"))
        .arg(script)
        .stdout(Stdio::piped())
        .spawn()
        .expect("a starter");
    let root = announced(&mut BufReader::new(starter.stdout.take().expect("a pipe")));
    let listening = File::open(&says).expect("a named pipe");
    let orphan = announced(&mut BufReader::new(listening));
    starter.kill().expect("a kill");
    starter.wait().expect("an end");

    let without = Tree::new(root, "no-cookie");
    assert!(!without.members().expect("members").contains(&orphan), "only the node tells");
    let tree = Tree::new(root, "no-cookie").in_cgroup(node.0.clone());
    let mut members = tree.members().expect("members");
    members.sort();
    let mut expected = [root, orphan];
    expected.sort();
    assert_eq!(members, expected);
    assert_eq!(tree.sweep().expect("swept"), Swept { ended: 1, survivors: 0 });
    assert_eq!(process_state(orphan), ProcessState::Gone);
    assert!(!node.0.is_populated().expect("a look"));
}
