use super::*;
use crate::embedded::Timing;

#[path = "../../../tests/common/admission.rs"]
mod admission;

use admission::{Variant, admit};
use record::AbsolutePath;

#[test]
fn a_task_committed_while_the_lock_was_held_is_seen_after_its_release() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().canonicalize().expect("a path").join("root");
    let path = AbsolutePath::new(&path).expect("a path");
    let root = Root::open_or_create(&path).expect("a root");
    let machine = machine().expect("a machine");
    let options =
        ServeOptions { root: path, delegate: "/none".into(), slots: Some(1), timing: Timing::default() };
    let supervisor = root.supervisor_directory(&machine);
    supervisor.make().expect("a directory");

    for committed in [false, true] {
        let signals = Signals {
            termination: TerminationSignals::block().expect("signals"),
            children: ChildSignal::block().expect("signals"),
        };
        let mut work = Work::new(&root, machine, &options, signals);
        let lock = supervisor.try_lock().expect("a lock").expect("the lock");
        work.scan();
        assert!(work.is_idle());
        if committed {
            admit(&root, store::random_task_id(), "finish", Variant::default());
            assert!(supervisor.is_locked().expect("an answer"), "a dispatcher would start nothing");
        }
        let dispatched = || {
            assert!(
                !supervisor.is_locked().expect("an answer"),
                "a dispatcher would rely on this supervisor"
            );
            Ok(())
        };
        assert_eq!(release(lock, &mut work, dispatched).expect("released"), committed);
    }
}
