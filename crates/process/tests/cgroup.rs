//! The cgroup of a tree: what is born in it dies with it, whatever it does to get away, and the kernel says that it is empty.
//!
//! Needs a cgroup v2 hierarchy that this user may write, and says so where there is none.

mod common;

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use common::{Node, TEST_PROGRAM, launch, line, node, pipe, shell, test_program};
use process::{CgroupHome, CgroupNode, Child, Containment, Ending, Gate, LaunchSpec, Swept, Tree};

fn start(mut spec: LaunchSpec, node: &Node) -> (Child, Tree) {
    process::become_subreaper().expect("a subreaper");
    spec.containment = Containment::Cgroup { node: node.0.clone(), required: true };
    let gate = Gate::spawn(test_program(), spec).expect("a gate");
    assert!(matches!(gate.containment(), Containment::Cgroup { .. }), "{:?}", gate.containment());
    let child = gate.go().expect("an execution");
    let tree = Tree::new(child.identity(), "no-cookie").in_cgroup(node.0.clone());
    (child, tree)
}

fn is_removed(node: &Node) {
    assert!(!node.0.is_populated().expect("a look"));
    node.0.remove().expect("removed");
    assert!(!node.0.path().exists());
}

#[test]
fn the_child_is_in_the_node_from_its_first_moment() {
    let Some(node) = node("birth") else { return };
    let (mut reader, writer) = pipe();
    let (mut child, tree) =
        start(shell("grep ^0:: /proc/self/cgroup; read _ </dev/stdin; pwd", writer), &node);
    let name = node.0.path().file_name().and_then(|name| name.to_str()).expect("a name");
    assert!(line(&mut reader).ends_with(name));
    // What the gate is given and what it gives on is as without a cgroup.
    assert_eq!(line(&mut reader), "/");
    assert_eq!(common::ending(&mut child), Ending::Exited(0));
    assert_eq!(tree.sweep().expect("swept"), Swept { ended: 0, survivors: 0 });
    // The child itself is a zombie now, which keeps nobody from removing the node.
    is_removed(&node);
}

#[test]
fn a_storm_of_five_hundred_ends_and_is_counted() {
    let Some(node) = node("storm") else { return };
    let (mut reader, writer) = pipe();
    let script = "trap '' TERM
        i=0; while [ $i -lt 500 ]; do (setsid sleep 100 >/dev/null 2>&1 &); i=$((i+1)); done
        echo ready; wait";
    let (mut child, tree) = start(shell(script, writer), &node);
    assert_eq!(line(&mut reader), "ready");
    assert_eq!(common::ending(&mut child), Ending::Exited(0));
    assert_eq!(tree.sweep().expect("swept"), Swept { ended: 500, survivors: 0 });
    is_removed(&node);
}

#[test]
fn a_storm_that_goes_on_ends() {
    let Some(node) = node("endless") else { return };
    let (mut reader, writer) = pipe();
    // Each shell leaves two sleepers behind and goes on as another process. The first may see theirs before it is hit,
    // so it must not go by itself.
    let script = "f() { sleep 100 & sleep 100 & echo more; f & }; f; wait; exec sleep 100";
    let (mut child, tree) = start(shell(script, writer), &node);
    for _ in 0..20 {
        assert_eq!(line(&mut reader), "more");
    }
    // Nobody reads on: the storm must not be throttled by its own output.
    std::thread::spawn(move || std::io::copy(&mut reader, &mut std::io::sink()));
    tree.kill().expect("signalled");
    assert_eq!(common::ending(&mut child), Ending::Signalled(libc::SIGKILL));
    assert_eq!(tree.sweep().expect("swept").survivors, 0);
    is_removed(&node);
}

