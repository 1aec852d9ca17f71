//! The real CLIs run a full turn against the model server, without a network.

use serde_json::Value;
use testkit::real::{Component, Ending, Finished, Permission, Stage, Turn};

fn events(finished: &Finished) -> Vec<Value> {
    let lines = finished.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| serde_json::from_slice(line).unwrap()).collect()
}

fn last<'a>(events: &'a [Value], kind: &str) -> &'a Value {
    let found = events.iter().rfind(|event| event["type"] == kind);
    found.unwrap_or_else(|| panic!("no {kind} in {events:#?}"))
}

fn codex_answer(finished: &Finished) -> String {
    let events = events(finished);
    last(&events, "turn.completed");
    let item = &last(&events, "item.completed")["item"];
    assert_eq!(item["type"], "agent_message");
    item["text"].as_str().unwrap().to_owned()
}

fn pi_answer(finished: &Finished) -> String {
    let events = events(finished);
    let message = &last(&events, "turn_end")["message"];
    assert_eq!(message["stopReason"], "stop", "{message}");
    message["content"][0]["text"].as_str().unwrap().to_owned()
}

fn claude_answer(finished: &Finished) -> String {
    let events = events(finished);
    let result = last(&events, "result");
    assert_eq!((&result["subtype"], &result["is_error"]), (&"success".into(), &false.into()), "{result}");
    result["result"].as_str().unwrap().to_owned()
}

fn opencode_answer(finished: &Finished) -> String {
    let events = events(finished);
    assert_eq!(last(&events, "step_finish")["part"]["reason"], "stop");
    last(&events, "text")["part"]["text"].as_str().unwrap().to_owned()
}

#[test]
fn codex_answers() {
    let Some(stage) = Stage::for_test("codex_answers", Component::Codex) else { return };
    let finished = Turn::new("[[script: answer \"hello from the model\"]]").run(&stage).unwrap();
    assert_eq!(codex_answer(&finished), "hello from the model");
    assert_eq!(finished.last_message.as_deref(), Some(&b"hello from the model"[..]));
    assert_eq!(finished.exit(), 0);
    assert_eq!(stage.server().requests().len(), 1);
}

#[test]
fn pi_answers() {
    let Some(stage) = Stage::for_test("pi_answers", Component::Pi) else { return };
    let finished = Turn::new("[[script: answer \"hello from the model\"]]").run(&stage).unwrap();
    assert_eq!(pi_answer(&finished), "hello from the model");
    assert_eq!(stage.server().requests().len(), 1);
}

#[test]
fn codex_writes_a_file_only_where_it_may() {
    let Some(stage) = Stage::for_test("codex_writes_a_file_only_where_it_may", Component::Codex) else {
        return;
    };
    let brief = "[[script: write made.txt \"by the model\\n\"]]";
    let mut turn = Turn::new(brief);
    assert_eq!(codex_answer(&turn.run(&stage).unwrap()), "Scripted answer: turn 1, tool results 1.");
    assert!(!stage.workspace().join("made.txt").exists());
    turn.permission = Permission::WorkspaceWrite;
    codex_answer(&turn.run(&stage).unwrap());
    assert_eq!(std::fs::read_to_string(stage.workspace().join("made.txt")).unwrap(), "by the model\n");
}

#[test]
fn pi_runs_a_shell_command() {
    let Some(stage) = Stage::for_test("pi_runs_a_shell_command", Component::Pi) else { return };
    let mut turn = Turn::new("[[script: shell \"echo made > made.txt\"]]");
    turn.permission = Permission::WorkspaceWrite;
    assert_eq!(pi_answer(&turn.run(&stage).unwrap()), "Scripted answer: turn 1, tool results 1.");
    assert_eq!(std::fs::read_to_string(stage.workspace().join("made.txt")).unwrap(), "made\n");
}

#[test]
fn a_hanging_model_is_left_by_sigterm() {
    let Some(stage) = Stage::for_test("a_hanging_model_is_left_by_sigterm", Component::Codex) else { return };
    let mut turn = Turn::new("[[script: hang]]");
    turn.ending = Ending::TerminatedAtRequest(1);
    let finished = turn.run(&stage).unwrap();
    assert_eq!(finished.exit(), -15);
    assert!(events(&finished).iter().all(|event| event["type"] != "turn.completed"));
}

