//! The grammar and the order of findings of `opencode:run`.

mod common;

use common::Left;
use provider::Finding;
use record::outcome::Note;
use record::usage::{UsageReliability, UsageScope};
use record::words::ReasonCode;

const PROFILE: &str = "opencode:run";
const START: &str =
    r#"{"type":"step_start","timestamp":1,"sessionID":"ses_a1","part":{"type":"step-start"}}"#;
const STOP: &str = r#"{"type":"step_finish","sessionID":"ses_a1","part":{"reason":"stop","tokens":{"total":21,"input":8,"output":5,"reasoning":4,"cache":{"read":3,"write":1}},"cost":0.0125}}"#;
const TOOL: &str = r#"{"type":"tool_use","sessionID":"ses_a1","part":{"type":"tool","tool":"bash","state":{"status":"error","input":{},"error":"no"}}}"#;
const SYNTHETIC: &str = r#"{"type":"text","sessionID":"ses_a1","part":{"text":"Continue.","synthetic":true,"metadata":{"compaction_continue":true}}}"#;

fn text(words: &str) -> String {
    format!(r#"{{"type":"text","sessionID":"ses_a1","part":{{"type":"text","text":"{words}"}}}}"#)
}

fn finish(reason: &str) -> String {
    format!(r#"{{"type":"step_finish","sessionID":"ses_a1","part":{{"reason":"{reason}"}}}}"#)
}

fn error(name: &str, data: &str) -> String {
    format!(
        r#"{{"type":"error","timestamp":1,"sessionID":"ses_a1","error":{{"name":"{name}","data":{{{data}}}}}}}"#
    )
}

fn stream(lines: &[&str]) -> Vec<u8> {
    lines.iter().flat_map(|line| [line.as_bytes(), b"\n"]).flatten().copied().collect()
}

fn verdict(lines: &[&str]) -> ReasonCode {
    Left::stdout(&stream(lines)).code(PROFILE)
}

fn answer(lines: &[&str]) -> String {
    let stdout = stream(lines);
    let (judgement, answer) = Left::stdout(&stdout).judge(PROFILE);
    assert_eq!(judgement.finding, Finding::Success, "{lines:?}");
    answer
}

#[test]
fn a_success_with_everything_it_tells() {
    let stdout = stream(&[START, &text("The answer."), STOP]);
    let (judgement, answer) = Left::stdout(&stdout).judge(PROFILE);
    assert_eq!((judgement.finding, answer.as_str()), (Finding::Success, "The answer."));
    assert_eq!(judgement.session.as_deref(), Some("ses_a1"));
    let [usage] = judgement.usage.as_slice() else { panic!("{:?}", judgement.usage) };
    assert_eq!((usage.scope, usage.reliability), (UsageScope::Unknown, UsageReliability::Reported));
    let counts = [
        usage.total_tokens,
        usage.input_tokens,
        usage.output_tokens,
        usage.thinking_tokens,
        usage.cache_read_tokens,
        usage.cache_creation_tokens,
    ];
    assert_eq!(counts, [21, 8, 5, 4, 3, 1].map(Some));
    assert_eq!(usage.estimated_cost_usd.as_deref(), Some("0.0125"));
}

#[test]
fn the_texts_of_all_steps_are_the_answer() {
    let (first, last, calls) = (text("first "), text("final"), finish("tool-calls"));
    assert_eq!(answer(&[START, &first, TOOL, &calls, START, &last, STOP]), "first final");
    let reasoning = r#"{"type":"reasoning","sessionID":"ses_a1","part":{"text":"hm"}}"#;
    assert_eq!(answer(&[START, reasoning, &first, &last, STOP]), "first final");
    assert_eq!(
        verdict(&[START, &first, &calls, START, STOP]),
        ReasonCode::EmptyOutput,
        "the last step counts"
    );
    assert_eq!(verdict(&[START, &text(" \\n"), STOP]), ReasonCode::EmptyOutput);
}

#[test]
fn a_step_that_is_tried_again_leaves_no_text() {
    let (half, whole, calls) = (text("half"), text("whole"), finish("tool-calls"));
    assert_eq!(answer(&[START, START, &half, START, &whole, STOP]), "whole");
    let failed = error("APIError", r#""statusCode":500"#);
    assert_eq!(answer(&[START, &half, &failed, START, &whole, STOP]), "whole", "a retry that recovers wins");
    let first = text("first ");
    assert_eq!(answer(&[START, &first, &calls, START, &half, START, &whole, STOP]), "first whole");
}

#[test]
fn a_compaction_is_no_part_of_the_answer() {
    let (before, summary, after) = (text("before"), text("summary"), text("after"));
    let run = [START, &before, STOP, START, &summary, STOP, SYNTHETIC, START, &after, STOP];
    assert_eq!(answer(&run), "after");
    for length in [4, 5, 7, 8, 9] {
        assert_eq!(verdict(&run[..length]), ReasonCode::IncompleteOutput, "{length} lines");
    }
    let calls = finish("tool-calls");
    assert_eq!(
        answer(&[START, &before, &calls, START, &summary, STOP, SYNTHETIC, START, &after, STOP]),
        "after"
    );
    assert_eq!(verdict(&[START, &before, STOP, START, STOP]), ReasonCode::EmptyOutput);
}

#[test]
fn the_last_ending_counts() {
    let words = text("Text.");
    for (reason, expected) in [
        ("tool-calls", ReasonCode::IncompleteOutput),
        ("length", ReasonCode::IncompleteOutput),
        ("content-filter", ReasonCode::Refusal),
        ("unknown", ReasonCode::IncompleteOutput),
    ] {
        assert_eq!(verdict(&[START, &words, &finish(reason)]), expected, "{reason}");
    }
    let unauthorised = error("APIError", r#""statusCode":401,"message":"no""#);
    let filtered = error("ContentFilterError", r#""message":"blocked""#);
    assert_eq!(verdict(&[START, &words, STOP, &unauthorised]), ReasonCode::AuthenticationRequired);
    assert_eq!(verdict(&[START, &finish("content-filter"), &filtered]), ReasonCode::Refusal);
    assert_eq!(verdict(&[&unauthorised, &unauthorised]), ReasonCode::AuthenticationRequired);
    assert_eq!(verdict(&[&unauthorised, START]), ReasonCode::IncompleteOutput);
    assert_eq!(verdict(&[]), ReasonCode::IncompleteOutput);
}

#[test]
fn an_error_says_how_to_sign_in() {
    let stdout = stream(&[&error("APIError", r#""statusCode":401,"message":"no such key""#)]);
    let (judgement, _) = Left::stdout(&stdout).judge(PROFILE);
    let Finding::ProviderError { message: Some(message), .. } = judgement.finding else { panic!() };
    assert_eq!(message, "401: no such key (sign in with `opencode auth login`)");
}

#[test]
fn an_error_before_there_is_a_session_is_the_providers() {
    let early = r#"{"type":"error","error":{"name":"UnknownError","data":{"message":"no config"}}}"#;
    let stdout = stream(&[early]);
    let (judgement, _) = Left::stdout(&stdout).judge(PROFILE);
    let Finding::ProviderError { code, message, .. } = judgement.finding else { panic!() };
    assert_eq!((code, message.as_deref()), (ReasonCode::ProviderFailed, Some("no config")));
    assert_eq!(judgement.session, None);
}

#[test]
fn broken_grammar() {
    let words = text("Text.");
    let other = words.replace("ses_a1", "ses_b2");
    let (nameless, shapeless) = (words.replace("sessionID", "session"), words.replace("ses_a1", "latest"));
    let tool_without_state = r#"{"type":"tool_use","sessionID":"ses_a1","part":{"tool":"bash"}}"#;
    let tool_pending = TOOL.replace("\"error\",\"input\"", "\"pending\",\"input\"");
    let error_without_name = error("", "");
    for lines in [
        &[&*words, STOP][..],
        &[STOP],
        &[START, &words, STOP, STOP],
        &[START, &words, STOP, &words],
        &[START, &other, STOP],
        &[START, &nameless, STOP],
        &[START, &shapeless, STOP],
        &[START, &words, r#"{"type":"step_finish","sessionID":"ses_a1","part":{}}"#],
        &[START, &words, r#"{"type":"step_finish","sessionID":"ses_a1"}"#],
        &[START, r#"{"type":"text","sessionID":"ses_a1","part":{"text":1}}"#, STOP],
        &[START, r#"{"type":"reasoning","sessionID":"ses_a1","part":{}}"#, STOP],
        &[START, tool_without_state, &words, STOP],
        &[START, &tool_pending, &words, STOP],
        &[START, &words, STOP, &error_without_name],
        &[START, &words, STOP, r#"{"type":"error","sessionID":"ses_a1"}"#],
        &[START, &words, r#"{"type":"step_skipped","sessionID":"ses_a1"}"#, STOP],
        &[START, &words, "words", STOP],
    ] {
        assert_eq!(verdict(lines), ReasonCode::InvalidOutput, "{lines:?}");
    }
}

#[test]
fn what_a_newer_cli_adds_is_no_fault() {
    let words = text("Text.");
    for extra in [r#"{"type":"session_status","sessionID":"ses_zz"}"#, r#"{"type":"metrics","n":1}"#] {
        assert_eq!(verdict(&[extra, START, extra, &words, STOP, extra]), ReasonCode::Completed, "{extra}");
    }
    let stdout = stream(&["npm notice", START, &words, STOP]);
    let (judgement, _) = Left::stdout(&stdout).judge(PROFILE);
    assert_eq!((judgement.finding, judgement.notes), (Finding::Success, vec![Note::ChatterBeforeEvents]));
}

#[test]
fn prefixes_of_a_success_are_incomplete() {
    let stdout = stream(&[START, &text("The answer."), STOP]);
    for length in 0..stdout.len() - 1 {
        assert_eq!(
            Left::stdout(&stdout[..length]).code(PROFILE),
            ReasonCode::IncompleteOutput,
            "{length} bytes"
        );
    }
}

#[test]
fn the_conversation_must_be_the_one_asked_for() {
    let stdout = stream(&[START, &text("Text."), STOP]);
    for (expected, code) in [("ses_a1", ReasonCode::Completed), ("ses_b2", ReasonCode::IdentityMismatch)] {
        assert_eq!(Left { expected_session: Some(expected), ..Left::stdout(&stdout) }.code(PROFILE), code);
    }
}

#[test]
fn usage_is_bounded_and_never_partial() {
    let words = text("Text.");
    let steps = |count: usize| {
        let stdout = stream(&[START, &words, STOP].repeat(count));
        let (judgement, _) = Left::stdout(&stdout).judge(PROFILE);
        assert_eq!(judgement.finding, Finding::Success);
        judgement.usage.len()
    };
    assert_eq!((steps(1024), steps(1025)), (1024, 0));
    let without = stream(&[START, &words, &finish("stop")]);
    assert!(Left::stdout(&without).judge(PROFILE).0.usage.is_empty());
}
