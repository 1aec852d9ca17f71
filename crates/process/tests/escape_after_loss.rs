//! After the loss of the starter an escaped orphan is found by its cookie, by a process that is not even its ancestor.

mod common;

use std::io::BufReader;
use std::process::{Command, Stdio};

use common::{EndAtLast, TEST_PROGRAM, announced, barrier};
use process::{COOKIE_NAME, Child, Swept, Tree};

#[test]
fn an_orphan_elsewhere_is_swept_by_its_cookie() {
    let directory = tempfile::tempdir().expect("a directory");
    let orphan_says = directory.path().join("orphan");
    barrier(&orphan_says);
    let cookie = format!("task-{}", std::process::id());
    let script = format!("{TEST_PROGRAM} escape keep > {}; exec sleep 100", orphan_says.display());
    let mut starter = Command::new(TEST_PROGRAM)
        .arg("launch")
        .arg(directory.path().join("output"))
        .arg(script)
        .env(COOKIE_NAME, &cookie)
        .stdout(Stdio::piped())
        .spawn()
        .expect("a starter");
    let root = announced(&mut BufReader::new(starter.stdout.take().expect("a pipe")));
    let _end = EndAtLast(root);
    let listening = std::fs::File::open(&orphan_says).expect("a named pipe");
    let orphan = announced(&mut BufReader::new(listening));
    let _end_orphan = EndAtLast(orphan);
    starter.kill().expect("a kill");
    starter.wait().expect("an end");

    assert!(Child::adopt(root).expect("determined").is_some());
    let tree = Tree::new(root, &cookie);
    let mut members = tree.members().expect("members");
    members.sort();
    assert_eq!(members, [root, orphan]);
    let other = Tree::new(root, "another-task");
    assert_eq!(other.members().expect("members"), [root], "the cookie is what found it");
    assert_eq!(tree.sweep().expect("swept"), Swept { ended: 1, survivors: 0 });
    assert_eq!(tree.members().expect("members"), []);
}
