//! Nothing of a turn outlives it, however it tries to get away, and what had to be ended is counted (STATE.md 3.5, 6).

mod support;

use std::collections::BTreeMap;

use support::{Lead, until};

/// Processes that a storm leaves.
const STORM: usize = 500;

/// Ways to leave a process behind, and how many each leaves.
const WAYS: [(&str, usize); 5] = [
    ("setsid-escape", 1),
    ("setsid-escape scrubbed", 1),
    ("double-fork-holding-stdout", 1),
    ("stopped-escape", 1),
    ("fork-storm", STORM),
];

#[test]
fn what_a_turn_leaves_behind_is_ended_and_counted() {
    for (way, number) in WAYS {
        let lead = Lead::new();
        let ran = lead.turn("codex:exec", &format!("[[fake: {way}]] [[fake: answer done]]"), &[]);
        assert_eq!((ran.code, ran.reason().as_str()), (0, "completed"), "{way}: {ran:?}");
        let escaped = lead.log().escaped();
        assert_eq!(escaped.len(), number, "{way}");
        assert!(escaped.iter().all(|process| !process.is_alive()), "{way}");
        assert_eq!(ran.answer()["outcome"]["leaked_processes"], number, "{way}");
        nothing_is_left(&lead);
    }
}

#[test]
fn a_cancelled_turn_takes_all_of_them_with_it() {
    for (way, number) in WAYS {
        let lead = Lead::new();
        let id = lead.dispatch("codex:exec", &format!("[[fake: {way}]] [[fake: wait-for-file /never]]"), &[]);
        let escaped = lead.log().wait_for_escaped(number);
        let ran = lead.json(["cancel", &id, "--watch", "60s"]);
        assert_eq!((ran.code, ran.reason().as_str()), (4, "cancelled"), "{way}: {ran:?}");
        assert!(escaped.iter().all(|process| !process.is_alive()), "{way}");
        nothing_is_left(&lead);
    }
}

#[test]
fn a_child_without_a_directory_is_ended_like_any_other() {
    let lead = Lead::new();
    std::fs::write(lead.workspace().join(testkit::fake::EXPENDABLE_FILE), "").unwrap();
    let brief = "[[fake: deletes-its-cwd]] [[fake: setsid-escape]] [[fake: wait-for-file /never]]";
    let id = lead.dispatch("codex:exec", brief, &["--permission", "workspace-write", "--fence", "none"]);
    let escaped = lead.log().wait_for_escaped(1);
    assert!(!lead.workspace().exists(), "{:?}", lead.log().notes());
    let ran = lead.json(["cancel", &id, "--watch", "60s"]);
    assert_eq!((ran.code, ran.reason().as_str()), (4, "cancelled"), "{ran:?}");
    assert!(!escaped[0].is_alive());
    nothing_is_left(&lead);
}

#[test]
fn a_stopped_tree_that_takes_no_signal_is_ended() {
    let lead = Lead::new();
    let brief = "[[fake: ignores-SIGTERM]] [[fake: stopped-escape]] [[fake: wait-for-file /never]]";
    let id = lead.dispatch("codex:exec", brief, &[]);
    let escaped = lead.log().wait_for_escaped(1);
    let child = lead.log().launches()[0].process;
    support::kill(child.pid, "STOP");
    let ran = lead.json(["cancel", &id, "--watch", "60s"]);
    assert_eq!((ran.code, ran.reason().as_str()), (4, "cancelled"), "{ran:?}");
    assert!(!child.is_alive() && !escaped[0].is_alive());
    nothing_is_left(&lead);
}

/// The fakes and the runner are gone; the supervisor goes by itself.
fn nothing_is_left(lead: &Lead) {
    until("nothing to be left", || lead.everything().is_empty().then_some(()));
    let launches = lead.log().launches();
    let mut per_task = BTreeMap::<String, u32>::new();
    for launch in &launches {
        *per_task.entry(support::task_of(launch)).or_default() += 1;
    }
    assert!(per_task.values().all(|count| *count == 1), "{per_task:?}");
}
