//! Judging the worker protocol.

mod common;

use common::Left;
use provider::Finding;
use record::words::ReasonCode;

const SESSION: &str = r#"{"type":"session","id":"s-1"}"#;
const OK: &str = r#"{"type":"result","status":"ok"}"#;

fn judged(lines: &[&str]) -> (Finding, String) {
    let stdout: Vec<u8> = lines.iter().flat_map(|line| [line.as_bytes(), b"\n"].concat()).collect();
    let (judgement, answer) = Left::stdout(&stdout).judge("offline:survey");
    (judgement.finding, answer)
}

#[test]
fn answers_are_joined_in_order() {
    let lines = [
        SESSION,
        r#"{"type":"answer","text":"a\n"}"#,
        r#"{"type":"progress","text":"x"}"#,
        r#"{"type":"answer","text":"b"}"#,
        OK,
    ];
    assert_eq!(judged(&lines), (Finding::Success, "a\nb".to_owned()));
}

#[test]
fn how_a_worker_can_fail() {
    let answer = r#"{"type":"answer","text":"a"}"#;
    let error = r#"{"type":"result","status":"error","code":"brief_unreadable","message":"No brief."}"#;
    let limited = r#"{"type":"result","status":"error","code":"rate-limited"}"#;
    for (lines, code) in [
        (&[SESSION, answer, error][..], ReasonCode::ProviderFailed),
        (&[SESSION, limited], ReasonCode::RateLimited),
        (&[SESSION, answer], ReasonCode::IncompleteOutput),
        (&[], ReasonCode::IncompleteOutput),
        (&[SESSION, OK], ReasonCode::EmptyOutput),
        (&[SESSION, r#"{"type":"answer","text":" \n"}"#, OK], ReasonCode::EmptyOutput),
        (&[answer, OK], ReasonCode::InvalidOutput),
        (&[SESSION, SESSION, answer, OK], ReasonCode::InvalidOutput),
        (&[SESSION, answer, OK, OK], ReasonCode::InvalidOutput),
        (&[SESSION, answer, OK, answer], ReasonCode::InvalidOutput),
        (&[SESSION, answer, r#"{"type":"thought"}"#, OK], ReasonCode::InvalidOutput),
        (&[SESSION, r#"{"type":"answer","text":"a","more":1}"#, OK], ReasonCode::InvalidOutput),
        (&[SESSION, answer, r#"{"type":"result","status":"fine"}"#], ReasonCode::InvalidOutput),
        (&[SESSION, answer, r#"{"type":"result","status":"ok","code":1}"#], ReasonCode::InvalidOutput),
        (&[r#"{"type":"session","id":""}"#, answer, OK], ReasonCode::InvalidOutput),
    ] {
        assert_eq!(common::code(&judged(lines).0), code, "{lines:?}");
    }
    let (Finding::ProviderError { message, .. }, _) = judged(&[SESSION, error]) else { panic!() };
    assert_eq!(message.as_deref(), Some("brief_unreadable: No brief."));
}
