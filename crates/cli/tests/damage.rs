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

/// Damages a task that waits for a slot, and waits for it and for the turn that has the slot.
fn damaged_in_the_queue(damage: impl Fn(&std::path::Path)) -> (i32, serde_json::Value) {
    let lead = Lead::with_slots(1);
    let gate = lead.path().join("go");
    let running = lead.dispatch("codex:exec", &format!("[[fake: wait-for-file {}]]", gate.display()), &[]);
    let _ = lead.log().wait_for_launches(1);
    let queued = lead.dispatch("codex:exec", "[[fake: answer never]]", &[]);
    damage(&lead.task_directory(&queued));
    fs::write(gate, "").unwrap();
    let ran = lead.json(["wait", "--all", &running, &queued]);
    let tasks = ran.answer()["tasks"].as_array().unwrap().clone();
    assert_eq!(tasks[0]["publication"], "committed", "the other is waited for: {ran:?}");
    assert_eq!(lead.log().launches().len(), 1);
    // Another look says the same, and the supervisor has nothing to wait for.
    assert_eq!(lead.collect(&queued).answer()["outcome"], tasks[1]["outcome"]);
    (ran.code, tasks[1].clone())
}

#[test]
fn a_task_that_is_damaged_in_the_queue_ends_and_says_why() {
    for file in ["request.json", "plan.json", "submission.json", "brief.md"] {
        let (code, answer) = damaged_in_the_queue(|task| {
            fs::remove_file(task.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
            fs::create_dir(task.join(file)).unwrap();
        });
        let outcome = &answer["outcome"];
        assert_eq!((code, &outcome["reason"]["code"]), (4, &"evidence-damaged".into()), "{file}: {answer}");
        assert_eq!(outcome["launched"], "no", "{file}: {answer}");
        assert!(outcome["reason"]["message"].as_str().unwrap().contains(file), "{file}: {answer}");
    }
}

#[test]
fn what_nobody_can_end_is_said_at_once() {
    let both = |task: &std::path::Path| {
        fs::write(task.join("request.json"), "x").unwrap();
        fs::write(task.join("submission.json"), "x").unwrap();
    };
    let no_lock = |task: &std::path::Path| fs::remove_file(task.join(".run.lock")).unwrap();
    let damages: [&dyn Fn(&std::path::Path); 2] = [&both, &no_lock];
    for damage in damages {
        let (code, answer) = damaged_in_the_queue(damage);
        assert_eq!((code, &answer["failure"]["code"]), (1, &"evidence_damaged".into()), "{answer}");
        assert_eq!(answer["failure"]["next_action"], "stop_and_report", "{answer}");
    }
}

#[test]
fn a_turn_whose_request_is_damaged_when_its_runner_is_lost_is_ended() {
    for files in [&["request.json"][..], &["plan.json"], &["submission.json"], &["request.json", "plan.json"]]
    {
        let lead = Lead::new();
        let id = lead.dispatch("codex:exec", "[[fake: wait-for-file /never]]", &[]);
        let child = lead.log().wait_for_launches(1)[0].process;
        let runner = lead.runner(&id);
        for file in files {
            fs::write(lead.task_directory(&id).join(file), "x").unwrap();
        }
        support::kill(runner, "KILL");
        let ran = lead.collect(&id);
        assert!(!child.is_alive(), "{files:?}: {ran:?}");
        if files.len() == 1 {
            assert_eq!((ran.code, ran.reason().as_str()), (4, "evidence-damaged"), "{files:?}: {ran:?}");
            assert_ne!(ran.answer()["outcome"]["launched"], "no", "{files:?}: {ran:?}");
        } else {
            assert_eq!((ran.code, ran.failure().as_str()), (1, "evidence_damaged"), "{files:?}: {ran:?}");
        }
        assert_eq!(lead.log().launches().len(), 1);
    }
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

/// A committed task of which somebody changes a file of the same length.
fn altered(lead: &Lead, name: &str) -> String {
    let ran = lead.turn("codex:exec", "[[fake: answer one]]", &[]);
    let id = ran.answer()["task_id"].as_str().unwrap().to_owned();
    let path = lead.task_directory(&id).join(name);
    let mut bytes = fs::read(&path).unwrap();
    bytes[0] ^= 1;
    fs::write(&path, bytes).unwrap();
    id
}

#[test]
fn raw_output_that_was_altered_is_not_called_sealed() {
    let lead = Lead::new();
    let id = altered(&lead, "raw/stdout");
    for words in [&["logs", id.as_str()][..], &["logs", &id, "--follow"]] {
        let ran = lead.json(words);
        assert_eq!(ran.code, 1, "{ran:?}");
        let answer: serde_json::Value = serde_json::from_str(ran.stdout.lines().last().unwrap()).unwrap();
        assert_eq!(answer["failure"]["code"], "evidence_damaged", "{answer}");
        let sealed = |name: &str| {
            let files = answer["raw"].as_array().unwrap();
            files.iter().find(|file| file["path"].as_str().unwrap().ends_with(name)).unwrap()["sealed"]
                .clone()
        };
        assert_eq!((sealed("raw/stdout"), sealed("raw/stderr")), (false.into(), true.into()), "{answer}");
    }
    let ran = lead.run(["logs", &id]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stdout.contains("not what was sealed") && ran.stderr.contains("raw/stdout"), "{ran:?}");
}

#[test]
fn a_plan_that_is_missing_is_seen_like_one_that_was_changed() {
    let lead = Lead::new();
    let changed = altered(&lead, "plan.json");
    let missing = altered(&lead, "plan.json");
    fs::remove_file(lead.task_directory(&missing).join("plan.json")).unwrap();
    for command in ["status", "collect", "logs", "cancel"] {
        let seen = [&changed, &missing].map(|id| {
            let ran = lead.json([command, id]);
            (ran.code, ran.failure())
        });
        assert_eq!(seen[0], (1, "evidence_damaged".to_owned()), "{command}");
        assert_eq!(seen[0], seen[1], "{command}");
    }
}
