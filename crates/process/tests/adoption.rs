//! A child of somebody else is adopted by its identity, and its exit code is learnt where the kernel tells it.

mod common;

use std::io::BufReader;
use std::process::{Command, Stdio};

use common::{EndAtLast, TEST_PROGRAM, announced, barrier, ending, pass};
use process::{Child, Ending, ProcessIdentity, ProcessState, process_state};

/// Whether the running kernel keeps the exit status for a descriptor (Linux 6.15).
fn kernel_tells() -> bool {
    let release = rustix::system::uname().release().to_string_lossy().into_owned();
    let mut numbers = release.split(['.', '-']).map_while(|part| part.parse::<u32>().ok());
    let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    version >= (6, 15)
}

#[test]
fn the_exit_code_comes_after_the_parent_reaped_it() {
    let directory = tempfile::tempdir().expect("a directory");
    let gate = directory.path().join("barrier");
    for (script, told) in [("exit 7", Ending::Exited(7)), ("kill -15 $$", Ending::Signalled(15))] {
        barrier(&gate);
        let mut parent = Command::new(TEST_PROGRAM)
            .args(["parent", &format!("read line < {}; {script}", gate.display())])
            .stdout(Stdio::piped())
            .spawn()
            .expect("a parent");
        let identity = announced(&mut BufReader::new(parent.stdout.take().expect("a pipe")));
        let _end = EndAtLast(identity);
        let mut child = Child::adopt(identity).expect("determined").expect("alive");
        assert_eq!(child.identity(), identity);
        pass(&gate);
        let expected = if kernel_tells() { told } else { Ending::Ended };
        assert_eq!(ending(&mut child), expected);
        parent.wait().expect("an end");
        assert_eq!(process_state(identity), ProcessState::Gone);
        assert!(Child::adopt(identity).expect("determined").is_none());
        std::fs::remove_file(&gate).expect("removed");
    }
}

#[test]
fn a_reused_number_is_not_adopted_and_not_signalled() {
    let mut other = Command::new("/bin/sleep").arg("100").spawn().expect("a process");
    let now = common::identity_of(other.id());
    let before = ProcessIdentity { start_time: now.start_time - 1, ..now };
    assert!(Child::adopt(before).expect("determined").is_none());
    assert_eq!(process_state(before), ProcessState::Gone);
    let tree = process::Tree::new(before, "no-cookie");
    assert_eq!(tree.members().expect("members"), []);
    assert_eq!(tree.kill().expect("signalled"), 0);
    assert_eq!(process_state(now), ProcessState::Alive);
    other.kill().expect("a kill");
    other.wait().expect("an end");
}

#[test]
fn numbers_that_are_nobodys_are_never_adopted() {
    for pid in [0, 1, u32::MAX] {
        let identity = ProcessIdentity { pid, start_time: 0 };
        assert!(Child::adopt(identity).expect("determined").is_none());
    }
}

#[test]
fn a_child_that_nobody_has_reaped_is_gone() {
    let (mut reader, writer) = common::pipe();
    let mut started = common::start(common::shell("echo here; exec sleep 100", writer));
    assert_eq!(common::line(&mut reader), "here");
    let identity = started.0.identity();
    assert!(Child::adopt(identity).expect("determined").is_some());
    assert_eq!(started.tree().kill().expect("signalled"), 1);
    started.ending();
    assert_eq!(common::stat_field(identity.pid, 3), "Z");
    assert!(Child::adopt(identity).expect("determined").is_none());
}
