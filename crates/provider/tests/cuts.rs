//! A stream that stops early is never an answer: every stream is cut after every line and within it.

mod common;

use std::fs;
use std::path::Path;

use common::{Left, code};
use provider::Finding;
use record::words::ReasonCode::{self, Completed, IncompleteOutput, InvalidOutput};
use serde_json::Value;

/// The fixtures of each recorded CLI.
const RECORDED: [(&str, &str); 4] = [
    ("codex-0.171.0", "codex:exec"),
    ("pi-1.6.0", "pi:json"),
    ("claude-2.1.332", "claude:print"),
    ("opencode-1.18.33", "opencode:run"),
];
const WORKER: &str = concat!(
    "{\"type\":\"session\",\"id\":\"s\"}\n{\"type\":\"progress\",\"text\":\"at work\"}\n{\"type\":\"answer\",\"text\":\"é }\\n\"}\n",
    "{\"type\":\"result\",\"status\":\"ok\"}\n"
);
const ANTIGRAVITY: &str = concat!(
    "{\"conversation_id\":\"01a22bc4-35fe-76d2-9b19-eb939069cedd\",\"status\":\"SUCCESS\",\"response\":\"é }\\n\",\n",
    "\"duration_seconds\":12.5,\"num_turns\":3,\"usage\":{\"input_tokens\":5}}\n"
);

/// Whether an event is the one with which a good turn ends.
fn ends(profile: &str, event: &Value) -> bool {
    match (profile, event["type"].as_str().unwrap_or_default()) {
        ("codex:exec", "turn.completed") | ("pi:json", "agent_end") => true,
        ("claude:print" | "offline:survey", "result") => true,
        ("opencode:run", "step_finish") => event["part"]["reason"] == "stop",
        ("antigravity:print", _) => event["status"] == "SUCCESS",
        _ => false,
    }
}

/// Whether the bytes hold such an event as a whole.
fn is_ended(profile: &str, stdout: &[u8]) -> bool {
    let whole = |text: &[u8]| serde_json::from_slice(text).is_ok_and(|event| ends(profile, &event));
    if profile == "antigravity:print" {
        whole(stdout)
    } else {
        stdout.split(|byte| *byte == b'\n').any(whole)
    }
}

/// Judges the beginning of a stream, and checks that it is committed only if its end is there.
fn cut(profile: &str, stdout: &[u8], end: usize) -> ReasonCode {
    let (judgement, _) = Left::stdout(&stdout[..end]).judge(profile);
    let is_committed = judgement.finding == Finding::Success;
    assert!(is_ended(profile, &stdout[..end]) || !is_committed, "{profile}, cut at byte {end}");
    code(&judgement.finding)
}

#[test]
fn recorded_streams() {
    for (cli, profile) in RECORDED {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(cli);
        let (mut cuts, mut whole) = (0, 0);
        for entry in fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.extension().is_none_or(|extension| extension != "stdout") {
                continue;
            }
            let stdout = fs::read(&entry).unwrap();
            let mut start = 0;
            for line in stdout.split_inclusive(|byte| *byte == b'\n') {
                for end in [start, start + 1, start + line.len() / 2, start + line.len() - 1] {
                    cut(profile, &stdout, end);
                    cuts += 1;
                }
                start += line.len();
            }
            whole += usize::from(cut(profile, &stdout, stdout.len()) == Completed);
        }
        assert!(cuts > 400 && whole > 10, "{cli}: {cuts} cuts, {whole} good turns");
    }
}

#[test]
fn made_streams_at_every_byte() {
    for (profile, stdout) in [("offline:survey", WORKER), ("antigravity:print", ANTIGRAVITY)] {
        let complete = stdout.trim_end().len();
        for end in 0..complete {
            let found = cut(profile, stdout.as_bytes(), end);
            assert!(
                matches!(found, IncompleteOutput | InvalidOutput),
                "{profile}, cut at byte {end}: {found:?}"
            );
        }
        for end in complete..=stdout.len() {
            assert_eq!(cut(profile, stdout.as_bytes(), end), Completed, "{profile}, cut at byte {end}");
        }
    }
}
