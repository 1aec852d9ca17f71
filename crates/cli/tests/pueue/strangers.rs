//! Who else uses the same queue.

use std::fs;

use crate::queue::Queue;
use crate::support::Lead;

#[test]
fn rows_of_others_are_neither_ours_nor_in_the_way() {
    let Some(queue) = Queue::new("rows_of_others_are_neither_ours_nor_in_the_way", 8) else { return };
    let id = "ab".repeat(16);
    // The root is made by a first task.
    let first = queue.dispatch("offline:survey", "look", &[]);
    assert_eq!(queue.collect(&first).code, 0);
    let root = queue.json(["status", &first]).answer()["root_id"].as_str().unwrap().to_owned();
    let ours = format!("delegate:{root}:{id}");
    for words in [
        // Somebody's work under exactly the label of a task that comes.
        &["add", "--label", &ours, "--", "sleep", "1000"][..],
        &["add", "--label", &format!("{ours} "), "--stashed", "--", "true"],
        &["add", "--label", "delegate:", "--", "false"],
        &["add", "--label", "delegate:\u{2028}:\"{[", "--", "exit 3"],
        &["add", "--delay", "1h", "--", "true"],
        &["add", "--", "kill -SEGV $$"],
        &["group", "add", "odd group"],
    ] {
        queue.ask(words);
    }
    let before = queue.rows().len();
    let arguments = queue.dispatch_arguments("codex:exec", "[[fake: answer once]]", &["--id", &id]);
    assert_eq!(queue.json(&arguments).code, 0);
    assert_eq!(queue.rows().len(), before + 1);
    let ran = queue.collect_one(&id, 1);
    assert_eq!(ran.answer()["outcome"]["recovered"], false);
    assert_eq!(queue.json(["status", &id]).code, 0);
}

#[test]
fn two_roots_on_one_queue_do_not_meet() {
    let Some(queue) = Queue::new("two_roots_on_one_queue_do_not_meet", 2) else { return };
    let id = "ab".repeat(16);
    let other = queue.path().join("other-root");
    let dispatch = |more: &[&str]| {
        let brief = format!("[[fake: wait-for-file {}]]", queue.path().join("go").display());
        let more = [&["--id", &id], more].concat();
        queue.json(queue.dispatch_arguments("codex:exec", &brief, &more))
    };
    assert_eq!(dispatch(&[]).code, 0);
    assert_eq!(dispatch(&["--root", other.to_str().unwrap()]).code, 0);
    let launches = queue.log().wait_for_launches(2);
    assert_ne!(launches[0].cookie, launches[1].cookie);
    assert_eq!(queue.rows_of(&id).len(), 2);
    let ran = queue.json(["cancel", &id, "--watch", "60s", "--root", other.to_str().unwrap()]);
    assert_eq!((ran.code, ran.reason().as_str()), (4, "cancelled"), "{ran:?}");
    let seen = queue.json(["status", &id]).answer();
    assert_eq!(
        (&seen["liveness"], &seen["supervisor"]["matched"]),
        (&"running".into(), &true.into()),
        "{seen}"
    );
    fs::write(queue.path().join("go"), "").unwrap();
    queue.collect_one(&id, 2);
}

#[test]
fn a_task_keeps_the_supervisor_that_it_was_admitted_for() {
    let Some(queue) = Queue::new("a_task_keeps_the_supervisor_that_it_was_admitted_for", 1) else { return };
    queue.ask(&["pause"]);
    let id = "ab".repeat(16);
    let arguments = queue.dispatch_arguments("codex:exec", "[[fake: answer once]]", &["--id", &id, "--json"]);
    assert_eq!(queue.json(&arguments[..arguments.len() - 1]).code, 0);
    let with = |more: &[&str]| {
        let mut command = queue.command(&arguments);
        command.args(more).env_remove("DELEGATE_PUEUE_CONFIG");
        crate::support::Ran::from(command.output().unwrap())
    };
    let refused = with(&["--supervisor", "embedded"]);
    assert_eq!((refused.code, refused.failure().as_str()), (2, "supervisor_mismatch"), "{refused:?}");
    let other = queue.place("other.yml");
    fs::copy(queue.config(), &other).unwrap();
    let refused = with(&["--pueue-config", other.to_str().unwrap()]);
    assert_eq!((refused.code, refused.failure().as_str()), (2, "supervisor_mismatch"), "{refused:?}");
    // Who names none means the recorded one.
    assert_eq!(with(&[]).code, 0);
    assert_eq!(queue.rows_of(&id).len(), 1);
    assert!(queue.supervisor().is_none());
    queue.ask(&["start"]);
    queue.collect_one(&id, 1);
}

#[test]
fn without_pueue_nothing_is_admitted() {
    let lead = Lead::new();
    let config = lead.path().join("pueue.yml");
    fs::write(&config, "shared: {unix_socket_path: /nowhere}").unwrap();
    let config = config.to_str().unwrap();
    for more in [&["--supervisor", "pueue"][..], &["--pueue-config", config]] {
        let mut command = lead.command(lead.dispatch_arguments("offline:survey", "look", more));
        // No directory that might hold one.
        let output = command.arg("--json").env("PATH", lead.programs()).output().unwrap();
        let ran = crate::support::Ran::from(output);
        assert_eq!((ran.code, ran.failure().as_str()), (1, "supervisor_setup_failed"), "{ran:?}");
        assert_eq!(ran.answer()["task_record"], "not_created");
        assert!(ran.answer()["error"].as_str().unwrap().contains("pueue"), "{ran:?}");
    }
}

#[test]
fn doctor_asks_the_queue() {
    let Some(mut queue) = Queue::new("doctor_asks_the_queue", 1) else { return };
    let check = |queue: &Queue, more: &[&str]| {
        let answer = queue.json([&["doctor"], more].concat()).answer();
        let checks = answer["checks"].as_array().unwrap().clone();
        checks.into_iter().find(|check| check["id"] == "supervisor:pueue").unwrap()
    };
    let found = check(&queue, &[]);
    assert_eq!(found["status"], "ok", "{found}");
    let detail = found["detail"].as_str().unwrap();
    assert!(detail.starts_with("pueue 4") && detail.contains(queue.config().to_str().unwrap()), "{found}");
    queue.ask(&["pause"]);
    queue.dispatch("offline:survey", "look", &[]);
    queue.kill_daemon();
    let found = check(&queue, &[]);
    assert_eq!(found["status"], "failed", "{found}");
    // Who chooses another supervisor still hears that tasks wait for this one.
    let found = check(&queue, &["--supervisor", "embedded"]);
    assert_eq!(found["status"], "warning", "{found}");
    assert!(found["detail"].as_str().unwrap().contains("open tasks"), "{found}");
    fs::rename(queue.config(), queue.place("away.yml")).unwrap();
    let found = check(&queue, &[]);
    assert_eq!(found["status"], "failed", "{found}");
}