#[test]
fn what_is_stopped_or_frozen_ends_too() {
    let Some(node) = node("stopped") else { return };
    let (mut reader, writer) = pipe();
    let script = "setsid sh -c 'echo stopping; kill -STOP $$' & setsid sleep 100 & echo ready; wait";
    let (mut child, tree) = start(shell(script, writer), &node);
    let mut lines = [line(&mut reader), line(&mut reader)];
    lines.sort();
    assert_eq!(lines, ["ready", "stopping"]);
    std::fs::write(node.0.path().join("cgroup.freeze"), "1").expect("frozen");
    tree.kill().expect("signalled");
    assert_eq!(common::ending(&mut child), Ending::Signalled(libc::SIGKILL));
    assert_eq!(tree.sweep().expect("swept").survivors, 0);
    is_removed(&node);
}

#[test]
fn what_hides_in_a_cgroup_below_ends_and_the_cgroup_goes() {
    let Some(node) = node("below") else { return };
    let (mut reader, writer) = pipe();
    let below = node.0.path().join("a/b");
    let script = format!(
        "mkdir -p {0} && setsid sh -c 'echo 0 >{0}/cgroup.procs; echo hidden; exec sleep 100' & wait",
        below.display()
    );
    let (mut child, tree) = start(shell(&script, writer), &node);
    assert_eq!(line(&mut reader), "hidden");
    assert_eq!(tree.members().expect("members").len(), 2);
    assert!(tree.terminate().expect("signalled") >= 2);
    common::ending(&mut child);
    assert_eq!(tree.sweep().expect("swept").survivors, 0);
    is_removed(&node);
}

#[test]
fn removing_a_node_ends_what_is_in_it() {
    let Some(node) = node("removed") else { return };
    let (mut reader, writer) = pipe();
    let (mut child, _tree) =
        start(shell("trap '' TERM; echo ready; while :; do sleep 100; done", writer), &node);
    assert_eq!(line(&mut reader), "ready");
    node.0.remove().expect("removed");
    assert_eq!(common::ending(&mut child), Ending::Signalled(libc::SIGKILL));
    assert!(!node.0.path().exists());
    node.0.remove().expect("that it is gone is no error");
}

#[test]
fn a_node_that_lets_nobody_in_is_required_or_done_without() {
    let Some(node) = node("gone") else { return };
    node.0.remove().expect("removed");
    process::become_subreaper().expect("a subreaper");
    let spawn = |required| {
        let mut spec = launch(&["/bin/true"], common::append(Path::new("/dev/null")));
        spec.containment = Containment::Cgroup { node: node.0.clone(), required };
        Gate::spawn(test_program(), spec)
    };
    assert_eq!(spawn(false).expect("a gate").containment(), &Containment::Subreaper);
    assert!(matches!(spawn(true), Err(process::StartError::Containment(Containment::Cgroup { .. }, _))));
}

#[test]
fn the_node_is_below_our_own_and_found_by_the_start_of_its_name() {
    let Some(node) = node("listed") else { return };
    let home = CgroupHome::find().expect("a home");
    assert_eq!(node.0.path().parent(), Some(home.path()));
    let prefix = format!("process-test-{}-listed", std::process::id());
    assert_eq!(home.nodes(&prefix).expect("a list"), std::slice::from_ref(&node.0));
    assert_eq!(CgroupNode::open(node.0.path()).expect("a look").as_ref(), Some(&node.0));
}

#[test]
fn another_user_has_no_home_here() {
    if !rustix::process::geteuid().is_root() || CgroupHome::find().is_err() {
        eprintln!("skipped: only root can be another user");
        return;
    }
    // The program's own directory may be closed to that user.
    let directory = tempfile::tempdir().expect("a directory");
    let program = directory.path().join("program");
    std::fs::copy(TEST_PROGRAM, &program).expect("a copy");
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(directory.path(), open).expect("permissions");
    let output =
        Command::new(&program).arg("cgroup-asked").uid(65534).gid(65534).output().expect("a program");
    let said = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(said.starts_with("Err(NotDelegated"), "{said}");
}
