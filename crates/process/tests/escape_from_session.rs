//! A descendant that starts a session of its own, whose parents have ended and that cleared its environment, comes home to
//! the subreaper and is swept.

mod common;

use common::{TEST_PROGRAM, announced, launch, pipe, start};
use process::{Containment, Ending, ProcessState, Swept, process_state};

#[test]
fn an_escaped_orphan_is_found_killed_and_reaped() {
    process::become_subreaper().expect("a subreaper");
    let (mut reader, writer) = pipe();
    let mut spec = launch(&[TEST_PROGRAM, "escape", "clear"], writer);
    spec.containment = Containment::Subreaper;
    let mut child = start(spec);
    let orphan = announced(&mut reader);
    assert_eq!(child.ending(), Ending::Exited(0));
    assert_eq!(common::stat_field(orphan.pid, 4), std::process::id().to_string());
    assert_ne!(common::stat_field(orphan.pid, 6), child.0.identity().pid.to_string());

    let tree = child.tree();
    assert_eq!(tree.members().expect("members"), [orphan]);
    assert_eq!(tree.sweep().expect("swept"), Swept { ended: 1, survivors: 0 });
    assert_eq!(process_state(orphan), ProcessState::Gone);
    assert!(!std::path::Path::new(&format!("/proc/{}", orphan.pid)).exists(), "reaped");
    assert_eq!(tree.sweep().expect("swept"), Swept { ended: 0, survivors: 0 });
    assert_eq!(child.ending(), Ending::Exited(0), "not confused with the orphan's");
}
