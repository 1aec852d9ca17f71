//! The gate becomes the child: same number, same start time.

mod common;

use common::{pipe, shell, test_program};
use process::{Containment, Ending, Fence, Gate, ProcessState, process_state};

#[test]
fn number_and_start_time_stay() {
    let (mut reader, writer) = pipe();
    let gate = Gate::spawn(test_program(), shell("echo $$; exit 3", writer)).expect("a gate");
    assert_eq!(gate.containment(), &Containment::ProcessGroup);
    assert_eq!(gate.fence(), &Fence::None);
    let before = gate.identity();
    assert_eq!(before, common::identity_of(before.pid));
    let mut child = common::Started(gate.go().expect("an execution"));
    assert_eq!(child.0.identity(), before);
    assert_eq!(common::line(&mut reader), before.pid.to_string());
    assert_eq!(child.ending(), Ending::Exited(3));
    // The number stays taken until the child is let go of.
    assert_eq!(common::identity_of(before.pid), before);
    drop(child);
    assert_eq!(process_state(before), ProcessState::Gone);
    assert!(!std::path::Path::new(&format!("/proc/{}", before.pid)).exists());
}
