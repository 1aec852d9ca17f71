//! Cancel and budget: every stopped task ends in one outcome, and nothing of it runs on.

mod support;

use std::fs;

use support::{Lead, until};

#[test]
fn a_queued_task_is_cancelled_without_a_launch() {
    let lead = Lead::with_slots(1);
    let holding = lead.dispatch("codex:exec", "[[fake: silent-forever]]", &[]);
    let _ = lead.log().wait_for_launches(1);
    let queued = lead.dispatch("codex:exec", "[[fake: answer never]]", &[]);
    let ran = lead.json(["cancel", &queued]);
    // It did what it was asked for; only a command that waits speaks of the verdict.
    assert_eq!((ran.code, ran.reason().as_str()), (0, "cancelled"), "{ran:?}");
    assert_eq!(ran.answer()["outcome"]["launched"], "no");
    let ran = lead.json(["collect", &queued]);
    assert_eq!((ran.code, ran.reason().as_str()), (4, "cancelled"));
    lead.json(["cancel", &holding]);
    assert_eq!(lead.collect(&holding).code, 4);
    assert_eq!(lead.log().launches().len(), 1);
}

#[test]
fn a_running_task_is_cancelled_with_its_escaped_grandchild() {
    for scrubbed in ["", " scrubbed"] {
        let lead = Lead::new();
        let brief = format!("[[fake: setsid-escape{scrubbed}]] [[fake: wait-for-file /never]]");
        let id = lead.dispatch("codex:exec", &brief, &[]);
        let escaped = until("the escape", || lead.log().escaped().first().copied());
        assert!(escaped.is_alive());
        let ran = lead.json(["cancel", &id, "--watch", "60s"]);
        assert_eq!((ran.code, ran.reason().as_str()), (4, "cancelled"), "{ran:?}");
        assert_eq!(ran.answer()["outcome"]["launched"], "yes");
        assert!(!escaped.is_alive());
        let ran = lead.json(["collect", &id]);
        assert_eq!((ran.code, ran.reason().as_str()), (4, "cancelled"));
        // A second cancel reports the same.
        let again = lead.json(["cancel", &id]);
        assert_eq!(again.answer()["outcome"], ran.answer()["outcome"]);
    }
}

#[test]
fn a_child_that_ignores_the_polite_signal_is_killed() {
    let lead = Lead::new();
    let id = lead.dispatch("codex:exec", "[[fake: ignores-SIGTERM]] [[fake: silent-forever]]", &[]);
    let child = lead.log().wait_for_launches(1)[0].process;
    let ran = lead.json(["cancel", &id, "--watch", "60s"]);
    assert_eq!((ran.code, ran.reason().as_str()), (4, "cancelled"), "{ran:?}");
    assert!(!child.is_alive());
}

#[test]
fn the_budget_ends_a_hanging_turn() {
    let lead = Lead::new();
    let brief = "[[fake: setsid-escape]] [[fake: wait-for-file /never]]";
    let ran = lead.turn("codex:exec", brief, &["--budget", "2s"]);
    assert_eq!((ran.code, ran.reason().as_str()), (4, "timed-out"), "{ran:?}");
    let log = lead.log();
    assert!(!log.launches()[0].process.is_alive());
    assert_eq!(log.escaped().len(), 1);
    assert!(log.escaped().iter().all(|process| !process.is_alive()));
    assert_eq!(ran.answer()["outcome"]["stop"], "budget");
    assert_eq!(ran.answer()["status"], "timed_out");
}

#[test]
fn two_cancels_at_once_are_one_request() {
    let lead = Lead::new();
    let id = lead.dispatch("codex:exec", "[[fake: silent-forever]]", &[]);
    let _ = lead.log().wait_for_launches(1);
    let answers = std::thread::scope(|scope| {
        let cancels: Vec<_> =
            (0..4).map(|_| scope.spawn(|| lead.json(["cancel", &id, "--watch", "60s"]))).collect();
        cancels.into_iter().map(|cancel| cancel.join().unwrap()).collect::<Vec<_>>()
    });
    for ran in &answers {
        assert_eq!((ran.code, ran.reason().as_str()), (4, "cancelled"));
        assert_eq!(ran.answer()["stop"], answers[0].answer()["stop"]);
    }
}

#[test]
fn cancel_works_with_the_supervisor_down() {
    let lead = Lead::new();
    let id = lead.dispatch("codex:exec", "[[fake: silent-forever]]", &[]);
    let _ = lead.log().wait_for_launches(1);
    let runner = lead.runner(&id);
    support::kill(lead.supervisor().unwrap(), "KILL");
    support::kill(runner, "KILL");
    let ran = lead.json(["cancel", &id, "--watch", "60s"]);
    assert_eq!((ran.code, ran.reason().as_str()), (4, "cancelled"), "{ran:?}");
    until("nothing to be left", || lead.everything().is_empty().then_some(()));
}

/// Waits until a process stands still.
fn stop(pid: u32) {
    support::kill(pid, "STOP");
    let process = process::identity_of(pid).unwrap().unwrap();
    until("the process to stand still", || {
        (process::condition(process).unwrap() == process::Condition::Stopped).then_some(())
    });
}

#[test]
fn who_is_stopped_and_how_it_goes_on_is_said() {
    let lead = Lead::with_slots(1);
    let gate = lead.path().join("go");
    let brief = format!("[[fake: wait-for-file {}]] [[fake: answer late]]", gate.display());
    let running = lead.dispatch("codex:exec", &brief, &[]);
    let _ = lead.log().wait_for_launches(1);
    let queued = lead.dispatch("codex:exec", "[[fake: answer later]]", &[]);
    let warning = |id: &str| lead.json(["status", id]).answer()["error"].as_str().map(str::to_owned);
    let check = |id: &str| {
        let answer = lead.json(["doctor"]).answer();
        answer["checks"].as_array().unwrap().iter().find(|check| check["id"] == id).unwrap().clone()
    };
    assert_eq!((warning(&running), warning(&queued)), (None, None));
    assert_eq!(
        (check("runners")["status"].as_str(), check("supervisor")["status"].as_str()),
        (Some("ok"), Some("ok"))
    );

    let (runner, supervisor) = (lead.runner(&running), lead.supervisor().unwrap());
    stop(runner);
    stop(supervisor);
    assert!(warning(&running).unwrap().contains(&format!("kill -CONT {runner}")));
    assert!(warning(&queued).unwrap().contains(&format!("kill -CONT {supervisor}")));
    for (id, pid) in [("runners", runner), ("supervisor", supervisor)] {
        let check = check(id);
        assert_eq!(check["status"], "warning", "{check}");
        assert!(check["detail"].as_str().unwrap().contains(&format!("process {pid}")), "{check}");
    }

    for pid in [runner, supervisor] {
        support::kill(pid, "CONT");
    }
    fs::write(gate, "").unwrap();
    for id in [running, queued] {
        assert_eq!(lead.collect(&id).reason(), "completed");
        assert_eq!(warning(&id), None);
    }
}
