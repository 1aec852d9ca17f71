//! The real Claude Code under the GLM runner, against a model server, in a network that holds loopback only.

mod glm_support;
mod support;

use std::fs;

use glm_support::{KEY, LaneEvaluation, bare, clear};
use serde_json::{Value, json};
use support::{Finished, Stage};
use testkit::model_server::{ModelServer, RawResponse, Script};
use testkit::real::{Component, Stage as Real};

/// A stage with the real Claude Code and a model server as its service; nothing where it is not installed.
fn set(test: &str) -> Option<(Real, Stage)> {
    let real = Real::for_test(test, Component::Claude)?;
    let mut stage = bare();
    stage.set("DELEGATION_GLM_CLAUDE_BIN", real.programs().join("claude"));
    stage.set("DELEGATION_GLM_BASE_URL", real.server().url());
    // Ten are its own choice.
    stage.set("CLAUDE_CODE_MAX_RETRIES", "2");
    stage.set("DELEGATION_PASS_ENVIRONMENT", "CLAUDE_CODE_MAX_RETRIES");
    Some((real, stage))
}

fn ask(stage: &Stage, lane: &str, prompt: &str) -> Finished {
    stage.write("prompt.md", prompt);
    stage.run_lane(lane, &["--allow-provisional", "--debug-dir", &stage.path("debug").display().to_string()])
}

fn set_with_debug(test: &str) -> Option<(Real, Stage)> {
    let (real, stage) = set(test)?;
    stage.write("debug/.keep", "");
    Some((real, stage))
}

#[test]
fn each_lane_answers_with_its_identity_attested() {
    let Some((real, stage)) = set_with_debug("each_lane_answers_with_its_identity_attested") else { return };
    for lane in ["clerk", "scout", "builder"] {
        let finished = ask(&stage, lane, "[[script: answer \"hello from the model\"]]");
        assert_eq!((finished.code, finished.stderr.as_str()), (0, ""), "{lane}: {finished:?}");
        assert_eq!(stage.answer().expect("an answer"), b"hello from the model\n");
        let metrics = stage.metrics();
        assert_eq!(metrics["exact_model_identity_attested"], true, "{metrics}");
        assert_eq!(metrics["observed_init_models"], json!(["glm-5.3-flash"]));
        assert_eq!(metrics["observed_assistant_models"], json!(["glm-5.3-flash"]));
        assert_eq!(metrics["usage_source"], "model_usage");
        assert_eq!(metrics["sandbox"], "linux-landlock");
        assert!(metrics["tokens"]["input"].as_u64().is_some_and(|count| count > 0), "{metrics}");
        clear(&stage);
    }
    let requests = real.server().requests();
    assert_eq!(requests.len(), 3, "one request for each turn");
    let bearer = ("authorization".to_owned(), format!("Bearer {KEY}"));
    for request in requests {
        assert_eq!((request.path.as_str(), request.model.as_str()), ("/v1/messages", "glm-5.3-flash"));
        assert!(request.headers.contains(&bearer));
    }
}

#[test]
fn the_builder_edits_its_workspace_and_a_reading_lane_does_not() {
    let Some((_real, stage)) = set_with_debug("the_builder_edits_its_workspace_and_a_reading_lane_does_not")
    else {
        return;
    };
    let made = stage.path("work/made.txt");
    let prompt = format!("[[script: write {} \"by the model\"]]", made.display());
    for (lane, is_made) in [("scout", false), ("clerk", false), ("builder", true)] {
        let finished = ask(&stage, lane, &prompt);
        assert_eq!(finished.code, 0, "{lane}: {finished:?}");
        assert_eq!(made.exists(), is_made, "{lane}");
        clear(&stage);
    }
    let outside = stage.path("home/made.txt");
    let finished = ask(&stage, "builder", &format!("[[script: write {} x]]", outside.display()));
    assert_eq!(finished.code, 0, "{finished:?}");
    assert!(!outside.exists());
}

#[test]
fn a_refused_key_and_limits_are_told_apart() {
    let Some((_real, stage)) = set_with_debug("a_refused_key_and_limits_are_told_apart") else { return };
    for (script, code, reason) in [
        ("401", 69, "authentication_failed"),
        ("429 after=0", 75, "rate_limited"),
        ("500", 70, "process_exit"),
    ] {
        let finished = ask(&stage, "scout", &format!("[[script: {script}]]"));
        assert_eq!(finished.code, code, "{finished:?}");
        assert_eq!(stage.outputs(), ["answer.txt.error.json"]);
        let diagnostic = stage.diagnostic();
        assert_eq!(
            (&diagnostic["reason"], &diagnostic["phase"], &diagnostic["cli_exit_code"]),
            (&json!(reason), &json!("dispatch"), &json!(1))
        );
        clear(&stage);
    }
}

