//! A subreaper reaps what comes home and learns how it ended, and keeps those it waits for itself.

mod common;

use common::{append, shell, start};
use process::{Containment, Ending, Reaped};

#[test]
fn orphans_are_reaped_and_kept_children_are_not() {
    process::become_subreaper().expect("a subreaper");
    let mut spec = shell("exit 3", append(std::path::Path::new("/dev/null")));
    spec.containment = Containment::Subreaper;
    let mut kept = start(spec);
    kept.ending();
    let mut other = start(shell("exit 4", append(std::path::Path::new("/dev/null"))));
    other.ending();
    let pid = other.0.identity().pid;
    let reaped = process::reap_orphans(&[kept.0.identity()]).expect("reaped");
    assert_eq!(reaped, [Reaped { pid, ending: Ending::Exited(4) }]);
    assert_eq!(process::reap_orphans(&[kept.0.identity()]).expect("reaped"), []);
    let pid = kept.0.identity().pid;
    let reaped = process::reap_orphans(&[]).expect("reaped");
    assert_eq!(reaped, [Reaped { pid, ending: Ending::Exited(3) }]);
    assert_eq!(process::reap_orphans(&[]).expect("reaped"), []);
}
