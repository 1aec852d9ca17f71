//! The program `delegate-run`, as a supervisor meets it.

mod support;

use std::process::{Command, Output};

use serde_json::Value;
use support::Lead;

const UNKNOWN: &str = "0123456789abcdef0123456789abcdef";

fn runner(lead: &Lead, words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_delegate-run"))
        .args(words)
        .env_clear()
        .env("HOME", lead.home())
        .output()
        .unwrap()
}

#[test]
fn its_command_line_is_strict() {
    let lead = Lead::new();
    for words in [
        &[][..],
        &[UNKNOWN],
        &["--root", "relative", UNKNOWN],
        &["--root", "/r/../r", UNKNOWN],
        &["--root", "/r", "--root", "/r", UNKNOWN],
        &["--root", "/r", UNKNOWN, "--bogus"],
    ] {
        let output = runner(&lead, words);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {output:?}");
        assert!(output.stdout.is_empty() && output.stderr.starts_with(b"error: "), "{output:?}");
    }
}

#[test]
fn an_ended_task_is_done_again_for_nothing() {
    let lead = Lead::new();
    let id = lead.dispatch("offline:survey", "What is here?", &[]);
    assert_eq!(lead.collect(&id).code, 0);
    let before = lead.record(&id, "outcome.json");
    let root = lead.root();
    let root = root.to_str().unwrap();

    let output = runner(&lead, &["--root", root, &id, "--json"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["command"], "delegate-run");
    assert_eq!(answer["publication"], "committed");
    assert_eq!(lead.record(&id, "outcome.json"), before);

    let output = runner(&lead, &["--root", root, UNKNOWN]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
}

#[test]
fn a_held_task_is_left_to_its_holder() {
    let lead = Lead::new();
    let id = lead.dispatch("codex:exec", "[[fake: silent-forever]]", &[]);
    let _ = lead.log().wait_for_launches(1);
    let output = runner(&lead, &["--root", lead.root().to_str().unwrap(), &id]);
    assert_eq!(output.status.code(), Some(75), "{output:?}");
    assert_eq!(lead.run(["cancel", &id, "--watch", "60s"]).code, 4);
    assert_eq!(lead.log().launches().len(), 1);
}
