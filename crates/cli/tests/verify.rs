//! `delegate verify`: a patch in a task's result is judged, and nothing is changed.

mod support;

use std::fs;
use std::process::Command;

use serde_json::Value;
use support::Lead;

fn git(lead: &Lead, arguments: &[&str]) {
    let done = Command::new("git")
        .args(["-c", "user.name=a", "-c", "user.email=a@b.example"])
        .args(arguments)
        .current_dir(lead.workspace())
        .env_clear()
        .env("HOME", lead.home())
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .status();
    assert!(done.unwrap().success());
}

/// A task whose answer is `answer`, and the verdict on it.
fn verify(answer: &str, more: &[&str]) -> (i32, String, Lead) {
    let lead = Lead::new();
    fs::write(lead.workspace().join("a.txt"), "one\ntwo\n").unwrap();
    git(&lead, &["add", "."]);
    git(&lead, &["commit", "--quiet", "-m", "first"]);
    let quoted = answer.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    let ran = lead.turn("codex:exec", &format!("[[fake: answer \"{quoted}\"]]"), &[]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let id = ran.answer()["task_id"].as_str().unwrap().to_owned();
    let workspace = lead.workspace();
    let mut arguments = vec!["verify", &id, "--workdir", workspace.to_str().unwrap(), "--json"];
    arguments.extend(more);
    let output = lead.command(arguments).env("TMPDIR", lead.path()).output().unwrap();
    assert_eq!(fs::read_to_string(lead.workspace().join("a.txt")).unwrap(), "one\ntwo\n");
    (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap(), lead)
}

const DIFF: &str =
    "diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+TWO\n";

#[test]
fn a_bare_diff_is_accepted() {
    let (code, receipt, _lead) = verify(DIFF, &[]);
    assert_eq!(code, 0, "{receipt}");
    let receipt: Value = serde_json::from_str(&receipt).unwrap();
    assert_eq!(receipt["verdict"], "accepted");
}

#[test]
fn a_bare_diff_without_its_last_line_end_is_refused_as_git_refuses_it() {
    let (code, receipt, _lead) = verify(DIFF.trim_end(), &[]);
    assert_eq!(code, 4, "{receipt}");
    assert!(receipt.contains("missing_final_newline"), "{receipt}");
}

#[test]
fn one_fenced_diff_is_accepted_and_said_so() {
    let (code, receipt, _lead) = verify(&format!("Here it is:\n\n```diff\n{DIFF}```\n"), &[]);
    assert_eq!(code, 0, "{receipt}");
}

#[test]
fn prose_and_two_diffs_are_refused() {
    for answer in ["I could not do it.".to_owned(), format!("```diff\n{DIFF}```\nor\n```diff\n{DIFF}```\n")] {
        let (code, printed, _lead) = verify(&answer, &[]);
        assert_eq!(code, 2, "{printed}");
    }
}

#[test]
fn a_patch_that_climbs_is_rejected() {
    let (code, receipt, _lead) = verify(&DIFF.replace("a.txt", "../a.txt"), &[]);
    assert_eq!(code, 4, "{receipt}");
}
