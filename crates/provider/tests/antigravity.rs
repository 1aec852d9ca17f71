//! The envelope and the order of findings of `antigravity:print`.

mod common;

use common::Left;
use provider::{Finding, Terminal, catalogue};
use record::usage::{UsageReliability, UsageScope, UsageSource};
use record::words::ReasonCode;

const PROFILE: &str = "antigravity:print";
const CONVERSATION: &str = "01a22bc4-35fe-76d2-9b19-eb939069cedd";
const SUCCESS: &str = r#"{"conversation_id":"01a22bc4-35fe-76d2-9b19-eb939069cedd","status":"SUCCESS","response":"The answer: \u00e9\n}","duration_seconds":12.5,"num_turns":3,"usage":{"input_tokens":5,"output_tokens":4,"thinking_tokens":3,"cache_read_tokens":2,"total_tokens":14}}"#;
const SIGNED_OUT: &str = r#"{"conversation_id":"","status":"ERROR","response":"","error":"authentication failed or timed out","duration_seconds":0,"num_turns":0,"usage":{"input_tokens":0,"output_tokens":0,"thinking_tokens":0,"cache_read_tokens":0,"total_tokens":0}}"#;
const TIMEOUT: &[u8] = b"waiting\n[agy] print timeout after 2m0s\n";

fn verdict(stdout: &str) -> ReasonCode {
    Left::stdout(stdout.as_bytes()).code(PROFILE)
}

/// The success with one text replaced by another.
fn with(from: &str, to: &str) -> String {
    assert!(SUCCESS.contains(from));
    SUCCESS.replace(from, to)
}

#[test]
fn a_success_with_everything_it_tells() {
    for stdout in [SUCCESS.to_owned(), format!("\n {SUCCESS}\r\n"), SUCCESS.replace(",\"", ",\n  \"")] {
        let (judgement, answer) = Left::stdout(stdout.as_bytes()).judge(PROFILE);
        assert_eq!((judgement.finding, answer.as_str()), (Finding::Success, "The answer: é\n}"));
        assert_eq!(judgement.session.as_deref(), Some(CONVERSATION));
        let [usage] = judgement.usage.as_slice() else { panic!("{:?}", judgement.usage) };
        assert_eq!(
            (usage.scope, usage.source, usage.reliability),
            (UsageScope::ConversationCumulative, UsageSource::ProviderEnvelope, UsageReliability::Reported)
        );
        let counts = [
            usage.input_tokens,
            usage.output_tokens,
            usage.thinking_tokens,
            usage.cache_read_tokens,
            usage.total_tokens,
            usage.num_turns,
        ];
        assert_eq!(counts, [5, 4, 3, 2, 14, 3].map(Some));
        assert_eq!(usage.duration_seconds.as_deref(), Some("12.5"));
    }
}

#[test]
fn a_missing_login_says_how_to_sign_in() {
    let stderr = b"Authentication required. Run agy to log in.\nError: authentication failed or timed out\n";
    let (judgement, _) = Left { stderr, ..Left::stdout(SIGNED_OUT.as_bytes()) }.judge(PROFILE);
    let Finding::ProviderError { code, message, retry_at } = judgement.finding else { panic!() };
    assert_eq!((code, retry_at), (ReasonCode::AuthenticationRequired, None));
    assert_eq!(message.as_deref(), Some("authentication failed or timed out (sign in by running `agy`)"));
    assert_eq!(judgement.session, None);
    assert_eq!(judgement.usage[0].reliability, UsageReliability::Unreliable);
}

#[test]
fn silence_is_no_missing_login() {
    let (judgement, _) = Left { stderr: b"Please log in\n", ..Left::default() }.judge(PROFILE);
    let Finding::Defect { code, message } = judgement.finding else { panic!() };
    assert_eq!(code, ReasonCode::IncompleteOutput);
    assert!(message.ends_with("Please log in"), "{message}");
}

