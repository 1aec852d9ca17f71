//! A failure of a command on a task says which task, and keeps what is known of it.

mod support;

use std::fs;

use serde_json::Value;
use support::Lead;

const ID: &str = "abababababababababababababababab";
const OTHER: &str = "cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd";

fn failed(lead: &Lead, words: &[&str]) -> Value {
    let ran = lead.json(words);
    assert!(matches!(ran.code, 1 | 2), "{words:?}: {ran:?}");
    let answer = ran.answer();
    assert!(answer["failure"]["code"].is_string(), "{words:?}: {ran:?}");
    answer
}

#[test]
fn whatever_fails_before_the_task_is_looked_at() {
    let lead = Lead::new();
    let workspace = lead.workspace();
    let workspace = workspace.to_str().unwrap();
    for (words, field) in [
        (&["status", ID][..], "task_id"),
        (&["collect", ID], "task_id"),
        (&["logs", ID], "task_id"),
        (&["logs", ID, "--follow"], "task_id"),
        (&["cancel", ID], "task_id"),
        (&["verify", ID, "--workdir", workspace], "task_id"),
        (&["continue", "--task", ID], "parent_task_id"),
        (&["continue", "--task", OTHER, "--id", ID], "task_id"),
        (
            &["dispatch", "--id", ID, "--provider", "pi:json", "--brief", "none", "--cwd", workspace],
            "task_id",
        ),
    ] {
        // No root can be found, none is there, and one that is no root.
        for root in ["relative", "/nowhere/at/all", workspace] {
            let answer = failed(&lead, &[words, &["--root", root]].concat());
            assert_eq!(answer[field], ID, "{words:?} {root}: {answer}");
        }
    }
}

#[test]
fn a_result_without_a_patch() {
    let lead = Lead::new();
    let workspace = lead.workspace();
    let verify = |id: &str| failed(&lead, &["verify", id, "--workdir", workspace.to_str().unwrap()]);
    let prose = lead.turn("codex:exec", "[[fake: answer prose]]", &[]).answer();
    let prose = prose["task_id"].as_str().unwrap();
    let rejected = lead.turn("codex:exec", "[[fake: exit-0-empty]]", &[]).answer();
    let rejected = rejected["task_id"].as_str().unwrap();
    for (id, publication) in [(prose, "committed"), (rejected, "rejected")] {
        let answer = verify(id);
        assert_eq!((&answer["task_id"], &answer["admission"]), (&id.into(), &"admitted".into()), "{answer}");
        assert_eq!(answer["publication"], publication, "{answer}");
        assert_eq!(answer["outcome"]["task_id"], id, "{answer}");
    }
    fs::write(lead.task_directory(prose).join("result.txt"), "other").unwrap();
    let answer = verify(prose);
    assert_eq!((&answer["task_id"], &answer["admission"]), (&prose.into(), &"admitted".into()), "{answer}");
    assert_eq!(answer["failure"]["code"], "evidence_damaged");
}

#[test]
fn a_continuation_of_nothing_under_an_id_that_has_a_task() {
    let lead = Lead::new();
    let answer = failed(&lead, &["continue", "--task", OTHER, "--id", ID]);
    assert_eq!(
        (&answer["task_record"], &answer["admission"]),
        (&"not_created".into(), &"not-admitted".into())
    );
    let _ = lead.dispatch("codex:exec", "[[fake: answer one]]", &["--id", ID]);
    let answer = failed(&lead, &["continue", "--task", OTHER, "--id", ID]);
    assert_eq!((&answer["task_record"], &answer["admission"]), (&"created".into(), &"admitted".into()));
    assert_eq!(answer["next_action"], "check_status", "{answer}");
    assert_eq!(lead.collect(ID).code, 0);
}
