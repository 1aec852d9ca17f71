//! The real CLIs run full turns through `delegate`, against the model server, in a network that holds loopback only.

mod support;

use std::fs;
use std::process::Stdio;

use support::{Lead, kill, line_of_stderr, until};
use testkit::real::{Component, Stage};

const CLIS: [(Component, &str); 2] = [(Component::Codex, "codex:exec"), (Component::Pi, "pi:json")];

/// Runs `test` for each real CLI, each in a world of its own.
fn with_each(name: &str, test: impl Fn(&Stage, &Lead, &str)) {
    for (component, provider) in CLIS {
        let name = format!("{name}_{}", component.name());
        if let Some(stage) = Stage::for_test(&name, component) {
            test(&stage, &Lead::on(&stage), provider);
        }
    }
}

fn answer_is(lead: &Lead, id: &str, expected: &str) {
    assert_eq!(fs::read_to_string(lead.task_directory(id).join("result.txt")).unwrap(), expected);
}

/// Every sealed digest, checked by another program than ours.
fn verifies(lead: &Lead, id: &str) {
    let directory = lead.task_directory(id);
    let sum = |path: &str| {
        let output = std::process::Command::new("sha256sum").arg(directory.join(path)).output().unwrap();
        String::from_utf8(output.stdout).unwrap()[..64].to_owned()
    };
    let outcome = lead.record(id, "outcome.json").unwrap();
    assert_eq!(outcome["payload"]["sha256"], sum(outcome["payload"]["basename"].as_str().unwrap()).as_str());
    assert_eq!(outcome["evidence_sha256"], sum("seal.json").as_str());
    for entry in lead.record(id, "seal.json").unwrap()["manifest"].as_array().unwrap() {
        assert_eq!(entry["sha256"], sum(entry["path"].as_str().unwrap()).as_str());
    }
}

#[test]
fn a_full_turn() {
    with_each("a_full_turn", |stage, lead, provider| {
        let ran = lead.turn(provider, "[[script: answer \"hello from the model\"]]", &[]);
        assert_eq!((ran.code, ran.reason().as_str()), (0, "completed"), "{ran:?}");
        let answer = ran.answer();
        let id = answer["task_id"].as_str().unwrap();
        answer_is(lead, id, "hello from the model");
        verifies(lead, id);
        assert_eq!(stage.server().requests().len(), 1);
        assert!(!answer["outcome"]["session"]["conversation_id"].as_str().unwrap().is_empty());
        assert!(answer["outcome"]["usage"].as_array().is_some_and(|usage| !usage.is_empty()));
        assert!(
            lead.record(id, "plan.json").unwrap()["launch"]["provider_version"]
                .as_str()
                .unwrap()
                .contains(stage.version())
        );
    });
}

#[test]
fn the_dispatcher_dies_after_its_answer() {
    with_each("the_dispatcher_dies_after_its_answer", |_, lead, provider| {
        let arguments = lead.dispatch_arguments(provider, "[[script: answer \"late hello\"]]", &["--json"]);
        let mut dispatcher =
            lead.command(&arguments).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        std::io::BufRead::read_line(
            &mut std::io::BufReader::new(dispatcher.stdout.take().unwrap()),
            &mut line,
        )
        .unwrap();
        let _ = dispatcher.kill();
        dispatcher.wait().unwrap();
        let answer: serde_json::Value = serde_json::from_str(&line).unwrap();
        let id = answer["task_id"].as_str().unwrap();
        let ran = lead.collect(id);
        assert_eq!((ran.code, ran.reason().as_str()), (0, "completed"), "{ran:?}");
        answer_is(lead, id, "late hello");
        verifies(lead, id);
    });
}

#[test]
fn the_dispatcher_dies_before_its_commit() {
    with_each("the_dispatcher_dies_before_its_commit", |stage, lead, provider| {
        let id = "5a".repeat(16);
        let arguments = lead.dispatch_arguments(provider, "[[script: answer once]]", &["--id", &id]);
        let mut dispatcher =
            lead.command(&arguments).stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        assert_eq!(line_of_stderr(&mut dispatcher, "task_id="), id);
        let _ = dispatcher.kill();
        dispatcher.wait().unwrap();
        assert_eq!(lead.json(&arguments).code, 0);
        let ran = lead.collect(&id);
        assert_eq!((ran.code, ran.reason().as_str()), (0, "completed"), "{ran:?}");
        assert_eq!(stage.server().requests().len(), 1);
        assert_eq!(fs::read_dir(lead.root().join("tasks")).unwrap().count(), 1);
    });
}

#[test]
fn the_runner_dies_in_mid_turn() {
    with_each("the_runner_dies_in_mid_turn", |stage, lead, provider| {
        let id = lead.dispatch(provider, "[[script: slow]]", &[]);
        let _ = stage.server().wait_for_requests(1);
        kill(lead.runner(&id), "KILL");
        let ran = lead.collect(&id);
        assert_eq!((ran.code, ran.reason().as_str()), (0, "completed"), "{ran:?}");
        assert_eq!(ran.answer()["outcome"]["recovered"], true);
        assert_eq!(stage.server().requests().len(), 1);
    });
}

#[test]
fn a_tool_of_a_cancelled_turn_is_gone() {
    // Pi has no shell in read-only mode; codex has one in its sandbox.
    let Some(stage) = Stage::for_test("a_tool_of_a_cancelled_turn_is_gone", Component::Codex) else { return };
    let lead = Lead::on(&stage);
    let id = lead.dispatch("codex:exec", "[[script: shell \"tail -f /dev/null\"]]", &[]);
    until("the tool", || {
        let status = lead.json(["status", &id]).answer();
        status["activity"]["last_event"]["summary"].as_str()?.contains("tail").then_some(())
    });
    let ran = lead.json(["cancel", &id, "--watch", "60s"]);
    assert_eq!((ran.code, ran.reason().as_str()), (4, "cancelled"), "{ran:?}");
    until("nothing to be left", || lead.everything().is_empty().then_some(()));
}

#[test]
fn errors_of_the_service_are_told_apart() {
    with_each("errors_of_the_service_are_told_apart", |_, lead, provider| {
        for (script, reason) in [("401", "authentication-required"), ("quota", "quota-exhausted")] {
            let ran = lead.turn(provider, &format!("[[script: {script}]]"), &[]);
            assert_eq!((ran.code, ran.reason().as_str()), (4, reason), "{ran:?}");
        }
        let ran = lead.turn(provider, "[[script: empty]]", &[]);
        assert_eq!((ran.code, ran.reason().as_str()), (4, "empty-output"), "{ran:?}");
    });
}
