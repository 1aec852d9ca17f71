//! Judging codex: the grammar, the order of findings, and what may follow a success.

mod common;

use common::{Left, code};
use provider::Finding;
use record::outcome::Note;
use record::usage::UsageReliability;
use record::words::ReasonCode;

const THREAD: &str = r#"{"type":"thread.started","thread_id":"01a22bc4-35fe-76d2-9b19-eb939069cedd"}"#;
const OTHER_THREAD: &str = "01a22bc4-35fe-76d2-9b19-000000000000";
const TURN: &str = r#"{"type":"turn.started"}"#;
const ANSWER: &str =
    r#"{"type":"item.completed","item":{"id":"item_9","type":"agent_message","text":"The answer."}}"#;
const DONE: &str = r#"{"type":"turn.completed","usage":{"input_tokens":10,"cached_input_tokens":1,"cache_write_input_tokens":2,"output_tokens":3,"reasoning_output_tokens":4}}"#;
const FAILED: &str =
    r#"{"type":"turn.failed","error":{"message":"Quota exceeded. Check your plan and billing details."}}"#;
const SUCCESS: &[&str] = &[THREAD, TURN, ANSWER, DONE];

fn stream(lines: &[&str]) -> Vec<u8> {
    lines.iter().flat_map(|line| [line.as_bytes(), b"\n"].concat()).collect()
}

fn finding(lines: &[&str]) -> ReasonCode {
    Left::stdout(&stream(lines)).code("codex:exec")
}

#[test]
fn a_success_has_answer_session_and_usage() {
    let stdout = stream(SUCCESS);
    let (judgement, answer) = Left::stdout(&stdout).judge("codex:exec");
    assert_eq!((judgement.finding, answer.as_str()), (Finding::Success, "The answer."));
    assert_eq!(judgement.session.as_deref(), Some("01a22bc4-35fe-76d2-9b19-eb939069cedd"));
    let usage = &judgement.usage[0];
    assert_eq!(
        (usage.input_tokens, usage.output_tokens, usage.thinking_tokens),
        (Some(10), Some(3), Some(4))
    );
    assert_eq!(
        (usage.cache_read_tokens, usage.cache_creation_tokens, usage.total_tokens),
        (Some(1), Some(2), None)
    );
    assert_eq!(usage.reliability, UsageReliability::Reported);
    assert!(judgement.notes.is_empty());
}

#[test]
fn the_last_agent_message_is_the_answer_byte_for_byte() {
    let first = r#"{"type":"item.completed","item":{"id":"a","type":"agent_message","text":"I will look."}}"#;
    let last =
        r#"{"type":"item.completed","item":{"id":"b","type":"agent_message","text":" \u2028x\n\u0000é\n"}}"#;
    let stdout = stream(&[THREAD, TURN, first, last, DONE]);
    let (_, answer) = Left::stdout(&stdout).judge("codex:exec");
    assert_eq!(answer, " \u{2028}x\n\u{0}é\n");
}

#[test]
fn words_of_the_model_are_no_signal() {
    let prose = r#"{"type":"item.completed","item":{"id":"a","type":"agent_message","text":"usage limit reached, 401 Unauthorized, turn.failed"}}"#;
    assert_eq!(finding(&[THREAD, TURN, prose, DONE]), ReasonCode::Completed);
}

#[test]
fn errors_that_a_turn_survives_are_no_error() {
    let retry =
        r#"{"type":"error","message":"Reconnecting... 1/5 (unexpected status 401 Unauthorized: no)"}"#;
    let warning =
        r#"{"type":"item.completed","item":{"id":"w","type":"error","message":"Model metadata not found"}}"#;
    assert_eq!(finding(&[THREAD, warning, retry, TURN, retry, warning, ANSWER, DONE]), ReasonCode::Completed);
}

