//! Judging claude: the grammar, the order of findings, and what its errors are.

mod common;

use common::{Left, code};
use provider::Finding;
use record::outcome::Note;
use record::usage::{UsageReliability, UsageScope};
use record::words::ReasonCode;

const PROFILE: &str = "claude:print";
const SESSION: &str = "01a22bc4-35fe-76d2-9b19-eb939069cedd";
const OTHER_SESSION: &str = "01a22bc4-35fe-76d2-9b19-000000000000";
const INIT: &str = r#"{"type":"system","subtype":"init","session_id":"01a22bc4-35fe-76d2-9b19-eb939069cedd","model":"claude-opus-5-5","permissionMode":"dontAsk","tools":["Read"]}"#;
const ANSWER: &str = r#"{"type":"assistant","message":{"model":"claude-opus-5-5","content":[{"type":"text","text":"The answer."}]},"parent_tool_use_id":null,"session_id":"01a22bc4-35fe-76d2-9b19-eb939069cedd"}"#;
const DONE: &str = r#"{"stop_reason":"end_turn","session_id":"01a22bc4-35fe-76d2-9b19-eb939069cedd","total_cost_usd":0.25,"usage":{"input_tokens":10,"cache_creation_input_tokens":1,"cache_read_input_tokens":2,"output_tokens":3,"output_tokens_details":{"thinking_tokens":4}},"modelUsage":{"b":{"inputTokens":7,"costUSD":0.2},"a":{"outputTokens":8}},"permission_denials":[],"is_error":false,"num_turns":1,"subtype":"success","api_error_status":null,"result":"The answer.","type":"result","duration_ms":4160}"#;
const LATER: &str =
    r#"{"type":"system","subtype":"hook_response","session_id":"01a22bc4-35fe-76d2-9b19-eb939069cedd"}"#;
const SUCCESS: &[&str] = &[INIT, ANSWER, DONE];

fn stream(lines: &[&str]) -> Vec<u8> {
    lines.iter().flat_map(|line| [line.as_bytes(), b"\n"].concat()).collect()
}

fn verdict(lines: &[&str]) -> ReasonCode {
    Left::stdout(&stream(lines)).code(PROFILE)
}

fn done(from: &str, to: &str) -> String {
    assert!(DONE.contains(from), "{from}");
    DONE.replace(from, to)
}

/// A result as the CLI ends a turn with that failed: called a success, and an error.
fn failed(status: &str, text: &str) -> String {
    done("\"is_error\":false", "\"is_error\":true")
        .replace("\"api_error_status\":null", &format!("\"api_error_status\":{status}"))
        .replace("\"result\":\"The answer.\"", &format!("\"result\":\"{text}\""))
}

fn error_message(word: &str) -> String {
    format!(
        r#"{{"type":"assistant","message":{{"model":"<synthetic>","content":[{{"type":"text","text":"x"}}]}},"session_id":"{SESSION}","is_api_error_message":true,"error":"{word}"}}"#
    )
}

#[test]
fn a_success_with_everything_it_tells() {
    let stdout = stream(SUCCESS);
    let (judgement, answer) = Left::stdout(&stdout).judge(PROFILE);
    assert_eq!((judgement.finding, answer.as_str()), (Finding::Success, "The answer."));
    assert_eq!(judgement.session.as_deref(), Some(SESSION));
    assert!(judgement.notes.is_empty());
    let [main, cost, first, second] = judgement.usage.as_slice() else { panic!("{:?}", judgement.usage) };
    assert_eq!((main.scope, main.reliability), (UsageScope::MainAgent, UsageReliability::Reported));
    assert_eq!(main.model.as_deref(), Some("claude-opus-5-5"));
    let counts = [
        main.input_tokens,
        main.cache_creation_tokens,
        main.cache_read_tokens,
        main.output_tokens,
        main.thinking_tokens,
    ];
    assert_eq!(counts, [10, 1, 2, 3, 4].map(Some));
    assert_eq!(
        (main.num_turns, main.duration_seconds.as_deref(), main.total_tokens),
        (Some(1), Some("4.16"), None)
    );
    assert_eq!(
        (cost.scope, cost.estimated_cost_usd.as_deref(), cost.input_tokens),
        (UsageScope::WholeTree, Some("0.25"), None)
    );
    assert_eq!((first.model.as_deref(), first.output_tokens), (Some("a"), Some(8)));
    assert_eq!((second.model.as_deref(), second.estimated_cost_usd.as_deref()), (Some("b"), Some("0.2")));
}

