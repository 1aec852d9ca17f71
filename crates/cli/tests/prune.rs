//! Retention removes the content of old tasks and never what they are (STATE.md 9).

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Stdio;
use std::time::Instant;

use record::AbsolutePath;
use serde_json::Value;
use store::Root;
use support::{Lead, Ran};
use testkit::stored::StoredTask;

/// Runs a turn to its end and returns its id.
fn ended(lead: &Lead, provider: &str) -> String {
    let ran = lead.turn(provider, "[[fake: answer kept-for-a-while]]", &[]);
    assert_eq!(ran.code, 0, "{ran:?}");
    ran.answer()["task_id"].as_str().unwrap().to_owned()
}

fn prune(lead: &Lead, more: &[&str]) -> Ran {
    lead.json([&["prune", "--older-than"], more].concat())
}

fn pruned(ran: &Ran) -> Vec<String> {
    assert_eq!(ran.code, 0, "{ran:?}");
    let answer = ran.answer();
    let ids: Vec<String> =
        answer["pruned"].as_array().unwrap().iter().map(|id| id.as_str().unwrap().to_owned()).collect();
    assert_eq!(answer["pruned_count"], ids.len());
    ids
}

/// The one task that was old enough and was kept: its id and why.
fn kept(ran: &Ran) -> (String, String) {
    let answer = ran.answer();
    assert_eq!(answer["kept_count"], 1, "{ran:?}");
    let word = |name: &str| answer["kept"][0][name].as_str().unwrap().to_owned();
    (word("task_id"), word("why"))
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Changes one field of a record of a task.
fn change(lead: &Lead, id: &str, record: &str, field: &str, value: &str) {
    let mut content = lead.record(id, record).unwrap();
    content[field] = Value::from(value);
    fs::write(lead.task_directory(id).join(record), serde_json::to_vec(&content).unwrap()).unwrap();
}

fn root(lead: &Lead) -> Root {
    Root::open(&AbsolutePath::new(&lead.root().canonicalize().unwrap()).unwrap()).unwrap()
}

#[test]
fn content_goes_and_identity_stays() {
    let lead = Lead::new();
    let id = "ab".repeat(16);
    let arguments = lead.dispatch_arguments("codex:exec", "[[fake: answer once]]", &["--id", &id]);
    assert_eq!(lead.json(&arguments).code, 0);
    let before = lead.collect(&id).answer();
    assert_eq!(before["publication"], "committed");
    assert_eq!(before.get("pruned"), None);
    // Whatever a provider leaves goes too.
    let deep = lead.task_directory(&id).join("output/a/b/c");
    fs::create_dir_all(&deep).unwrap();
    fs::set_permissions(&deep, PermissionsExt::from_mode(0o000)).unwrap();

    let ran = prune(&lead, &["0s"]);
    assert_eq!(pruned(&ran), std::slice::from_ref(&id));
    assert!(ran.answer()["freed_bytes"].as_u64().unwrap() > 0);
    let expected = [
        ".run.lock",
        "launch.json",
        "outcome.json",
        "pruned.json",
        "request.json",
        "running.json",
        "seal.json",
        "session.json",
        "submission.json",
    ];
    assert_eq!(names(&lead.task_directory(&id)), expected);

    let status = lead.json(["status", &id]);
    assert_eq!((status.code, status.reason().as_str()), (0, "completed"), "{status:?}");
    assert_eq!(status.answer()["pruned"], true);
    assert_eq!(status.answer()["payload"], before["payload"], "the digest of the answer stays known");
    let collected = lead.json(["collect", &id]);
    assert_eq!((collected.code, collected.failure().as_str()), (1, "content_pruned"), "{collected:?}");
    assert_eq!(collected.answer()["publication"], "committed");
    assert_eq!(collected.answer()["pruned"], true);
    let words = lead.run(["collect", &id]);
    assert_eq!((words.code, words.stdout.as_str()), (1, ""));
    assert!(words.stderr.contains("removed by prune"), "{words:?}");
    assert!(words.stderr.contains("`delegate continue` goes on"), "{words:?}");
    let logs = lead.json(["logs", &id]);
    assert_eq!(logs.code, 0, "{logs:?}");
    assert_eq!(logs.answer()["raw"][0]["available"], false);
    assert_eq!(lead.run(["logs", &id]).stdout, "The raw output was removed by prune.\n");

    // The id stays used, and answers as before.
    let again = lead.json(&arguments);
    assert_eq!((again.code, again.reason().as_str()), (0, "completed"), "{again:?}");
    let other = lead.json(lead.dispatch_arguments("codex:exec", "another brief", &["--id", &id]));
    assert_eq!((other.code, other.failure().as_str()), (2, "task_request_conflict"));
    assert_eq!(lead.run(["__run", "--root", lead.root().to_str().unwrap(), &id]).code, 0);
    assert_eq!(lead.log().launches().len(), 1);
    assert_eq!(pruned(&prune(&lead, &["0s"])), [""; 0], "there is nothing left to remove");
    let journal = fs::read_to_string(lead.root().join("journal.ndjson")).unwrap();
    assert_eq!(journal.matches("\"event\":\"pruned\"").count(), 1);
    assert_eq!(lead.json(["doctor"]).code, 0);
}

#[test]
fn the_conversation_of_a_pruned_task_goes_on() {
    let lead = Lead::new();
    let id = ended(&lead, "codex:exec");
    assert_eq!(pruned(&prune(&lead, &["0s"])), std::slice::from_ref(&id));
    let without_brief = lead.json(["continue", "--task", &id, "--wait"]);
    assert_eq!(
        (without_brief.code, without_brief.failure().as_str()),
        (2, "continuation_unavailable"),
        "{without_brief:?}"
    );
    assert!(without_brief.answer()["error"].as_str().unwrap().contains("--brief"));
    assert_eq!(without_brief.answer()["next_action"], "correct_request");
    let words = lead.run(["continue", "--task", &id]);
    assert!(words.stderr.contains("next:  correct the request"), "{words:?}");
    let brief = lead.brief("[[fake: answer second]]");
    let ran = lead.json(["continue", "--task", &id, "--brief", brief.to_str().unwrap(), "--wait"]);
    assert_eq!((ran.code, ran.reason().as_str()), (0, "completed"), "{ran:?}");
    assert_eq!(ran.answer()["outcome"]["session"]["after"], serde_json::json!([id]));
}

#[test]
fn a_pruned_task_without_a_conversation_promises_none() {
    let lead = Lead::new();
    let id = ended(&lead, "offline:survey");
    assert_eq!(pruned(&prune(&lead, &["0s"])), std::slice::from_ref(&id));
    let words = lead.run(["collect", &id]);
    assert!(words.stderr.contains("removed by prune") && !words.stderr.contains("continue"), "{words:?}");
}

#[test]
fn a_dry_run_says_the_same_and_removes_nothing() {
    let lead = Lead::new();
    let id = ended(&lead, "codex:exec");
    let before = names(&lead.task_directory(&id));
    let dry = prune(&lead, &["0s", "--dry-run"]);
    assert_eq!(dry.answer()["dry_run"], true);
    assert_eq!(names(&lead.task_directory(&id)), before);
    assert_eq!(lead.collect(&id).code, 0);
    let wet = prune(&lead, &["0s"]);
    assert_eq!(pruned(&wet), pruned(&dry));
    assert_eq!(wet.answer()["freed_bytes"], dry.answer()["freed_bytes"]);
}

#[test]
fn young_and_open_tasks_are_not_touched() {
    let lead = Lead::new();
    let young = ended(&lead, "codex:exec");
    let gate = lead.path().join("go");
    let open = lead.dispatch("codex:exec", &format!("[[fake: wait-for-file {}]]", gate.display()), &[]);
    let _ = lead.log().wait_for_launches(2);
    assert_eq!(pruned(&prune(&lead, &["1h"])), [""; 0]);
    assert_eq!(pruned(&prune(&lead, &["0s"])), [young]);
    fs::write(gate, "").unwrap();
    assert_eq!(lead.collect(&open).code, 0);
}

#[test]
fn a_task_that_an_open_one_continues_is_kept() {
    let lead = Lead::new();
    let first = ended(&lead, "codex:exec");
    let gate = lead.path().join("go");
    let brief = lead.brief(&format!("[[fake: wait-for-file {}]]", gate.display()));
    let ran = lead.json(["continue", "--task", &first, "--brief", brief.to_str().unwrap()]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let second = ran.answer()["task_id"].as_str().unwrap().to_owned();
    for more in [&["0s", "--dry-run"][..], &["0s"]] {
        let ran = prune(&lead, more);
        assert_eq!(pruned(&ran), [""; 0]);
        let (id, why) = kept(&ran);
        assert!(id == first && why.contains(&second), "{ran:?}");
    }
    fs::write(gate, "").unwrap();
    assert_eq!(lead.collect(&second).code, 0);
    let mut both = [first, second];
    both.sort();
    assert_eq!(pruned(&prune(&lead, &["0s"])), both);
}

#[test]
fn a_task_on_which_somebody_acts_is_kept() {
    let lead = Lead::new();
    let id = ended(&lead, "codex:exec");
    let root = root(&lead);
    let task = root.task(id.parse().unwrap()).unwrap().unwrap();
    let lock = task.try_run_lock().unwrap().unwrap();
    for more in [&["0s", "--dry-run"][..], &["0s"]] {
        let ran = prune(&lead, more);
        assert_eq!(pruned(&ran), [""; 0]);
        assert_eq!(kept(&ran), (id.clone(), "somebody acts on it right now".to_owned()));
    }
    drop(lock);
    assert_eq!(pruned(&prune(&lead, &["0s"])), [id]);
}

#[test]
fn a_clock_that_can_not_be_believed_is_refused() {
    for (record, field) in [("seal.json", "sealed_at"), ("running.json", "started_at")] {
        // Behind a record; and set forward since a turn of this boot.
        let time = if record == "seal.json" { "2199" } else { "2019" };
        let lead = Lead::new();
        let id = ended(&lead, "codex:exec");
        let other = ended(&lead, "offline:survey");
        // The newest turn tells how the clock stands.
        let changed = if record == "seal.json" { &id } else { &other };
        change(&lead, changed, record, field, &format!("{time}-01-02T03:04:05.000000000Z"));
        let refused = prune(&lead, &["0s"]);
        assert_eq!((refused.code, refused.failure().as_str()), (1, "task_operation_failed"), "{refused:?}");
        assert!(refused.answer()["error"].as_str().unwrap().contains("--yes"));
        let said = lead.json(["doctor"]).answer();
        let checks = said["checks"].as_array().unwrap();
        let clock = checks.iter().find(|check| check["id"] == "clock").unwrap();
        assert_eq!(clock["status"], "warning", "{clock}");
        let ran = prune(&lead, &["0s", "--yes"]);
        // What is from the future is no day old, whatever anybody says.
        let mut expected = if record == "seal.json" { vec![other] } else { vec![id, other] };
        expected.sort();
        assert_eq!(pruned(&ran), expected);
    }
}

#[test]
fn a_damaged_task_is_kept_and_named() {
    let lead = Lead::new();
    let id = ended(&lead, "codex:exec");
    fs::write(lead.task_directory(&id).join("seal.json"), "{").unwrap();
    let ran = prune(&lead, &["0s"]);
    assert_eq!(pruned(&ran), [""; 0]);
    let (kept_id, why) = kept(&ran);
    assert!(kept_id == id && why.contains("seal.json"), "{ran:?}");
    assert!(lead.task_directory(&id).join("result.txt").exists());
}

#[test]
fn an_age_is_asked_for_and_no_root_is_made() {
    let lead = Lead::new();
    assert_eq!(lead.json(["prune"]).failure(), "usage_error");
    let ran = prune(&lead, &["720h"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert_eq!(ran.answer()["command"], "prune");
    assert!(!lead.root().exists());
}

#[test]
fn turns_beside_a_prune_lose_nothing() {
    const STORED: usize = 150;
    const TURNS: usize = 10;
    let lead = Lead::new();
    let first = ended(&lead, "codex:exec");
    let stored = StoredTask::read(&lead.root(), &first).unwrap();
    let mut old = stored.copy(STORED).unwrap();
    old.push(first);
    let made = Instant::now();
    // A later half, which must stay.
    let young = ended(&lead, "codex:exec");
    let age = format!("{}ms", made.elapsed().as_millis());
    let pruning =
        lead.command(["prune", "--json", "--older-than", &age]).stdout(Stdio::piped()).spawn().unwrap();
    let dispatched: Vec<_> = (0..TURNS)
        .map(|_| {
            let arguments =
                lead.dispatch_arguments("codex:exec", "[[fake: answer still-here]]", &["--json", "--wait"]);
            lead.command(arguments).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
        })
        .collect();
    let ran = Ran::from(pruning.wait_with_output().unwrap());
    let (mut gone, mut expected) = (pruned(&ran), old);
    gone.sort();
    expected.sort();
    assert_eq!(gone, expected);
    for turn in dispatched {
        let ran = Ran::from(turn.wait_with_output().unwrap());
        assert_eq!((ran.code, ran.reason().as_str()), (0, "completed"), "{ran:?}");
        let id = ran.answer()["task_id"].as_str().unwrap().to_owned();
        assert_eq!(lead.collect(&id).code, 0);
    }
    assert_eq!(lead.collect(&young).code, 0);
    assert_eq!(lead.json(["doctor"]).code, 0);
    let listed = lead.json(["list", "--limit", "3000"]).answer();
    assert_eq!(listed["tasks"].as_array().unwrap().len(), STORED + TURNS + 2);
}
