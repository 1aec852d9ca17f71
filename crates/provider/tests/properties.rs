//! Any bytes get a judgement, and how they are cut makes no difference.

mod common;

use common::Left;
use proptest::prelude::*;
use provider::{Summary, catalogue};

/// The ids of all profiles.
fn profiles() -> Vec<String> {
    catalogue().all().iter().map(|profile| profile.description().id.to_string()).collect()
}

/// Lines that are near enough to real ones to get deep into each grammar.
const LINES: &[&str] = &[
    r#"{"type":"thread.started","thread_id":"01a22bc4-35fe-76d2-9b19-eb939069cedd"}"#,
    r#"{"type":"turn.started"}"#,
    r#"{"type":"item.started","item":{"id":"a","type":"command_execution","command":"/bin/sh -c 'x'"}}"#,
    r#"{"type":"item.completed","item":{"id":"a","type":"command_execution","aggregated_output":"\ud83d\ude00","status":"completed"}}"#,
    r#"{"type":"item.completed","item":{"id":"b","type":"agent_message","text":"Answer é\u2028"}}"#,
    r#"{"type":"turn.completed","usage":{"input_tokens":1,"output_tokens":-1}}"#,
    r#"{"type":"turn.failed","error":{"message":"unexpected status 429 x"}}"#,
    r#"{"type":"error","message":"Reconnecting... 1/5"}"#,
    r#"{"type":"session","id":"01a22bc4-35fe-76d2-9b19-eb939069cedd"}"#,
    r#"{"type":"agent_start"}"#,
    r#"{"type":"turn_start"}"#,
    r#"{"type":"message_start","message":{"role":"assistant"}}"#,
    r#"{"type":"message_update","assistantMessageEvent":{"type":"text_delta","delta":"x"},"usage":{"totalTokens":3}}"#,
    r#"{"type":"message_end","message":{"role":"assistant","content":"A","stopReason":"stop"}}"#,
    r#"{"type":"turn_end","message":{"role":"assistant","content":"A","stopReason":"stop"},"toolResults":[]}"#,
    r#"{"type":"agent_end","messages":[{"role":"assistant","content":"A","stopReason":"stop"}]}"#,
    r#"{"type":"tool_execution_start","toolCallId":"c","toolName":"bash","args":{"command":"ls"}}"#,
    r#"{"type":"auto_retry_start","attempt":1}"#,
    r#"{"type":"agent_settled"}"#,
    r#"{"type":"session","id":"s"}"#,
    r#"{"type":"progress","text":"x"}"#,
    r#"{"type":"answer","text":"y"}"#,
    r#"{"type":"result","status":"ok"}"#,
    r#"{"type":"system","subtype":"init","session_id":"01a22bc4-35fe-76d2-9b19-eb939069cedd","model":"m"}"#,
    r#"{"type":"system","subtype":"api_retry","attempt":1,"max_retries":2,"error_status":429,"error":"rate_limit"}"#,
    r#"{"type":"system","subtype":"task_started","task_id":"b","tool_use_id":"t"}"#,
    r#"{"type":"system","subtype":"task_notification","task_id":"b"}"#,
    r#"{"type":"assistant","message":{"model":"m","content":[{"type":"tool_use","id":"t","name":"Bash","input":{"command":"ls"}}]}}"#,
    r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"x"}]}}"#,
    r#"{"is_error":false,"result":"A","stop_reason":"end_turn","subtype":"success","type":"result","usage":{"input_tokens":1}}"#,
    r#"{"is_error":true,"result":"Not logged in","subtype":"success","type":"result","api_error_status":401}"#,
    r#"{"type":"step_start","sessionID":"ses_a","part":{"type":"step-start"}}"#,
    r#"{"type":"text","sessionID":"ses_a","part":{"text":"A\u00e9"}}"#,
    r#"{"type":"text","sessionID":"ses_a","part":{"text":"Go on.","synthetic":true}}"#,
    r#"{"type":"tool_use","sessionID":"ses_a","part":{"tool":"bash","state":{"status":"error","input":{"command":"ls"}}}}"#,
    r#"{"type":"step_finish","sessionID":"ses_a","part":{"reason":"stop","tokens":{"total":1},"cost":0.1}}"#,
    r#"{"type":"error","sessionID":"ses_a","timestamp":1,"error":{"name":"APIError","data":{"statusCode":429,"responseHeaders":{"retry-after":"1"}}}}"#,
    r#"{"status":"SUCCESS","conversation_id":"01a22bc4-35fe-76d2-9b19-eb939069cedd","response":"A","usage":{"total_tokens":1}}"#,
    r#"{"status":"ERROR","conversation_id":"","response":"","error":"no","duration_seconds":0.5}"#,
    "chatter",
    "",
    "\u{2028}{\"type\"",
];

fn streams() -> impl Strategy<Value = Vec<u8>> {
    let near = prop::collection::vec(
        (prop::sample::select(LINES), prop::option::weighted(0.1, any::<(usize, u8)>())),
        0..24,
    );
    let near = near.prop_map(|lines| {
        let mut stream = Vec::new();
        for (line, damage) in lines {
            let start = stream.len();
            stream.extend_from_slice(line.as_bytes());
            stream.push(b'\n');
            if let Some((place, byte)) = damage {
                let length = stream.len() - start;
                stream[start + place % length] = byte;
            }
        }
        stream
    });
    prop_oneof![3 => near, 1 => prop::collection::vec(any::<u8>(), 0..512)]
}

fn summary(profile: &str, pieces: &[&[u8]]) -> Summary {
    let mut summariser = catalogue().get(&profile.parse().unwrap()).unwrap().summariser();
    for piece in pieces {
        summariser.feed(piece);
    }
    summariser.summary()
}

proptest! {
    #[test]
    fn pieces_change_nothing(stdout in streams(), stderr in prop::collection::vec(any::<u8>(), 0..64), most in 1_usize..40, cut in any::<prop::sample::Index>()) {
        let place = cut.index(stdout.len() + 1);
        for profile in &profiles() {
            let left = Left { stdout: &stdout, stderr: &stderr, ..Left::default() };
            prop_assert_eq!(left.judge(profile), left.judge_in_pieces(profile, most));
            let whole = summary(profile, &[&stdout]);
            prop_assert_eq!(&whole, &summary(profile, &[&stdout[..place], &stdout[place..]]));
            prop_assert_eq!(&whole, &summary(profile, &stdout.chunks(most).collect::<Vec<_>>()));
        }
    }

    #[test]
    fn what_is_shown_is_short_and_plain(stdout in streams()) {
        for profile in &profiles() {
            let summary = summary(profile, &[&stdout]);
            let texts = summary.last_event.into_iter().flat_map(|(kind, words)| [kind, words]).chain(summary.tool).chain(summary.session);
            for text in texts {
                prop_assert!(text.chars().count() <= 80 && !text.chars().any(char::is_control), "{text:?}");
            }
        }
    }
}