#[test]
fn what_a_newer_cli_adds_is_no_fault() {
    for extra in [
        r#"{"type":"system","subtype":"api_error","error":"x"}"#,
        r#"{"type":"system","subtype":"stop_hook_summary"}"#,
        r#"{"type":"stream_event","event":{}}"#,
        r#"{"type":"rate_limit_event","rate_limit_info":{"status":"allowed","resetsAt":1}}"#,
        r#"{"type":"assistant","message":{"model":"m","content":[{"type":"server_tool_use","id":1}]}}"#,
        r#"{"type":"user","message":{"content":"plain words"}}"#,
        r#"{"type":"some.thing","session_id":null}"#,
    ] {
        assert_eq!(verdict(&[INIT, extra, ANSWER, DONE, LATER]), ReasonCode::Completed, "{extra}");
    }
    assert_eq!(
        verdict(&[LATER, INIT, ANSWER, DONE]),
        ReasonCode::Completed,
        "telemetry before the beginning"
    );
}

#[test]
fn broken_grammar() {
    let second = INIT.replace(SESSION, OTHER_SESSION);
    let other_answer = ANSWER.replace(SESSION, OTHER_SESSION);
    let plan = INIT.replace("dontAsk", "plan");
    let nameless = INIT.replace("\"session_id\"", "\"session\"");
    let (no_flag, no_subtype) = (done("\"is_error\":false,", ""), done("\"subtype\":\"success\",", ""));
    let contradiction = done("\"subtype\":\"success\"", "\"subtype\":\"error_max_turns\"");
    let (errors, text) =
        (done("\"num_turns\":1", "\"errors\":null"), done("\"result\":\"The answer.\"", "\"result\":1"));
    for lines in [
        &[DONE][..],
        &[ANSWER, DONE],
        &[INIT, INIT, ANSWER, DONE],
        &[INIT, second.as_str(), ANSWER, DONE],
        &[INIT, &other_answer, DONE],
        &[&plan, ANSWER, DONE],
        &[&nameless, ANSWER, DONE],
        &[INIT, ANSWER, DONE, DONE],
        &[INIT, ANSWER, DONE, ANSWER],
        &[INIT, ANSWER, DONE, INIT],
        &[INIT, ANSWER, &no_flag],
        &[INIT, ANSWER, &no_subtype],
        &[INIT, ANSWER, &contradiction],
        &[INIT, ANSWER, &errors],
        &[INIT, ANSWER, &text],
        &[INIT, r#"{"type":"error","message":"x"}"#, ANSWER, DONE],
        &[INIT, r#"{"type":"turn.started"}"#, ANSWER, DONE],
        &[INIT, r#"{"type":"system"}"#, ANSWER, DONE],
        &[INIT, r#"{"type":"assistant"}"#, ANSWER, DONE],
        &[INIT, r#"{"type":"x","session_id":"no UUID"}"#, ANSWER, DONE],
        &[INIT, "words", ANSWER, DONE],
    ] {
        assert_eq!(verdict(lines), ReasonCode::InvalidOutput, "{lines:#?}");
    }
}

#[test]
fn an_error_is_never_an_answer() {
    for (status, word, text, expected) in [
        ("401", "authentication_failed", "API Error: 401 no", ReasonCode::AuthenticationRequired),
        (
            "null",
            "authentication_failed",
            "Not logged in · Please run /login",
            ReasonCode::AuthenticationRequired,
        ),
        ("403", "authentication_failed", "API Error: 403 no", ReasonCode::ProviderFailed),
        ("429", "rate_limit", "API Error: Request rejected (429) · slow down", ReasonCode::RateLimited),
        (
            "429",
            "rate_limit",
            "API Error: Request rejected (429) · You have reached your specified API usage limits.",
            ReasonCode::QuotaExhausted,
        ),
        ("529", "server_error", "API Error: 529 Overloaded", ReasonCode::ProviderFailed),
        ("null", "max_output_tokens", "API Error: too long", ReasonCode::IncompleteOutput),
    ] {
        let (message, result) = (error_message(word), failed(status, text));
        let stdout = stream(&[INIT, ANSWER, &message, &result]);
        let (judgement, answer) = Left::stdout(&stdout).judge(PROFILE);
        assert_eq!((code(&judgement.finding), answer.as_str()), (expected, ""), "{text}");
        let Finding::ProviderError { message: Some(message), .. } = judgement.finding else {
            panic!("{text}")
        };
        assert!(message.starts_with(text), "{message}");
        let says_how = message.contains("claude auth login");
        assert_eq!(says_how, expected == ReasonCode::AuthenticationRequired, "{message}");
        assert!(judgement.usage.iter().all(|usage| usage.reliability == UsageReliability::Unreliable));
    }
}

#[test]
fn a_limit_says_when_it_ends() {
    let message = error_message("rate_limit");
    let retry_at = |lines: &[&str]| {
        let stdout = stream(lines);
        match Left::stdout(&stdout).judge(PROFILE).0.finding {
            Finding::ProviderError { code, retry_at, .. } => (code, retry_at.map(|time| time.to_string())),
            other => panic!("{other:?}"),
        }
    };
    let limit =
        r#"{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1796083200}}"#;
    let end = Some("2026-12-01T00:00:00.000000000Z".to_owned());
    let (plain, stated) = (
        failed("429", "You've hit your limit"),
        failed(
            "429",
            "You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC.",
        ),
    );
    assert_eq!(retry_at(&[INIT, limit, &message, &plain]), (ReasonCode::QuotaExhausted, end.clone()));
    assert_eq!(retry_at(&[INIT, &message, &stated]), (ReasonCode::QuotaExhausted, end));
    assert_eq!(retry_at(&[INIT, &message, &plain]), (ReasonCode::QuotaExhausted, None));
    let allowed = limit.replace("rejected", "allowed");
    assert_eq!(
        retry_at(&[INIT, limit, &allowed, &message, &failed("429", "Slow down")]),
        (ReasonCode::RateLimited, None)
    );
}

#[test]
fn the_order_of_findings() {
    let other = |lines: &[&str]| {
        let stdout = stream(lines);
        Left { expected_session: Some(OTHER_SESSION), ..Left::stdout(&stdout) }.code(PROFILE)
    };
    assert_eq!(other(SUCCESS), ReasonCode::IdentityMismatch);
    assert_eq!(other(&[INIT]), ReasonCode::IdentityMismatch);
    assert_eq!(other(&[INIT, &failed("500", "no")]), ReasonCode::ProviderFailed);
    assert_eq!(verdict(&[INIT, ANSWER]), ReasonCode::IncompleteOutput);
    assert_eq!(verdict(&[]), ReasonCode::IncompleteOutput);
    for (reason, expected) in [
        ("null", ReasonCode::Completed),
        ("\"stop_sequence\"", ReasonCode::Completed),
        ("\"END_TURN\"", ReasonCode::Completed),
        ("\"max_tokens\"", ReasonCode::IncompleteOutput),
        ("\"refusal\"", ReasonCode::Refusal),
        ("\"cancelled\"", ReasonCode::ProviderFailed),
        ("\"tool_use\"", ReasonCode::InvalidOutput),
    ] {
        let result = done("\"stop_reason\":\"end_turn\"", &format!("\"stop_reason\":{reason}"));
        assert_eq!(verdict(&[INIT, ANSWER, &result]), expected, "{reason}");
    }
    let errors = done("\"num_turns\":1", "\"errors\":[\"x\"]");
    assert_eq!(verdict(&[INIT, ANSWER, &errors]), ReasonCode::ProviderFailed);
    for blank in ["\"result\":\"\"", "\"result\":\" \\n\"", "\"result\":null", "\"no_result\":\"x\""] {
        assert_eq!(
            verdict(&[INIT, ANSWER, &done("\"result\":\"The answer.\"", blank)]),
            ReasonCode::EmptyOutput
        );
    }
}

#[test]
fn the_answering_model_is_the_main_agents() {
    let asked = |model: &str, lines: &[&str]| {
        let stdout = stream(lines);
        Left { requested_model: Some(model), ..Left::stdout(&stdout) }.code(PROFILE)
    };
    let other = ANSWER.replace("claude-opus-5-5", "claude-haiku-5-5");
    let helper = other.replace("\"parent_tool_use_id\":null", "\"parent_tool_use_id\":\"toolu_1\"");
    assert_eq!(asked("opus", SUCCESS), ReasonCode::Completed);
    assert_eq!(asked("claude-opus-5-5", SUCCESS), ReasonCode::Completed);
    assert_eq!(asked("opus", &[INIT, ANSWER, &helper, DONE]), ReasonCode::Completed);
    assert_eq!(asked("opus", &[INIT, ANSWER, &error_message("x"), DONE]), ReasonCode::Completed);
    assert_eq!(asked("opus", &[INIT, &other, DONE]), ReasonCode::ModelMismatch);
    assert_eq!(verdict(&[INIT, &other, DONE]), ReasonCode::Completed);
}

#[test]
fn tasks_must_end_before_the_turn() {
    let started = |background: &str| {
        format!(
            r#"{{"type":"system","subtype":"task_started","task_id":"b1","tool_use_id":"t1","is_backgrounded":{background}}}"#
        )
    };
    let (foreground, background) = (started("false"), started("true"));
    let returned =
        r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"x"}]}}"#;
    let ended = r#"{"type":"system","subtype":"task_notification","task_id":"b1","status":"stopped"}"#;
    let moved =
        r#"{"type":"system","subtype":"task_updated","task_id":"b1","patch":{"is_backgrounded":true}}"#;
    let killed = r#"{"type":"system","subtype":"task_updated","task_id":"b1","patch":{"status":"killed"}}"#;
    for (events, expected) in [
        (&[foreground.as_str(), returned][..], ReasonCode::Completed),
        (&[&foreground, ended], ReasonCode::Completed),
        (&[&background, returned, ended], ReasonCode::Completed),
        (&[&background, returned, killed], ReasonCode::Completed),
        (&[&background, returned], ReasonCode::IncompleteOutput),
        (&[&foreground, moved, returned], ReasonCode::IncompleteOutput),
    ] {
        let lines = [&[INIT], events, &[ANSWER, DONE]].concat();
        assert_eq!(verdict(&lines), expected, "{events:?}");
    }
    assert_eq!(verdict(&[INIT, &background, ANSWER, DONE, ended]), ReasonCode::IncompleteOutput, "too late");
}

#[test]
fn denied_writes_are_noted() {
    let notes = |lines: &[&str]| Left::stdout(&stream(lines)).judge(PROFILE).0.notes;
    let event =
        |tool: &str| format!(r#"{{"type":"system","subtype":"permission_denied","tool_name":"{tool}"}}"#);
    assert_eq!(notes(&[INIT, &event("Write")]), [Note::ProviderDeniedWrite]);
    assert!(notes(&[INIT, &event("WebFetch")]).is_empty());
    let listed = done("\"permission_denials\":[]", r#""permission_denials":[{"tool_name":"Edit"}]"#);
    assert_eq!(
        notes(&["chatter", INIT, ANSWER, &listed]),
        [Note::ProviderDeniedWrite, Note::ChatterBeforeEvents]
    );
}

#[test]
fn a_turn_that_never_ended_tells_its_last_trouble() {
    let retry =
        r#"{"type":"system","subtype":"api_retry","attempt":3,"error_status":529,"error":"overloaded"}"#;
    let message = |stdout: &[u8], stderr: &[u8]| {
        let left = Left { stderr, ..Left::stdout(stdout) };
        match left.judge(PROFILE).0.finding {
            Finding::Defect { code: ReasonCode::IncompleteOutput, message } => message,
            other => panic!("{other:?}"),
        }
    };
    assert!(message(&stream(&[INIT, retry]), b"").contains("a request failed (overloaded 529)"));
    let root = b"--dangerously-skip-permissions cannot be used with root/sudo privileges\n";
    assert!(message(b"", root).contains("root/sudo"));
}