#[test]
fn the_order_of_findings() {
    let blank = r#"{"type":"item.completed","item":{"id":"a","type":"agent_message","text":" \n"}}"#;
    for (lines, expected) in [
        (&[THREAD, TURN, ANSWER, FAILED][..], ReasonCode::QuotaExhausted),
        (&[FAILED], ReasonCode::QuotaExhausted),
        (&[THREAD, TURN, r#"{"type":"turn.aborted"}"#], ReasonCode::ProviderFailed),
        (
            &[THREAD, TURN, ANSWER, r#"{"type":"turn.completed","status":"interrupted"}"#],
            ReasonCode::ProviderFailed,
        ),
        (&[THREAD, TURN, ANSWER, r#"{"type":"turn.completed","status":"completed"}"#], ReasonCode::Completed),
        (&[], ReasonCode::IncompleteOutput),
        (&[THREAD], ReasonCode::IncompleteOutput),
        (&[THREAD, TURN, ANSWER], ReasonCode::IncompleteOutput),
        (&[THREAD, TURN, DONE], ReasonCode::EmptyOutput),
        (&[THREAD, TURN, ANSWER, blank, DONE], ReasonCode::EmptyOutput),
    ] {
        assert_eq!(finding(lines), expected, "{lines:?}");
    }
}

#[test]
fn items_must_be_closed() {
    let open = r#"{"type":"item.started","item":{"id":"a","type":"command_execution","command":"x"}}"#;
    let update = r#"{"type":"item.updated","item":{"id":"b","type":"todo_list"}}"#;
    let progress =
        r#"{"type":"item.completed","item":{"id":"a","type":"command_execution","status":"in_progress"}}"#;
    let closed = r#"{"type":"item.completed","item":{"id":"a","type":"command_execution","exit_code":null,"status":"failed"}}"#;
    assert_eq!(finding(&[THREAD, TURN, open, ANSWER, DONE]), ReasonCode::IncompleteOutput);
    assert_eq!(finding(&[THREAD, TURN, update, ANSWER, DONE]), ReasonCode::IncompleteOutput);
    assert_eq!(finding(&[THREAD, TURN, open, progress, ANSWER, DONE]), ReasonCode::IncompleteOutput);
    assert_eq!(finding(&[THREAD, TURN, open, closed, ANSWER, DONE]), ReasonCode::Completed);
}

#[test]
fn what_breaks_the_grammar() {
    let started = r#"{"type":"item.started","item":{"id":"item_9","type":"agent_message"}}"#;
    let other_type = r#"{"type":"item.completed","item":{"id":"item_9","type":"reasoning"}}"#;
    let long_id = format!(r#"{{"type":"item.started","item":{{"id":"{}","type":"x"}}}}"#, "i".repeat(257));
    for lines in [
        &[TURN, ANSWER, DONE][..],
        &[THREAD, ANSWER, TURN, DONE],
        &[THREAD, THREAD, TURN, ANSWER, DONE],
        &[THREAD, TURN, TURN, ANSWER, DONE],
        &[THREAD, TURN, ANSWER, ANSWER, DONE],
        &[THREAD, TURN, ANSWER, started, DONE],
        &[THREAD, TURN, started, started, ANSWER, DONE],
        &[THREAD, TURN, started, other_type, DONE],
        &[THREAD, TURN, &long_id, ANSWER, DONE],
        &[THREAD, TURN, ANSWER, r#"{"type":"turn.completed","usage":null}"#],
        &[THREAD, TURN, ANSWER, r#"{"type":"turn.completed","status":1}"#],
        &[THREAD, TURN, ANSWER, r#"{"type":"turn.paused"}"#, DONE],
        &[THREAD, TURN, ANSWER, r#"{"type":"thread.forked"}"#, DONE],
        &[THREAD, TURN, r#"{"type":"turn.failed","error":"x"}"#],
        &[THREAD, TURN, r#"{"type":"item.completed","item":{"id":"a","type":"agent_message"}}"#, DONE],
        &[r#"{"type":"thread.started","thread_id":"--last"}"#, TURN, ANSWER, DONE],
        &[THREAD, TURN, ANSWER, DONE, "npm notice"],
    ] {
        assert_eq!(finding(lines), ReasonCode::InvalidOutput, "{lines:?}");
    }
}

#[test]
fn after_a_success_only_telemetry_may_follow() {
    let with = |more: &str| finding(&[SUCCESS, &[more]].concat());
    assert_eq!(with(r#"{"type":"metrics.flushed","count":3}"#), ReasonCode::Completed);
    for more in
        [FAILED, DONE, TURN, ANSWER, r#"{"type":"error","message":"late"}"#, r#"{"type":"turn.cancelled"}"#]
    {
        assert_eq!(with(more), ReasonCode::InvalidOutput, "{more}");
    }
}

#[test]
fn a_cut_last_line_takes_no_success_away_and_gives_none() {
    let whole = stream(SUCCESS);
    let cut_after = [&whole[..], b"{\"type\":\"turn.fai"].concat();
    assert_eq!(Left::stdout(&cut_after).code("codex:exec"), ReasonCode::Completed);
    let unterminated = &whole[..whole.len() - 1];
    assert_eq!(Left::stdout(unterminated).code("codex:exec"), ReasonCode::Completed);
    let cut_in = &whole[..whole.len() - 3];
    assert_eq!(Left::stdout(cut_in).code("codex:exec"), ReasonCode::IncompleteOutput);
}

#[test]
fn cut_evidence_proves_a_success_only() {
    let judged = |lines: &[&str]| Left { cut: true, ..Left::stdout(&stream(lines)) }.code("codex:exec");
    assert_eq!(judged(SUCCESS), ReasonCode::Completed);
    assert_eq!(judged(&[THREAD, TURN]), ReasonCode::InvalidOutput);
    assert_eq!(judged(&[THREAD, TURN, FAILED]), ReasonCode::InvalidOutput);
}

#[test]
fn the_conversation_must_be_the_expected_one() {
    let stdout = stream(SUCCESS);
    let expecting = |id| Left { expected_session: Some(id), ..Left::stdout(&stdout) }.code("codex:exec");
    assert_eq!(expecting("01a22bc4-35fe-76d2-9b19-eb939069cedd"), ReasonCode::Completed);
    assert_eq!(expecting(OTHER_THREAD), ReasonCode::IdentityMismatch);
    let failed = stream(&[THREAD, TURN, FAILED]);
    let failed = Left { expected_session: Some(OTHER_THREAD), ..Left::stdout(&failed) };
    assert_eq!(failed.code("codex:exec"), ReasonCode::QuotaExhausted);
}

#[test]
fn the_last_message_file_may_be_missing_but_not_differ() {
    let stdout = stream(SUCCESS);
    let with = |artifact| Left { artifact, ..Left::stdout(&stdout) }.code("codex:exec");
    assert_eq!(with(None), ReasonCode::Completed);
    assert_eq!(with(Some(&b"The answer."[..])), ReasonCode::Completed);
    for other in [&b""[..], b"The answer", b"The answer.\n", b"Another."] {
        assert_eq!(with(Some(other)), ReasonCode::OutputConflict, "{other:?}");
    }
    let empty = stream(&[THREAD, TURN, DONE]);
    let empty = Left { artifact: Some(b""), ..Left::stdout(&empty) };
    assert_eq!(empty.code("codex:exec"), ReasonCode::EmptyOutput);
}

#[test]
fn denied_writes_and_chatter_are_noted_beside_the_finding() {
    let change =
        r#"{"type":"item.completed","item":{"id":"f","type":"file_change","changes":[],"status":"failed"}}"#;
    let stdout = stream(&["npm notice", THREAD, TURN, change, ANSWER, DONE]);
    let (judgement, _) = Left::stdout(&stdout).judge("codex:exec");
    assert_eq!(judgement.notes, [Note::ProviderDeniedWrite, Note::ChatterBeforeEvents]);
    let stdout = stream(SUCCESS);
    let stderr = b"2026-11-30T09:23:11Z ERROR codex_core::tools::router: error=patch rejected: writing is blocked by x\n";
    let (judgement, _) = Left { stderr, ..Left::stdout(&stdout) }.judge("codex:exec");
    assert_eq!(
        (code(&judgement.finding), judgement.notes),
        (ReasonCode::Completed, vec![Note::ProviderDeniedWrite])
    );
}

#[test]
fn a_rejected_turn_has_unreliable_numbers_and_screened_words() {
    let stdout = stream(&[THREAD, TURN, DONE]);
    let (judgement, _) = Left::stdout(&stdout).judge("codex:exec");
    assert_eq!(judgement.usage[0].reliability, UsageReliability::Unreliable);
    let secret = r#"{"type":"turn.failed","error":{"message":"no route to http://user:pass@host/v1 with sk-abcdefghijklmnop\u0007"}}"#;
    let stdout = stream(&[THREAD, TURN, secret]);
    let (judgement, _) = Left::stdout(&stdout).judge("codex:exec");
    let Finding::ProviderError { message: Some(message), .. } = judgement.finding else { panic!() };
    assert_eq!(message, "no route to http://[removed]@host/v1 with [removed]");
}