#[test]
fn other_errors_are_told_and_not_guessed_at() {
    for (error, told) in [
        (r#","error":"quota? 429, unauthorized""#, "quota? 429, unauthorized"),
        (r#","error":"""#, "agy reports an error without words."),
        (r#","error":null"#, "agy reports an error without words."),
        ("", "agy reports an error without words."),
    ] {
        let stdout = with("\"SUCCESS\"", &format!("\"ERROR\"{error}"));
        let (judgement, _) = Left::stdout(stdout.as_bytes()).judge(PROFILE);
        let Finding::ProviderError { code, message, .. } = judgement.finding else { panic!("{error}") };
        assert_eq!((code, message.as_deref()), (ReasonCode::ProviderFailed, Some(told)));
    }
}

#[test]
fn the_timeout_that_calls_itself_success_is_none() {
    let timed_out =
        |stdout: &str| Left { stderr: TIMEOUT, ..Left::stdout(stdout.as_bytes()) }.judge(PROFILE).0.finding;
    for stdout in [SUCCESS, &SUCCESS[..80], "", &with("The answer: \\u00e9\\n}", "")] {
        let Finding::Defect { code, message } = timed_out(stdout) else { panic!("{stdout}") };
        assert_eq!(code, ReasonCode::IncompleteOutput, "{stdout}");
        assert!(message.contains("print timeout"), "{message}");
    }
    let far = [&b"x".repeat(100_000)[..], TIMEOUT].concat();
    assert_eq!(
        Left { stderr: &far, ..Left::stdout(SUCCESS.as_bytes()) }.code(PROFILE),
        ReasonCode::IncompleteOutput
    );
    let near = b"[AGY] print timeout, [agy]  print timeout";
    assert_eq!(
        Left { stderr: near, ..Left::stdout(SUCCESS.as_bytes()) }.code(PROFILE),
        ReasonCode::Completed
    );
    assert!(
        matches!(timed_out(SIGNED_OUT), Finding::ProviderError { .. }),
        "the provider's own error comes first"
    );
}

#[test]
fn the_order_of_findings() {
    let other = "01a22bc4-35fe-76d2-9b19-000000000000";
    for (stdout, expected) in [
        (with("\"SUCCESS\"", "\"DONE\""), ReasonCode::InvalidOutput),
        (with(CONVERSATION, ""), ReasonCode::IdentityMismatch),
        (with(CONVERSATION, "latest"), ReasonCode::IdentityMismatch),
        (with("\"SUCCESS\"", "\"SUCCESS\",\"error\":\"x\""), ReasonCode::InvalidOutput),
        (with("The answer: \\u00e9\\n}", " \\n"), ReasonCode::EmptyOutput),
        (with("\"SUCCESS\"", "\"SUCCESS\",\"model\":\"m\",\"later\":[{}]"), ReasonCode::Completed),
    ] {
        assert_eq!(verdict(&stdout), expected, "{stdout}");
    }
    let continued = |expected| Left { expected_session: Some(expected), ..Left::stdout(SUCCESS.as_bytes()) };
    assert_eq!(continued(other).code(PROFILE), ReasonCode::IdentityMismatch);
    assert_eq!(continued(&CONVERSATION.to_uppercase()).code(PROFILE), ReasonCode::Completed);
}

#[test]
fn what_is_not_the_one_object() {
    for stdout in [
        format!("{SUCCESS}{SUCCESS}"),
        format!("{SUCCESS} x"),
        format!("npm notice\n{SUCCESS}"),
        format!("[{SUCCESS}]"),
        with("\"SUCCESS\"", "\"SUCCESS\",\"Status\":\"ERROR\""),
        with("\\u00e9", "\\ud800"),
        with("\\u00e9", "\u{1}"),
        with(":12.5", ":012.5"),
        with(":12.5", ":-1"),
        with(":12.5", ":\"12.5\""),
        with(":12.5", ":1e400"),
        with(":3,\"usage", ":3.5,\"usage"),
        with(":14}", ":-14}"),
        with(":14}", ":14,}"),
        with("\"usage\":{", "\"usage\":[],\"u\":{"),
        with("\"response\":", "\"answer\":"),
        with("\"SUCCESS\"", "1"),
        "null".to_owned(),
        "text".to_owned(),
    ] {
        assert_eq!(verdict(&stdout), ReasonCode::InvalidOutput, "{stdout}");
    }
    assert_eq!(Left::stdout(b"{\"a\":\"\xff\xff\xff\xff\"}").code(PROFILE), ReasonCode::InvalidOutput);
    let nothing_told =
        with(":3,\"usage", ":null,\"usage").replace(":12.5", ":null").replace(":14}", ":null}");
    assert_eq!(verdict(&nothing_told), ReasonCode::Completed);
}

#[test]
fn prefixes_are_incomplete() {
    let stdout = SUCCESS.replace("\\u00e9", "é");
    for length in 0..stdout.len() {
        let left = Left::stdout(&stdout.as_bytes()[..length]);
        assert_eq!(left.code(PROFILE), ReasonCode::IncompleteOutput, "{length} bytes");
    }
}

#[test]
fn evidence_that_was_cut_proves_a_success_only() {
    let left = Left { cut: true, ..Left::stdout(SUCCESS.as_bytes()) };
    assert_eq!(left.code(PROFILE), ReasonCode::Completed);
    let left = Left { cut: true, ..Left::stdout(&SUCCESS.as_bytes()[..50]) };
    assert_eq!(left.code(PROFILE), ReasonCode::InvalidOutput);
}

#[test]
fn the_summary_agrees_with_the_documented_envelopes() {
    for (stdout, terminal) in [(SUCCESS, Terminal::Success), (SIGNED_OUT, Terminal::Error)] {
        let mut summariser = catalogue().get(&PROFILE.parse().unwrap()).unwrap().summariser();
        summariser.feed(stdout.as_bytes());
        assert_eq!(summariser.summary().terminal, Some(terminal));
    }
}
