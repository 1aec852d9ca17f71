//! Judging pi: cycles, retries, and the errors that its exit code hides.

mod common;

use common::Left;
use provider::Finding;
use record::words::ReasonCode;

const SESSION: &str =
    r#"{"type":"session","version":3,"id":"01a22bc4-35fe-76d2-9b19-eb939069cedd","cwd":"/w"}"#;
const START: &str = r#"{"type":"agent_start"}"#;
const TURN: &str = r#"{"type":"turn_start"}"#;
const MESSAGE: &str =
    r#"{"type":"message_start","message":{"role":"assistant","content":[],"stopReason":"pending"}}"#;
const SETTLED: &str = r#"{"type":"agent_settled","aborted":false}"#;

fn assistant(text: &str, more: &str) -> String {
    format!(
        r#"{{"role":"assistant","content":[{{"type":"thinking","thinking":"x"}},{{"type":"text","text":"{text}"}}],"model":"m","usage":{{"input":5,"output":2,"reasoning":1,"totalTokens":7}},{more}}}"#
    )
}

/// A turn with one assistant message, then the end of its cycle.
fn ending(message: &str, will_retry: bool) -> Vec<String> {
    vec![
        TURN.to_owned(),
        MESSAGE.to_owned(),
        format!(r#"{{"type":"message_end","message":{message}}}"#),
        format!(r#"{{"type":"turn_end","message":{message},"toolResults":[]}}"#),
        format!(r#"{{"type":"agent_end","messages":[{message}],"willRetry":{will_retry}}}"#),
    ]
}

fn lines(parts: &[&[String]]) -> Vec<String> {
    [&[SESSION.to_owned(), START.to_owned()][..]]
        .iter()
        .chain(parts)
        .flat_map(|part| part.iter().cloned())
        .collect()
}

fn stream(lines: &[String]) -> Vec<u8> {
    lines.iter().flat_map(|line| [line.as_bytes(), b"\n"].concat()).collect()
}

fn finding(lines: &[String]) -> ReasonCode {
    Left::stdout(&stream(lines)).code("pi:json")
}

fn owned(line: &str) -> Vec<String> {
    vec![line.to_owned()]
}

fn success() -> Vec<String> {
    ending(&assistant("The answer.", r#""stopReason":"stop""#), false)
}

fn failure(will_retry: bool) -> Vec<String> {
    ending(&assistant("", r#""stopReason":"error","errorMessage":"503: {\"message\":\"busy\"}""#), will_retry)
}

#[test]
fn a_success_has_answer_session_and_usage() {
    let stdout = stream(&lines(&[&success(), &owned(SETTLED)]));
    let (judgement, answer) = Left::stdout(&stdout).judge("pi:json");
    assert_eq!((judgement.finding, answer.as_str()), (Finding::Success, "The answer."));
    assert_eq!(judgement.session.as_deref(), Some("01a22bc4-35fe-76d2-9b19-eb939069cedd"));
    let usage = &judgement.usage[0];
    assert_eq!((usage.input_tokens, usage.output_tokens, usage.thinking_tokens), (Some(5), Some(2), Some(1)));
    assert_eq!((usage.total_tokens, usage.model.as_deref()), (Some(7), Some("m")));
    assert_eq!(finding(&lines(&[&success()])), ReasonCode::Completed, "settling is optional");
}

#[test]
fn only_the_last_cycle_counts() {
    let retry = owned(
        r#"{"type":"auto_retry_start","attempt":1,"maxAttempts":3,"delayMs":2000,"errorMessage":"503"}"#,
    );
    let again = owned(START);
    assert_eq!(finding(&lines(&[&failure(true), &retry, &again, &success()])), ReasonCode::Completed);
    assert_eq!(
        finding(&lines(&[&failure(true), &retry, &again, &failure(false)])),
        ReasonCode::ProviderFailed
    );
    assert_eq!(finding(&lines(&[&failure(true)])), ReasonCode::IncompleteOutput);
    assert_eq!(finding(&lines(&[&failure(false), &retry])), ReasonCode::IncompleteOutput);
    assert_eq!(finding(&lines(&[&success(), &again])), ReasonCode::IncompleteOutput);
    let stdout = stream(&lines(&[&failure(true), &retry, &again]));
    let (judgement, _) = Left::stdout(&stdout).judge("pi:json");
    let Finding::Defect { message, .. } = judgement.finding else { panic!() };
    assert!(message.ends_with("503: busy"), "{message}");
}

#[test]
fn how_a_cycle_can_end() {
    for (more, expected) in [
        (r#""stopReason":"length""#, ReasonCode::IncompleteOutput),
        (r#""stopReason":"aborted""#, ReasonCode::ProviderFailed),
        (r#""stopReason":"error""#, ReasonCode::ProviderFailed),
        (
            r#""stopReason":"error","errorMessage":"401: {\"code\":\"invalid_api_key\"}""#,
            ReasonCode::AuthenticationRequired,
        ),
        (r#""stopReason":"stop","errorMessage":"429: {}""#, ReasonCode::RateLimited),
        (r#""stopReason":"error","errorMessage":"x","rawStopReason":"content_filter""#, ReasonCode::Refusal),
        (r#""stopReason":"toolUse""#, ReasonCode::InvalidOutput),
        (r#""stopReason":"pending""#, ReasonCode::InvalidOutput),
    ] {
        assert_eq!(finding(&lines(&[&ending(&assistant("Text.", more), false)])), expected, "{more}");
    }
    assert_eq!(
        finding(&lines(&[&ending(&assistant(" \\n", r#""stopReason":"stop""#), false)])),
        ReasonCode::EmptyOutput
    );
    let sticky = owned(r#"{"type":"error","message":"401: no"}"#);
    assert_eq!(finding(&lines(&[&sticky, &success()])), ReasonCode::AuthenticationRequired);
}

#[test]
fn a_limit_says_when_to_come_back() {
    let message = r#""stopReason":"error","timestamp":1796031239890,"errorMessage":"429: {\"message\":\"Please try again in 2s.\"}""#;
    let stdout = stream(&lines(&[&ending(&assistant("", message), false)]));
    let (judgement, _) = Left::stdout(&stdout).judge("pi:json");
    let Finding::ProviderError { code, message, retry_at } = judgement.finding else { panic!() };
    assert_eq!((code, message.as_deref()), (ReasonCode::RateLimited, Some("429: Please try again in 2s.")));
    assert_eq!(retry_at.map(|time| time.to_string()).as_deref(), Some("2026-11-30T09:34:01.890000000Z"));
}

#[test]
fn tool_turns_come_before_the_answer() {
    let call = assistant("", r#""stopReason":"toolUse""#);
    let result = r#"{"role":"toolResult","toolCallId":"c","content":[],"isError":true}"#;
    let tool: Vec<String> = [
        TURN.to_owned(),
        MESSAGE.to_owned(),
        r#"{"type":"message_update","assistantMessageEvent":{"type":"toolcall_start"},"usage":{"input":1}}"#
            .to_owned(),
        format!(r#"{{"type":"message_end","message":{call}}}"#),
        r#"{"type":"tool_execution_start","toolCallId":"c","toolName":"read","args":{}}"#.to_owned(),
        format!(r#"{{"type":"message_start","message":{result}}}"#),
        format!(r#"{{"type":"message_end","message":{result}}}"#),
        format!(r#"{{"type":"turn_end","message":{call},"toolResults":[{result}]}}"#),
    ]
    .to_vec();
    assert_eq!(finding(&lines(&[&tool, &success()])), ReasonCode::Completed);
    assert_eq!(finding(&lines(&[&tool])), ReasonCode::IncompleteOutput);
    assert_eq!(finding(&lines(&[&tool[..5]])), ReasonCode::IncompleteOutput);
}

#[test]
fn what_breaks_the_grammar() {
    let whole = lines(&[&success(), &owned(SETTLED)]);
    for missing in [0, 1, 2, 3, 4, 5, 6] {
        let mut lines = whole.clone();
        lines.remove(missing);
        assert_eq!(finding(&lines), ReasonCode::InvalidOutput, "without line {missing}");
    }
    for doubled in 0..whole.len() {
        let mut lines = whole.clone();
        lines.insert(doubled, whole[doubled].clone());
        assert_eq!(finding(&lines), ReasonCode::InvalidOutput, "line {doubled} twice");
    }
    let differing = whole.iter().map(|line| match line.contains("turn_end") {
        true => line.replace("The answer.", "Another."),
        false => line.clone(),
    });
    assert_eq!(finding(&differing.collect::<Vec<_>>()), ReasonCode::InvalidOutput);
    for unknown in [r#"{"type":"session_moved"}"#, r#"{"type":"agent_paused"}"#, r#"{"type":"turn_skipped"}"#]
    {
        assert_eq!(
            finding(&[whole.clone(), owned(unknown)].concat()),
            ReasonCode::InvalidOutput,
            "{unknown}"
        );
    }
    for telemetry in
        [r#"{"type":"entry_appended","entry":{}}"#, r#"{"type":"auto_retry_end","success":true}"#]
    {
        assert_eq!(
            finding(&[whole.clone(), owned(telemetry)].concat()),
            ReasonCode::Completed,
            "{telemetry}"
        );
    }
    for session in [
        r#"{"type":"session","id":"latest"}"#,
        r#"{"type":"session","id":"01a22bc4-35fe-76d2-9b19-eb939069cedd","version":0}"#,
    ] {
        let mut lines = whole.clone();
        session.clone_into(&mut lines[0]);
        assert_eq!(finding(&lines), ReasonCode::InvalidOutput, "{session}");
    }
}

#[test]
fn prefixes_of_a_success_are_incomplete() {
    let whole = lines(&[&success()]);
    for length in 0..whole.len() {
        assert_eq!(finding(&whole[..length]), ReasonCode::IncompleteOutput, "{length} lines");
    }
    let stdout = stream(&whole);
    for length in 0..stdout.len() - 1 {
        assert_eq!(
            Left::stdout(&stdout[..length]).code("pi:json"),
            ReasonCode::IncompleteOutput,
            "{length} bytes"
        );
    }
}

#[test]
fn conversation_and_model_must_be_those_asked_for() {
    let stdout = stream(&lines(&[&ending(
        &assistant("a", r#""stopReason":"stop","responseModel":"other-1""#),
        false,
    )]));
    let left = Left::stdout(&stdout);
    assert_eq!(left.code("pi:json"), ReasonCode::Completed);
    assert_eq!(
        Left { requested_model: Some("m"), ..left.clone() }.code("pi:json"),
        ReasonCode::ModelMismatch
    );
    assert_eq!(
        Left { requested_model: Some("p/other-1:high"), ..left.clone() }.code("pi:json"),
        ReasonCode::Completed
    );
    let other = Some("01a22bc4-35fe-76d2-9b19-000000000000");
    assert_eq!(Left { expected_session: other, ..left }.code("pi:json"), ReasonCode::IdentityMismatch);
}

#[test]
fn usage_is_bounded_and_never_partial() {
    let one = assistant("", r#""stopReason":"toolUse""#);
    let turn = [
        TURN.to_owned(),
        MESSAGE.to_owned(),
        format!(r#"{{"type":"message_end","message":{one}}}"#),
        format!(r#"{{"type":"turn_end","message":{one},"toolResults":[]}}"#),
    ];
    let turns = |count: usize| {
        let stdout = stream(&lines(&[&vec![turn.clone(); count].concat(), &success()]));
        let (judgement, _) = Left::stdout(&stdout).judge("pi:json");
        assert_eq!(judgement.finding, Finding::Success);
        judgement.usage.len()
    };
    assert_eq!((turns(1023), turns(1024)), (1024, 0));
}
