//! Nothing is lost, and nothing is paid twice, whoever dies.

mod support;

use std::process::Stdio;

use support::{Lead, kill, line_of_stderr, until};

/// A brief that keeps the turn open until the file is there.
fn held(lead: &Lead, name: &str) -> (String, std::path::PathBuf) {
    let gate = lead.path().join(name);
    (format!("[[fake: wait-for-file {}]] [[fake: answer held]]", gate.display()), gate)
}

#[test]
fn the_dispatcher_may_die_after_its_answer() {
    let lead = Lead::new();
    let (brief, gate) = held(&lead, "go");
    let id = lead.dispatch("codex:exec", &brief, &[]);
    // That process has ended; its process group and terminal are nothing to the turn.
    let _ = lead.log().wait_for_launches(1);
    std::fs::write(gate, "").unwrap();
    let ran = lead.collect(&id);
    assert_eq!((ran.code, ran.reason().as_str()), (0, "completed"));
}

#[test]
fn the_dispatcher_may_be_killed_before_its_commit_and_asked_again() {
    for round in 0..10 {
        let lead = Lead::new();
        let id = format!("{round:032x}");
        let arguments = lead.dispatch_arguments("codex:exec", "[[fake: answer once]]", &["--id", &id]);
        let mut dispatcher =
            lead.command(&arguments).stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        assert_eq!(line_of_stderr(&mut dispatcher, "task_id="), id);
        dispatcher.kill().unwrap();
        dispatcher.wait().unwrap();
        let again = lead.json(&arguments);
        assert_eq!(again.code, 0, "{again:?}");
        let ran = lead.collect(&id);
        assert_eq!((ran.code, ran.reason().as_str()), (0, "completed"), "round {round}");
        assert_eq!(lead.log().launches().len(), 1, "round {round}");
        assert_eq!(std::fs::read_dir(lead.root().join("tasks")).unwrap().count(), 1);
    }
}

#[test]
fn a_killed_runner_is_replaced_and_the_child_adopted() {
    let lead = Lead::new();
    let (brief, gate) = held(&lead, "go");
    let id = lead.dispatch("codex:exec", &brief, &[]);
    let _ = lead.log().wait_for_launches(1);
    kill(lead.runner(&id), "KILL");
    std::fs::write(gate, "").unwrap();
    let ran = lead.collect(&id);
    assert_eq!((ran.code, ran.reason().as_str()), (0, "completed"), "{ran:?}");
    assert_eq!(ran.answer()["outcome"]["recovered"], true);
    assert_eq!(ran.answer()["outcome"]["launched"], "yes");
    assert_eq!(lead.log().launches().len(), 1);
}

#[test]
fn a_killed_runner_and_supervisor_are_replaced_by_the_next_look() {
    let lead = Lead::new();
    let (brief, gate) = held(&lead, "go");
    let id = lead.dispatch("codex:exec", &brief, &[]);
    let _ = lead.log().wait_for_launches(1);
    let runner = lead.runner(&id);
    kill(lead.supervisor().unwrap(), "KILL");
    kill(runner, "KILL");
    std::fs::write(gate, "").unwrap();
    let ran = lead.collect(&id);
    assert_eq!((ran.code, ran.reason().as_str()), (0, "completed"), "{ran:?}");
    assert_eq!(ran.answer()["outcome"]["recovered"], true);
    assert_eq!(lead.log().launches().len(), 1);
}

#[test]
fn a_killed_supervisor_loses_nothing() {
    let lead = Lead::with_slots(1);
    let (brief, gate) = held(&lead, "go");
    let running = lead.dispatch("codex:exec", &brief, &[]);
    let _ = lead.log().wait_for_launches(1);
    let queued = lead.dispatch("codex:exec", "[[fake: answer later]]", &[]);
    kill(until("the supervisor", || lead.supervisor()), "KILL");
    std::fs::write(gate, "").unwrap();
    for id in [running, queued] {
        let ran = lead.collect(&id);
        assert_eq!((ran.code, ran.reason().as_str()), (0, "completed"), "{ran:?}");
        assert_eq!(ran.answer()["outcome"]["recovered"], false);
    }
    assert_eq!(lead.log().launches().len(), 2);
}

#[test]
fn a_child_that_ended_while_nobody_watched_is_judged_by_its_bytes() {
    let lead = Lead::new();
    let (brief, gate) = held(&lead, "go");
    let id = lead.dispatch("codex:exec", &brief, &[]);
    let child = lead.log().wait_for_launches(1)[0].process;
    let runner = lead.runner(&id);
    kill(lead.supervisor().unwrap(), "KILL");
    kill(runner, "KILL");
    std::fs::write(gate, "").unwrap();
    until("the child to end", || (!child.is_alive()).then_some(()));
    let ran = lead.collect(&id);
    assert_eq!((ran.code, ran.reason().as_str()), (0, "completed"), "{ran:?}");
    assert_eq!(ran.answer()["outcome"]["recovered"], true);
}