#[test]
fn conversations_go_on() {
    let Some(stage) = Stage::for_test("conversations_go_on", Component::Pi) else { return };
    let first = Turn::new("one").run(&stage).unwrap();
    let session = last(&events(&first), "session")["id"].as_str().unwrap().to_owned();
    let mut second = Turn::new("two");
    second.session = Some(session.clone());
    let second = second.run(&stage).unwrap();
    assert_eq!(last(&events(&second), "session")["id"], session.as_str());
    assert_eq!(pi_answer(&second), "Scripted answer: turn 2, tool results 0.");
}

#[test]
fn claude_answers_and_goes_on() {
    let Some(stage) = Stage::for_test("claude_answers_and_goes_on", Component::Claude) else { return };
    let first = Turn::new("one").run(&stage).unwrap();
    assert_eq!(claude_answer(&first), "Scripted answer: turn 1, tool results 0.");
    assert_eq!((first.exit(), stage.server().requests().len()), (0, 1));
    let session = last(&events(&first), "system")["session_id"].as_str().unwrap().to_owned();
    let mut second = Turn::new("two");
    second.session = Some(session.clone());
    let second = second.run(&stage).unwrap();
    assert_eq!(last(&events(&second), "system")["session_id"], session.as_str());
    assert_eq!(claude_answer(&second), "Scripted answer: turn 2, tool results 0.");
}

#[test]
fn claude_writes_a_file_only_where_it_may() {
    let Some(stage) = Stage::for_test("claude_writes_a_file_only_where_it_may", Component::Claude) else {
        return;
    };
    let path = stage.workspace().join("made.txt");
    for script in [format!("write {} made", path.display()), "shell \"echo made > made.txt\"".to_owned()] {
        let mut turn = Turn::new(format!("[[script: {script}]]"));
        claude_answer(&turn.run(&stage).unwrap());
        assert!(!path.exists(), "{script}");
        turn.permission = Permission::WorkspaceWrite;
        claude_answer(&turn.run(&stage).unwrap());
        assert_eq!(std::fs::read_to_string(&path).unwrap().trim(), "made", "{script}");
        std::fs::remove_file(&path).unwrap();
    }
}

/// A brief that begins with a slash is a command of claude, unless a newline stands before it.
#[test]
fn claude_takes_a_guarded_command_for_text() {
    let Some(stage) = Stage::for_test("claude_takes_a_guarded_command_for_text", Component::Claude) else {
        return;
    };
    assert_eq!(claude_answer(&Turn::new("/compact").run(&stage).unwrap()), "");
    assert!(stage.server().requests().is_empty());
    assert_eq!(
        claude_answer(&Turn::new("\n/compact").run(&stage).unwrap()),
        "Scripted answer: turn 1, tool results 0."
    );
    assert_eq!(stage.server().requests().len(), 1);
}

#[test]
fn opencode_answers_and_goes_on() {
    let Some(stage) = Stage::for_test("opencode_answers_and_goes_on", Component::Opencode) else { return };
    let first = Turn::new("one").run(&stage).unwrap();
    assert_eq!(opencode_answer(&first), "Scripted answer: turn 1, tool results 0.");
    let session = last(&events(&first), "step_finish")["sessionID"].as_str().unwrap().to_owned();
    let mut second = Turn::new("two");
    second.session = Some(session.clone());
    let second = second.run(&stage).unwrap();
    assert_eq!(last(&events(&second), "step_finish")["sessionID"], session.as_str());
    assert_eq!(opencode_answer(&second), "Scripted answer: turn 2, tool results 0.");
}

/// Its own plan agent would let the shell write; the denials take the tools away.
#[test]
fn opencode_writes_a_file_only_where_it_may() {
    let Some(stage) = Stage::for_test("opencode_writes_a_file_only_where_it_may", Component::Opencode) else {
        return;
    };
    let path = stage.workspace().join("made.txt");
    for script in [format!("write {} made", path.display()), "shell \"echo made > made.txt\"".to_owned()] {
        let mut turn = Turn::new(format!("[[script: {script}]]"));
        opencode_answer(&turn.run(&stage).unwrap());
        assert!(!path.exists(), "{script}");
        turn.permission = Permission::WorkspaceWrite;
        opencode_answer(&turn.run(&stage).unwrap());
        assert_eq!(std::fs::read_to_string(&path).unwrap().trim(), "made", "{script}");
        std::fs::remove_file(&path).unwrap();
    }
}

/// Why a blank brief is refused before the launch.
#[test]
fn opencode_takes_no_blank_brief() {
    let Some(stage) = Stage::for_test("opencode_takes_no_blank_brief", Component::Opencode) else { return };
    let finished = Turn::new(" \n").run(&stage).unwrap();
    assert_eq!((finished.exit(), finished.stdout.len()), (1, 0));
    assert!(stage.server().requests().is_empty());
}
