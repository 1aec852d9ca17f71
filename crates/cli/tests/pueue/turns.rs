//! The same turns and the same ends as under the embedded supervisor.

use std::collections::BTreeMap;
use std::fs;
use std::thread;

use crate::queue::{Queue, stat};
use crate::support::{self, until};

#[test]
fn a_turn_runs_and_the_queue_knows_it() {
    let Some(queue) = Queue::new("a_turn_runs_and_the_queue_knows_it", 2) else { return };
    let (id, gate) = queue.dispatch_held("go");
    let launch = &queue.log().wait_for_launches(1)[0];
    let seen = queue.json(["status", &id]).answer();
    assert_eq!(seen["supervisor"]["kind"], "pueue");
    assert_eq!(seen["supervisor"]["state"], "running");
    assert_eq!(seen["supervisor"]["matched"], true);
    assert_eq!(seen["supervisor"]["numeric_task_id"].to_string(), queue.number(&id));
    // No shell stands between the daemon and the runner.
    let runner = queue.runner(&id);
    assert_eq!(stat(runner, 4), queue.daemon().to_string());
    assert!(queue.processes(&["sh", "-c", &id]).is_empty());
    fs::write(gate, "").unwrap();
    queue.collect_one(&id, 1);
    assert!(!launch.process.is_alive());
    until("the queue to notice", || queue.rows_of(&id)[0]["status"]["Done"]["result"].as_str().map(drop));
    assert_eq!(queue.rows_of(&id)[0]["status"]["Done"]["result"], "Success");
    assert!(queue.supervisor().is_none(), "no embedded supervisor is started");
}

#[test]
fn the_task_names_its_queue_and_the_queue_keeps_no_secret() {
    let Some(queue) = Queue::new("the_task_names_its_queue_and_the_queue_keeps_no_secret", 2) else { return };
    let arguments = queue.dispatch_arguments("offline:survey", "look", &["--json", "--wait"]);
    let output = queue.command(&arguments).env("SOME_SECRET", "hush-hush").output().unwrap();
    let ran = support::Ran::from(output);
    assert_eq!(ran.code, 0, "{ran:?}");
    let id = ran.answer()["task_id"].as_str().unwrap().to_owned();
    let binding = &queue.record(&id, "submission.json").unwrap()["supervisor_binding"];
    assert_eq!(binding["config"], queue.config().to_str().unwrap());
    assert_eq!(binding["endpoint"], queue.place("socket").to_str().unwrap());
    assert_eq!(binding["version"], "pueue 4.0.4");
    assert!(binding["client"]["path"].as_str().unwrap().ends_with("/pueue"));
    assert_eq!(binding["client"]["sha256"].as_str().unwrap().len(), 64);
    assert!(binding["daemon"].is_null(), "it is not ours to start");
    let row = &queue.rows_of(&id)[0];
    assert!(row["command"].as_str().unwrap().starts_with("exec "), "{row}");
    assert!(row["envs"].as_object().unwrap().contains_key("HOME"), "{row}");
    assert!(!row.to_string().contains("hush-hush"), "{row}");
    assert!(!row["envs"].as_object().unwrap().contains_key("DELEGATE_ROOT"), "{row}");
}

#[test]
fn a_queued_task_is_cancelled_without_a_launch_and_leaves_the_queue() {
    let Some(queue) = Queue::new("a_queued_task_is_cancelled_without_a_launch_and_leaves_the_queue", 1)
    else {
        return;
    };
    let (holding, gate) = queue.dispatch_held("go");
    let _ = queue.log().wait_for_launches(1);
    let queued = queue.dispatch("codex:exec", "[[fake: answer never]]", &[]);
    let seen = queue.json(["status", &queued]).answer();
    assert_eq!((&seen["liveness"], &seen["supervisor"]["state"]), (&"queued".into(), &"queued".into()));
    assert!(seen["next_action"].is_null(), "{seen}");
    let ran = queue.json(["cancel", &queued]);
    assert_eq!((ran.code, ran.reason().as_str()), (0, "cancelled"), "{ran:?}");
    assert_eq!(ran.answer()["outcome"]["launched"], "no");
    assert!(queue.rows_of(&queued).is_empty());
    fs::write(gate, "").unwrap();
    queue.collect_one(&holding, 1);
}

