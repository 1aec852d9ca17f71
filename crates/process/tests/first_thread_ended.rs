//! A process whose first thread has ended looks like a zombie and is none: it is a member, alive, and can be killed.

mod common;

use common::{TEST_PROGRAM, announced, launch, pipe, start};
use process::{Child, Ending, ProcessState, Swept, process_state};

#[test]
fn it_is_alive_until_its_last_thread_ends() {
    let (mut reader, writer) = pipe();
    let mut child = start(launch(&[TEST_PROGRAM, "first-thread-ends"], writer));
    let identity = announced(&mut reader);
    assert_eq!(identity, child.0.identity());
    assert_eq!(common::stat_field(identity.pid, 3), "Z");
    assert_eq!(process_state(identity), ProcessState::Alive);
    assert!(Child::adopt(identity).expect("determined").is_some());
    assert_eq!(child.tree().members().expect("members"), [identity]);
    assert_eq!(child.tree().sweep().expect("swept"), Swept { ended: 0, survivors: 0 });
    assert_eq!(child.ending(), Ending::Signalled(libc::SIGKILL));
}