#[test]
fn another_model_in_the_answer_publishes_nothing() {
    let Some((_real, stage)) = set_with_debug("another_model_in_the_answer_publishes_nothing") else {
        return;
    };
    let finished = ask(&stage, "scout", "[[script: other-model another-model-1]]");
    assert_eq!(finished.code, 70, "{finished:?}");
    assert_eq!(stage.outputs(), ["answer.txt.error.json"]);
    let diagnostic = stage.diagnostic();
    assert_eq!((&diagnostic["phase"], &diagnostic["reason"]), (&json!("extract"), &json!("model_mismatch")));
    assert_eq!(diagnostic["observed_models"], json!(["<unexpected>", "glm-5.3-flash"]));
}

#[test]
fn the_user_s_own_claude_code_is_left_alone() {
    let Some((_real, stage)) = set_with_debug("the_user_s_own_claude_code_is_left_alone") else { return };
    let settings = json!({"env": {"ANTHROPIC_BASE_URL": "http://127.0.0.1:1"}, "model": "opus"}).to_string();
    stage.write("home/.claude/settings.json", &settings);
    let before = support::files(&stage.path("home"));
    let finished = ask(&stage, "clerk", "[[script: answer fine]]");
    assert_eq!(finished.code, 0, "{finished:?}");
    assert_eq!(support::files(&stage.path("home")), before);
    assert_eq!(fs::read_to_string(stage.path("home/.claude/settings.json")).expect("settings"), settings);
}

#[test]
fn a_limit_whose_end_only_a_header_tells_is_a_passing_one() {
    let Some((_real, mut stage)) = set("a_limit_whose_end_only_a_header_tells_is_a_passing_one") else {
        return;
    };
    let body = json!({"type": "error", "error": {"type": "rate_limit_error", "message": "Slow down."}});
    let response = RawResponse::json(body.to_string())
        .status(429)
        .header("anthropic-ratelimit-unified-status", "rejected")
        .header("anthropic-ratelimit-unified-reset", "1900000000")
        .header("retry-after", "0");
    let server = ModelServer::start_with(Script::Raw(response)).expect("a server");
    stage.set("DELEGATION_GLM_BASE_URL", server.url());
    assert_eq!(stage.run_lane("scout", &[]).code, 75);
    // This Claude Code makes a limit event for its vendor's subscribers alone.
    let diagnostic = stage.diagnostic();
    assert_eq!(
        (&diagnostic["reason"], &diagnostic["next_flush_time"]),
        (&json!("rate_limited"), &json!(null))
    );
    assert_eq!(diagnostic["event_stream"]["counts"].get("rate_limit_event"), None);
}

#[test]
fn a_lane_evaluation_passes_its_schema_on() {
    let Some(real) = Real::for_test("a_lane_evaluation_passes_its_schema_on", Component::Claude) else {
        return;
    };
    let schema = r#"{"type":"object","properties":{"done":{"type":"boolean"}}}"#;
    let mut evaluation = LaneEvaluation::new("builder", "[[script: answer fine]]");
    evaluation.install_compiler(&format!("echo '{schema}'"));
    evaluation.stage.set("DELEGATION_GLM_CLAUDE_BIN", real.programs().join("claude"));
    evaluation.stage.set("DELEGATION_GLM_BASE_URL", real.server().url());
    let (finished, _) = evaluation.run(&[]);
    assert_eq!((finished.code, finished.stderr.as_str()), (0, ""), "{finished:?}");
    let request: Value = serde_json::from_slice(&real.server().requests()[0].body).expect("a short request");
    let tools = request["tools"].as_array().expect("tools");
    let tool = tools.iter().find(|tool| tool["name"] == "StructuredOutput").expect("the tool of the answer");
    assert_eq!(tool["input_schema"], serde_json::from_str::<Value>(schema).expect("JSON"));
    let metrics = evaluation.stage.metrics();
    assert_eq!(metrics["exact_model_identity_attested"], true);
    assert_eq!(metrics["evaluation_receipt"]["changed_paths"], json!([]));
}

#[test]
fn an_evaluated_builder_edits_files_that_are_there() {
    let Some(real) = Real::for_test("an_evaluated_builder_edits_files_that_are_there", Component::Claude)
    else {
        return;
    };
    for (name, is_edited) in [("source.txt", true), ("below/source.txt", true), (".git/HEAD", false)] {
        let old = if is_edited { "source" } else { "ref:" };
        let prompt = format!("[[script: edit {name} {old} changed]]");
        let mut evaluation = LaneEvaluation::new("builder", &prompt);
        evaluation.install_compiler("echo '{\"type\":\"object\"}'");
        evaluation.stage.set("DELEGATION_GLM_CLAUDE_BIN", real.programs().join("claude"));
        evaluation.stage.set("DELEGATION_GLM_BASE_URL", real.server().url());
        let (finished, _) = evaluation.run(&[]);
        assert_eq!((finished.code, finished.stderr.as_str()), (0, ""), "{finished:?}");
        let content = fs::read_to_string(evaluation.stage.path("work").join(name)).expect("a file");
        assert_eq!(content.starts_with("changed"), is_edited, "{name}: {content}");
        let changed = evaluation.stage.metrics()["evaluation_receipt"]["changed_paths"].clone();
        assert_eq!(changed, if is_edited { json!([name]) } else { json!([]) });
    }
}
