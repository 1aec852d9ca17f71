//! What the living members use is counted, descendants included.

mod common;

use common::{line, pipe, shell, start};

#[test]
fn processes_and_processor_time_are_counted() {
    let (mut reader, writer) = pipe();
    // The inner shell works until its processor time shows in whole clock ticks.
    let work = "while :; do
            i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done
            read -r stat < /proc/$$/stat; set -- $stat; [ \"${14}\" -ge 3 ] && break
        done; echo ready; sleep 100; :";
    let script = format!("sh -c '{work}' & wait");
    let child = start(shell(&script, writer));
    assert_eq!(line(&mut reader), "ready");
    let usage = child.tree().usage().expect("usage");
    assert!((2..=3).contains(&usage.processes), "{usage:?}");
    assert!(!usage.cpu.is_zero(), "{usage:?}");
    let swept = child.tree().sweep().expect("swept");
    assert_eq!(swept.survivors, 0);
    let usage = child.tree().usage().expect("usage");
    assert_eq!((usage.processes, usage.cpu), (0, std::time::Duration::ZERO));
}