#[test]
fn a_running_task_is_cancelled_with_its_escaped_grandchild() {
    let Some(queue) = Queue::new("a_running_task_is_cancelled_with_its_escaped_grandchild", 1) else {
        return;
    };
    let id = queue.dispatch("codex:exec", "[[fake: setsid-escape]] [[fake: wait-for-file /never]]", &[]);
    let escaped = until("the escape", || queue.log().escaped().first().copied());
    let ran = queue.json(["cancel", &id, "--watch", "60s"]);
    assert_eq!((ran.code, ran.reason().as_str()), (4, "cancelled"), "{ran:?}");
    assert!(!escaped.is_alive());
}

#[test]
fn the_budget_ends_a_hanging_turn() {
    let Some(queue) = Queue::new("the_budget_ends_a_hanging_turn", 1) else { return };
    let ran = queue.turn("codex:exec", "[[fake: wait-for-file /never]]", &["--budget", "2s"]);
    assert_eq!((ran.code, ran.reason().as_str()), (4, "timed-out"), "{ran:?}");
    assert!(!queue.log().launches()[0].process.is_alive());
}

#[test]
fn a_killed_job_is_recovered_and_the_child_adopted() {
    let Some(queue) = Queue::new("a_killed_job_is_recovered_and_the_child_adopted", 1) else { return };
    let (id, gate) = queue.dispatch_held("go");
    let child = queue.log().wait_for_launches(1)[0].process;
    queue.ask(&["kill", &queue.number(&id)]);
    until("the row to end", || queue.rows_of(&id)[0]["status"]["Done"].as_object().map(drop));
    assert!(child.is_alive(), "the queue does not reach the provider");
    fs::write(gate, "").unwrap();
    let ran = queue.collect_one(&id, 1);
    assert_eq!(ran.answer()["outcome"]["recovered"], true);
    assert!(queue.supervisor().is_none(), "an observer starts the runner, no other supervisor");
}

#[test]
fn a_job_told_to_end_ends_its_turn() {
    let Some(queue) = Queue::new("a_job_told_to_end_ends_its_turn", 1) else { return };
    let id = queue.dispatch("codex:exec", "[[fake: wait-for-file /never]]", &[]);
    let child = queue.log().wait_for_launches(1)[0].process;
    until("the turn to run", || queue.record(&id, "running.json"));
    queue.ask(&["kill", "--signal", "sigterm", &queue.number(&id)]);
    let ran = queue.collect(&id);
    assert_eq!((ran.code, ran.reason().as_str()), (4, "interrupted"), "{ran:?}");
    assert!(!child.is_alive());
}

#[test]
fn the_exact_conversation_goes_on() {
    let Some(queue) = Queue::new("the_exact_conversation_goes_on", 1) else { return };
    let first = queue.turn("codex:exec", "[[fake: answer first]]", &[]);
    let task = first.answer()["task_id"].as_str().unwrap().to_owned();
    let brief = queue.brief("[[fake: answer second]]");
    let ran = queue.json(["continue", "--task", &task, "--brief", brief.to_str().unwrap(), "--wait"]);
    assert_eq!((ran.code, ran.reason().as_str()), (0, "completed"), "{ran:?}");
    assert_eq!(ran.answer()["supervisor"]["kind"].as_str().unwrap_or("pueue"), "pueue");
    let conversation = |ran: &support::Ran| ran.answer()["outcome"]["session"]["conversation_id"].clone();
    assert_eq!(conversation(&ran), conversation(&first));
}

