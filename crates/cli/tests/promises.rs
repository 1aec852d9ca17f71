//! Smaller promises, each broken once.

mod support;

use std::fs;

use record::Sha256Digest;
use support::{Lead, until};

#[test]
fn collect_says_when_the_answer_is_not_what_was_published() {
    for change in ["other bytes", ""] {
        let lead = Lead::new();
        let ran = lead.turn("codex:exec", "[[fake: answer right]]", &[]);
        let id = ran.answer()["task_id"].as_str().unwrap().to_owned();
        let payload = lead.task_directory(&id).join("result.txt");
        match change {
            "" => fs::remove_file(&payload).unwrap(),
            bytes => fs::write(&payload, bytes).unwrap(),
        }
        let ran = lead.json(["collect", &id]);
        assert_eq!((ran.code, ran.failure().as_str()), (1, "evidence_damaged"), "{ran:?}");
        // A look says what is recorded.
        assert_eq!(lead.json(["status", &id]).code, 0);
    }
}

#[test]
fn an_id_that_is_known_needs_nothing_of_its_request() {
    let lead = Lead::new();
    let id = "bc".repeat(16);
    let arguments = lead.dispatch_arguments("codex:exec", "[[fake: answer once]]", &["--id", &id, "--wait"]);
    assert_eq!(lead.json(&arguments).code, 0);
    fs::remove_file(lead.programs().join("codex")).unwrap();
    fs::remove_dir_all(lead.workspace()).unwrap();
    let ran = lead.json(&arguments);
    assert_eq!((ran.code, ran.reason().as_str()), (0, "completed"), "{ran:?}");
    assert_eq!(lead.log().launches().len(), 1);
}

/// As if the task had been launched on another machine; the record of its process names the licence by its digest.
fn moved_elsewhere(lead: &Lead, id: &str) {
    let directory = lead.task_directory(id);
    let rewritten = |name: &str, from: &str, to: &str| {
        let text = fs::read_to_string(directory.join(name)).unwrap().replace(from, to);
        fs::write(directory.join(name), &text).unwrap();
        Sha256Digest::of(text.as_bytes()).to_string()
    };
    let machine = lead.record(id, "launch.json").unwrap()["machine_id"].as_str().unwrap().to_owned();
    let licence = lead.record(id, "running.json").unwrap()["launch_sha256"].as_str().unwrap().to_owned();
    let moved = rewritten("launch.json", &machine, &"0".repeat(64));
    rewritten("running.json", &licence, &moved);
}

#[test]
fn a_turn_that_nobody_can_see_ends_on_the_leads_word_alone() {
    for cancelled_before in [false, true] {
        let lead = Lead::new();
        let id = lead.dispatch("codex:exec", "[[fake: wait-for-file /never]]", &[]);
        let child = lead.log().wait_for_launches(1)[0].process;
        let refused = lead.json(["cancel", &id, "--declare-lost"]);
        assert_eq!((refused.code, refused.failure().as_str()), (2, "invalid_request"), "{refused:?}");
        let runner = lead.runner(&id);
        support::kill(until("the supervisor", || lead.supervisor()), "KILL");
        support::kill(runner, "KILL");
        support::kill(child.pid, "KILL");
        until("the child to end", || (!child.is_alive()).then_some(()));
        moved_elsewhere(&lead, &id);
        // A runner that looks holds the task for a moment.
        let seen = until("the runners to have looked", || {
            let seen = lead.json(["collect", &id]);
            (seen.answer()["liveness"] == "undetermined").then_some(seen)
        });
        assert_eq!(seen.code, 3, "{seen:?}");
        assert!(seen.answer()["error"].as_str().unwrap().contains("--declare-lost"), "{seen:?}");
        if cancelled_before {
            assert_eq!(lead.json(["cancel", &id]).code, 0);
        }
        let ran = lead.json(["cancel", &id, "--declare-lost", "--watch", "60s"]);
        let reason = if cancelled_before { "cancelled" } else { "incomplete-output" };
        assert_eq!((ran.code, ran.reason().as_str()), (4, reason), "{ran:?}");
    }
}

#[test]
fn damaged_evidence_comes_before_a_cancel() {
    let lead = Lead::new();
    let id = lead.dispatch("codex:exec", "[[fake: wait-for-file /never]]", &[]);
    let _ = lead.log().wait_for_launches(1);
    assert_eq!(lead.json(["cancel", &id, "--watch", "60s"]).code, 4);
    let directory = lead.task_directory(&id);
    fs::remove_file(directory.join("outcome.json")).unwrap();
    fs::write(directory.join("raw/stdout"), "{}").unwrap();
    let runner = lead.run(["__run", "--root", lead.root().to_str().unwrap(), &id]);
    assert_eq!(runner.code, 0, "{runner:?}");
    assert_eq!(lead.collect(&id).reason(), "evidence-damaged");
}

#[test]
fn the_limits_of_one_callers_shell_are_not_everybodys() {
    let lead = Lead::with_slots(1);
    let limited = {
        let inner =
            lead.command(lead.dispatch_arguments("codex:exec", "[[fake: answer small]]", &["--json"]));
        let mut command = std::process::Command::new("sh");
        command
            .args(["-c", "ulimit -S -f 64; exec nice -n 10 \"$@\"", "sh"])
            .arg(inner.get_program())
            .args(inner.get_args())
            .env_clear()
            .envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))))
            .current_dir(lead.path());
        command.output().unwrap()
    };
    assert!(limited.status.success(), "{limited:?}");
    let ran = lead.turn("codex:exec", "[[fake: giant-line 2000000]]", &[]);
    assert_eq!((ran.code, ran.reason().as_str()), (0, "completed"), "{ran:?}");
}

#[test]
fn a_directory_that_is_something_else_is_not_to_be_closed() {
    let lead = Lead::new();
    let ran = lead.json(
        [lead.dispatch_arguments("offline:survey", "x", &[]), vec!["--root".to_owned(), "/usr".to_owned()]]
            .concat(),
    );
    assert_eq!((ran.code, ran.failure().as_str()), (2, "root_invalid"), "{ran:?}");
    assert!(!ran.answer()["error"].as_str().unwrap().contains("chmod"), "{ran:?}");
}

#[test]
fn a_number_of_slots_that_is_none_is_refused() {
    let lead = Lead::new();
    for slots in ["0", "-1", "many"] {
        let output = lead.command(["providers", "--json"]).env("DELEGATE_SLOTS", slots).output().unwrap();
        assert!(output.status.success(), "discovery starts nothing");
        let arguments = lead.dispatch_arguments("offline:survey", "x", &["--json"]);
        let output = lead.command(&arguments).env("DELEGATE_SLOTS", slots).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{output:?}");
    }
    assert!(!lead.root().exists());
}
