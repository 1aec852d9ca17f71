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

/// The case, and what codex and pi make of it.
const EXPECTED: &[(&str, ReasonCode, ReasonCode)] = &[
    ("auth", AuthenticationRequired, AuthenticationRequired),
    ("badtool", Completed, Completed),
    ("context", ProviderFailed, ProviderFailed),
    ("ctrl", Completed, Completed),
    ("empty", EmptyOutput, EmptyOutput),
    ("failed", ProviderFailed, ProviderFailed),
    ("flaky", Completed, Completed),
    ("flaky-stream", Completed, Completed),
    ("forbidden", ProviderFailed, ProviderFailed),
    ("hang-term", IncompleteOutput, IncompleteOutput),
    ("length", IncompleteOutput, IncompleteOutput),
    ("malformed", ProviderFailed, ProviderFailed),
    ("model-not-found", ProviderFailed, ProviderFailed),
    ("multi-line", Completed, Completed),
    ("other-model", Completed, Completed),
    ("overloaded", ProviderFailed, ProviderFailed),
    ("quota", QuotaExhausted, QuotaExhausted),
    ("rate-limit", RateLimited, RateLimited),
    ("read-readonly", Completed, Completed),
    ("reasoning", Completed, Completed),
    ("refusal", Refusal, Refusal),
    ("reset", ProviderFailed, ProviderFailed),
    ("resume", Completed, Completed),
    ("resume-unknown", IncompleteOutput, IncompleteOutput),
    ("server-error", ProviderFailed, ProviderFailed),
    ("shell-allowed", Completed, Completed),
    ("shell-failed", Completed, Completed),
    ("shell-readonly", Completed, Completed),
    ("slow", Completed, Completed),
    ("success", Completed, Completed),
    ("success-write-mode", Completed, Completed),
    ("tool-loop", Completed, Completed),
    ("truncated", ProviderFailed, ProviderFailed),
    ("write-allowed", Completed, Completed),
    ("write-outside", Completed, Completed),
    ("write-readonly", Completed, Completed),
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

fn every_case(cli: &str, profile: &str, expected: impl Fn(&(&str, ReasonCode, ReasonCode)) -> ReasonCode) {
    let recorded_cases: BTreeSet<String> = fs::read_dir(directory(cli))
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().to_str()?.split('.').next().map(str::to_owned))
        .collect();
    let expected_cases: BTreeSet<String> = EXPECTED.iter().map(|row| row.0.to_owned()).collect();
    assert_eq!(recorded_cases, expected_cases, "{cli}: every recorded case has a row, every row a case");
    for row in EXPECTED {
        let case = row.0;
        let recorded = recorded(cli, case);
        let (judgement, answer) = recorded.left().judge(profile);
        assert_eq!(code(&judgement.finding), expected(row), "{cli} {case}: {:?}", judgement.finding);
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
    every_case("codex-0.171.0", "codex:exec", |row| row.1);
}

#[test]
fn pi_cases() {
    every_case("pi-1.6.0", "pi:json", |row| row.2);
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
fn pi_tells_another_model_when_one_was_asked_for() {
    let recorded = recorded("pi-1.6.0", "other-model");
    let asked = Left { requested_model: Some("scripted-model"), ..recorded.left() };
    assert_eq!(asked.code("pi:json"), ModelMismatch);
    let asked = Left { requested_model: Some("another-model-1"), ..recorded.left() };
    assert_eq!(asked.code("pi:json"), Completed);
}

#[test]
fn an_unknown_conversation_is_told_in_the_clis_words() {
    for (cli, profile) in [("codex-0.171.0", "codex:exec"), ("pi-1.6.0", "pi:json")] {
        let (judgement, _) = recorded(cli, "resume-unknown").left().judge(profile);
        let Finding::Defect { message, .. } = judgement.finding else { panic!("{cli}") };
        assert!(message.contains("found"), "{cli}: {message}");
    }
}