/// A turn that writes in the workspace and stays open until the file is there.
fn writer(queue: &Queue, gate: &str, more: &[&str]) -> String {
    let brief = format!("[[fake: wait-for-file {}]]", queue.path().join(gate).display());
    queue.dispatch("codex:exec", &brief, &[&["--permission", "workspace-write"], more].concat())
}

#[test]
fn a_runner_waits_in_its_slot_for_the_workspace() {
    let Some(queue) = Queue::new("a_runner_waits_in_its_slot_for_the_workspace", 3) else { return };
    let first = writer(&queue, "first", &[]);
    let _ = queue.log().wait_for_launches(1);
    let second = writer(&queue, "second", &[]);
    let third = writer(&queue, "third", &["--lease-wait", "1s"]);
    let runner = queue.runner(&second);
    let ran = queue.collect(&third);
    assert_eq!((ran.code, ran.reason().as_str()), (4, "workspace-busy"), "{ran:?}");
    assert_eq!(ran.answer()["outcome"]["launched"], "no");
    let ran = queue.json(["status", &second]).answer();
    assert_eq!(
        (&ran["liveness"], &ran["supervisor"]["state"]),
        (&"queued".into(), &"running".into()),
        "{ran}"
    );
    fs::write(queue.path().join("first"), "").unwrap();
    assert_eq!(queue.collect(&first).code, 0);
    let _ = queue.log().wait_for_launches(2);
    assert_eq!(queue.runner(&second), runner, "the same runner");
    fs::write(queue.path().join("second"), "").unwrap();
    queue.collect_one(&second, 2);
}

#[test]
fn a_runner_that_waits_obeys_a_cancel_and_a_signal() {
    let Some(queue) = Queue::new("a_runner_that_waits_obeys_a_cancel_and_a_signal", 3) else { return };
    let first = writer(&queue, "first", &[]);
    let _ = queue.log().wait_for_launches(1);
    let (second, third) = (writer(&queue, "second", &[]), writer(&queue, "third", &[]));
    let _ = (queue.runner(&second), queue.runner(&third));
    let ran = queue.json(["cancel", &second, "--watch", "60s"]);
    assert_eq!((ran.code, ran.reason().as_str()), (4, "cancelled"), "{ran:?}");
    // Nothing was paid for, so the task is not at an end: it is to be dispatched again.
    queue.ask(&["kill", "--signal", "sigterm", &queue.number(&third)]);
    until("the hint", || {
        (queue.json(["status", &third]).answer()["next_action"] == "dispatch_again").then_some(())
    });
    assert_eq!(queue.rows_of(&third)[0]["status"]["Done"]["result"]["Failed"], 75);
    assert_eq!(queue.json(["cancel", &third]).reason(), "cancelled");
    assert_eq!(queue.json(["cancel", &first, "--watch", "60s"]).code, 4);
    assert_eq!(queue.log().launches().len(), 1);
}

#[test]
fn many_dispatches_at_once_are_one_launch_each() {
    let Some(queue) = Queue::new("many_dispatches_at_once_are_one_launch_each", 4) else { return };
    let ids: Vec<String> = (0..4_u32).map(|number| format!("{number:032x}")).collect();
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for id in &ids {
                    queue.dispatch("codex:exec", "[[fake: answer done]]", &["--id", id]);
                }
            });
        }
    });
    let ran = queue.json(
        [&["wait", "--watch", "60s"][..], &ids.iter().map(String::as_str).collect::<Vec<_>>()].concat(),
    );
    assert_eq!(ran.code, 0, "{ran:?}");
    let mut launched = BTreeMap::<String, u32>::new();
    for launch in queue.log().launches() {
        *launched.entry(support::task_of(&launch)).or_default() += 1;
    }
    assert_eq!(launched.len(), 4);
    assert!(launched.values().all(|count| *count == 1), "{launched:?}");
}
