//! Every recorded stream of a real CLI gets the finding that it deserves.

mod common;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use common::{Left, code};
use provider::{Finding, Terminal, catalogue};
use record::outcome::Note;
use record::words::ReasonCode::{
    self, AuthenticationRequired, Completed, EmptyOutput, IncompleteOutput, ModelMismatch, ProviderFailed,
    QuotaExhausted, RateLimited, Refusal,
};

/// The CLIs, in the order of the columns of [`EXPECTED`].
const CLIS: [(&str, &str); 4] = [
    ("codex-0.171.0", "codex:exec"),
    ("pi-1.6.0", "pi:json"),
    ("claude-2.1.332", "claude:print"),
    ("opencode-1.18.33", "opencode:run"),
];
/// The case, and what each CLI makes of it.
const EXPECTED: &[(&str, [ReasonCode; CLIS.len()])] = &[
    (
        "auth",
        [AuthenticationRequired, AuthenticationRequired, AuthenticationRequired, AuthenticationRequired],
    ),
    ("badtool", [Completed, Completed, Completed, Completed]),
    ("context", [ProviderFailed, ProviderFailed, ProviderFailed, ProviderFailed]),
    ("ctrl", [Completed, Completed, Completed, Completed]),
    ("empty", [EmptyOutput, EmptyOutput, EmptyOutput, EmptyOutput]),
    ("failed", [ProviderFailed, ProviderFailed, ProviderFailed, ProviderFailed]),
    ("flaky", [Completed, Completed, Completed, Completed]),
    ("flaky-stream", [Completed, Completed, Completed, Completed]),
    ("forbidden", [ProviderFailed, ProviderFailed, ProviderFailed, ProviderFailed]),
    ("hang-term", [IncompleteOutput, IncompleteOutput, IncompleteOutput, IncompleteOutput]),
    ("length", [IncompleteOutput, IncompleteOutput, IncompleteOutput, IncompleteOutput]),
    ("malformed", [ProviderFailed, ProviderFailed, ProviderFailed, ProviderFailed]),
    ("model-not-found", [ProviderFailed, ProviderFailed, ProviderFailed, ProviderFailed]),
    ("multi-line", [Completed, Completed, Completed, Completed]),
    ("other-model", [Completed, Completed, Completed, Completed]),
    ("overloaded", [ProviderFailed, ProviderFailed, ProviderFailed, ProviderFailed]),
    ("quota", [QuotaExhausted, QuotaExhausted, QuotaExhausted, QuotaExhausted]),
    ("rate-limit", [RateLimited, RateLimited, RateLimited, RateLimited]),
    ("read-readonly", [Completed, Completed, Completed, Completed]),
    ("reasoning", [Completed, Completed, Completed, Completed]),
    ("refusal", [Refusal, Refusal, Refusal, Refusal]),
    ("reset", [ProviderFailed, ProviderFailed, ProviderFailed, ProviderFailed]),
    ("resume", [Completed, Completed, Completed, Completed]),
    ("resume-unknown", [IncompleteOutput, IncompleteOutput, ProviderFailed, IncompleteOutput]),
    ("server-error", [ProviderFailed, ProviderFailed, ProviderFailed, ProviderFailed]),
    ("shell-allowed", [Completed, Completed, Completed, Completed]),
    ("shell-failed", [Completed, Completed, Completed, Completed]),
    ("shell-readonly", [Completed, Completed, Completed, Completed]),
    ("slow", [Completed, Completed, Completed, Completed]),
    ("success", [Completed, Completed, Completed, Completed]),
    ("success-write-mode", [Completed, Completed, Completed, Completed]),
    ("tool-loop", [Completed, Completed, Completed, Completed]),
    ("truncated", [ProviderFailed, ProviderFailed, ProviderFailed, ProviderFailed]),
    ("write-allowed", [Completed, Completed, Completed, Completed]),
    ("write-outside", [Completed, Completed, Completed, Completed]),
    ("write-readonly", [Completed, Completed, Completed, Completed]),
];

struct Recorded {
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    last_message: Option<Vec<u8>>,
}

fn directory(cli: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(cli)
}

fn recorded(cli: &str, case: &str) -> Recorded {
    let file = |end: &str| fs::read(directory(cli).join(format!("{case}.{end}"))).ok();
    Recorded {
        stdout: file("stdout").unwrap_or_default(),
        stderr: file("stderr").unwrap_or_default(),
        last_message: file("last-message"),
    }
}

