//! A turn whose own records or streams are damaged while it runs ends all the same, and nothing of it is taken for an answer.

mod support;

use std::fs;
use std::os::unix::fs::symlink;

use support::Lead;

/// Damages a held turn, lets it go on, and returns how it ended.
fn damaged(damage: impl Fn(&std::path::Path)) -> (i32, String) {
    let lead = Lead::new();
    let gate = lead.path().join("go");
    let id = lead.dispatch("codex:exec", &format!("[[fake: wait-for-file {}]]", gate.display()), &[]);
    let child = lead.log().wait_for_launches(1)[0].process;
    damage(&lead.task_directory(&id));
    fs::write(gate, "").unwrap();
    let ran = lead.collect(&id);
    assert!(!child.is_alive());
    assert_eq!(lead.log().launches().len(), 1);
    (ran.code, ran.reason())
}

#[test]
fn the_streams_are_gone() {
    let expected = (4, "evidence-damaged".to_owned());
    assert_eq!(damaged(|task| fs::remove_dir_all(task.join("raw")).unwrap()), expected);
    assert_eq!(damaged(|task| fs::remove_file(task.join("raw/stdout")).unwrap()), expected);
    let replaced = |task: &std::path::Path| {
        fs::remove_file(task.join("raw/stdout")).unwrap();
        symlink("/dev/null", task.join("raw/stdout")).unwrap();
    };
    assert_eq!(damaged(replaced), expected);
}

#[test]
fn the_records_of_the_run_are_damaged() {
    let expected = (4, "evidence-damaged".to_owned());
    assert_eq!(damaged(|task| fs::write(task.join("running.json"), "x").unwrap()), expected);
    assert_eq!(damaged(|task| fs::write(task.join("launch.json"), "x").unwrap()), expected);
    // The conversation is a convenience; the answer does not rest on it.
    assert_eq!(
        damaged(|task| fs::write(task.join("session.json"), "x").unwrap()),
        (0, "completed".to_owned())
    );
}

#[test]
fn a_licence_that_vanished_is_no_reason_to_launch_again() {
    let lead = Lead::new();
    let gate = lead.path().join("go");
    let id = lead.dispatch("codex:exec", &format!("[[fake: wait-for-file {}]]", gate.display()), &[]);
    let child = lead.log().wait_for_launches(1)[0].process;
    let runner = lead.runner(&id);
    fs::remove_file(lead.task_directory(&id).join("launch.json")).unwrap();
    support::kill(runner, "KILL");
    let ran = lead.collect(&id);
    assert_eq!((ran.code, ran.answer()["outcome"]["recovered"].as_bool()), (4, Some(true)), "{ran:?}");
    assert_ne!(ran.answer()["outcome"]["launched"], "no");
    assert!(!child.is_alive());
    assert_eq!(lead.log().launches().len(), 1);
}

#[test]
fn a_task_that_can_not_be_read_is_not_called_absent() {
    let lead = Lead::new();
    let ran = lead.turn("offline:survey", "look", &[]);
    let id = ran.answer()["task_id"].as_str().unwrap().to_owned();
    fs::remove_file(lead.task_directory(&id).join("request.json")).unwrap();
    let ran = lead.json(["status", &id]);
    assert_eq!((ran.code, ran.failure().as_str()), (1, "evidence_damaged"), "{ran:?}");
    assert_eq!(ran.answer()["admission"], "unknown");
    let absent = lead.json(["status", &"ab".repeat(16)]).answer();
    assert_eq!(absent["admission"], "not-admitted");
}

#[test]
fn a_queued_task_ends_when_its_time_to_start_is_over() {
    let lead = Lead::with_slots(1);
    let holding = lead.dispatch("codex:exec", "[[fake: wait-for-file /never]]", &[]);
    let _ = lead.log().wait_for_launches(1);
    let late = lead.dispatch("codex:exec", "[[fake: answer never]]", &["--start-by", "1s"]);
    let ran = lead.collect(&late);
    assert_eq!((ran.code, ran.reason().as_str()), (4, "queue-expired"), "{ran:?}");
    assert_eq!(ran.answer()["outcome"]["launched"], "no");
    assert_eq!(lead.json(["cancel", &holding, "--watch", "60s"]).code, 4);
    assert_eq!(lead.log().launches().len(), 1);
}

#[test]
fn a_second_writer_waits_only_so_long() {
    let lead = Lead::new();
    let write = ["--permission", "workspace-write"];
    let holding = lead.dispatch("codex:exec", "[[fake: wait-for-file /never]]", &write);
    let _ = lead.log().wait_for_launches(1);
    let second = lead.dispatch(
        "codex:exec",
        "[[fake: answer never]]",
        &[&write[..], &["--lease-wait", "1s"]].concat(),
    );
    let ran = lead.collect(&second);
    assert_eq!((ran.code, ran.reason().as_str()), (4, "workspace-busy"), "{ran:?}");
    let third = lead.dispatch("codex:exec", "[[fake: answer after-all]]", &write);
    assert_eq!(lead.json(["cancel", &holding, "--watch", "60s"]).code, 4);
    let ran = lead.collect(&third);
    assert_eq!((ran.code, ran.reason().as_str()), (0, "completed"), "{ran:?}");
}

#[test]
fn a_writer_whose_runner_was_lost_keeps_its_tree_until_it_has_ended() {
    let lead = Lead::new();
    let gate = lead.path().join("go");
    let write = ["--permission", "workspace-write"];
    let brief = format!("[[fake: wait-for-file {}]]", gate.display());
    let first = lead.dispatch("codex:exec", &brief, &write);
    let _ = lead.log().wait_for_launches(1);
    let runner = lead.runner(&first);
    support::kill(lead.supervisor().unwrap(), "KILL");
    support::kill(runner, "KILL");
    let below = lead.workspace().join("below");
    fs::create_dir(&below).unwrap();
    let brief = lead.brief("[[fake: answer second]]");
    let second = lead.json([
        "dispatch",
        "--provider",
        "codex:exec",
        "--permission",
        "workspace-write",
        "--brief",
        brief.to_str().unwrap(),
        "--cwd",
        below.to_str().unwrap(),
    ]);
    let second = second.answer()["task_id"].as_str().unwrap().to_owned();
    fs::write(gate, "").unwrap();
    for id in [&first, &second] {
        assert_eq!(lead.collect(id).code, 0);
    }
    // The second began only when the first was over.
    let time = |id: &str, record: &str, field: &str| {
        lead.record(id, record).unwrap()[field].as_str().unwrap().to_owned()
    };
    assert!(time(&second, "launch.json", "created_at") > time(&first, "seal.json", "sealed_at"));
}