impl Recorded {
    fn left(&self) -> Left<'_> {
        Left {
            stdout: &self.stdout,
            stderr: &self.stderr,
            artifact: self.last_message.as_deref(),
            ..Left::default()
        }
    }
}

fn every_case(column: usize) {
    let (cli, profile) = CLIS[column];
    let recorded_cases: BTreeSet<String> = fs::read_dir(directory(cli))
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().to_str()?.split('.').next().map(str::to_owned))
        .collect();
    let expected_cases: BTreeSet<String> = EXPECTED.iter().map(|row| row.0.to_owned()).collect();
    assert_eq!(recorded_cases, expected_cases, "{cli}: every recorded case has a row, every row a case");
    for (case, expected) in EXPECTED {
        let recorded = recorded(cli, case);
        let (judgement, answer) = recorded.left().judge(profile);
        assert_eq!(code(&judgement.finding), expected[column], "{cli} {case}: {:?}", judgement.finding);
        assert_eq!(judgement.session.is_some(), !recorded.stdout.is_empty(), "{cli} {case}");
        if let Finding::ProviderError { message, .. } = &judgement.finding {
            assert!(message.as_ref().is_some_and(|message| !message.is_empty()), "{cli} {case}");
        }
        let (again, same) = recorded.left().judge_in_pieces(profile, 7);
        assert_eq!((again, same), (judgement.clone(), answer), "{cli} {case}: pieces change nothing");

        let mut summariser = catalogue().get(&profile.parse().unwrap()).unwrap().summariser();
        summariser.feed(&recorded.stdout);
        let summary = summariser.summary();
        let terminal = match &judgement.finding {
            Finding::ProviderError { .. } => Some(Terminal::Error),
            Finding::Defect { code: IncompleteOutput, .. } => None,
            _ => Some(Terminal::Success),
        };
        assert_eq!(summary.terminal, terminal, "{cli} {case}");
        assert_eq!(summary.session, judgement.session, "{cli} {case}");
        assert_eq!(summary.open_items, 0, "{cli} {case}");
    }
}

#[test]
fn codex_cases() {
    every_case(0);
}

#[test]
fn pi_cases() {
    every_case(1);
}

#[test]
fn claude_cases() {
    every_case(2);
}

#[test]
fn opencode_cases() {
    every_case(3);
}

#[test]
fn codex_denied_writes_are_noted() {
    for case in EXPECTED.iter().map(|row| row.0) {
        let (judgement, _) = recorded("codex-0.171.0", case).left().judge("codex:exec");
        let denied = judgement.notes.contains(&Note::ProviderDeniedWrite);
        assert_eq!(denied, matches!(case, "write-outside" | "write-readonly"), "{case}");
    }
}

#[test]
fn another_model_is_told_when_one_was_asked_for() {
    for (cli, profile) in [CLIS[1], CLIS[2]] {
        let recorded = recorded(cli, "other-model");
        let asked = Left { requested_model: Some("scripted-model"), ..recorded.left() };
        assert_eq!(asked.code(profile), ModelMismatch, "{cli}");
        let asked = Left { requested_model: Some("another-model-1"), ..recorded.left() };
        assert_eq!(asked.code(profile), Completed, "{cli}");
    }
}

#[test]
fn opencode_says_when_to_come_back() {
    let (judgement, _) = recorded("opencode-1.18.33", "rate-limit").left().judge("opencode:run");
    let Finding::ProviderError { retry_at, .. } = judgement.finding else { panic!("{judgement:?}") };
    // A second after the recorded time, which is the first millisecond of 1970.
    assert_eq!(retry_at.map(|time| time.to_string()).as_deref(), Some("1970-01-01T00:00:01.001000000Z"));
}

#[test]
fn an_unknown_conversation_is_told_in_the_clis_words() {
    for (cli, profile) in CLIS {
        let (judgement, _) = recorded(cli, "resume-unknown").left().judge(profile);
        let message = match judgement.finding {
            Finding::Defect { message, .. } | Finding::ProviderError { message: Some(message), .. } => {
                message
            }
            other => panic!("{cli}: {other:?}"),
        };
        assert!(message.contains("found"), "{cli}: {message}");
    }
}
