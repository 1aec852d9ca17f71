//! The formats as a person sees them.

use record::Sha256Digest;
use record::answer::{RawFile, SupervisorView};
use record::words::SupervisorKind;

use super::super::sample;
use super::*;

const ID: &str = "abababababababababababababababab";
const EMPTY: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

/// What stands there without colour.
fn plain(text: String) -> String {
    anstream::adapter::strip_str(&text).to_string()
}

fn now() -> Timestamp {
    "2026-01-02T03:07:10.000000000Z".parse().unwrap()
}

fn place() -> Place {
    Place::new("/state".parse().unwrap(), "delegate".to_owned(), None, now())
}

fn subject() -> Subject {
    Subject {
        provider: "codex:exec".parse().unwrap(),
        workspace: "/work/project".parse().unwrap(),
        permission: record::words::Permission::ReadOnly,
        budget: record::Span::from_seconds(1800),
        admitted_at: "2026-01-02T03:04:05.000000007Z".parse().unwrap(),
    }
}

#[test]
fn a_queued_task() {
    assert_eq!(
        plain(status(&sample::queued(), Some(&subject()), &place())),
        format!(
            "\
task        {ID}
work        codex:exec in /work/project, read-only, budget 30m00s
admitted    2026-01-02 03:04:05 UTC (3m05s ago)
state       queued
evidence    /state/tasks/{ID}
next        delegate wait {ID}
"
        )
    );
}

#[test]
fn a_job_of_a_cluster_says_where_it_is_and_why_it_waits() {
    let mut answer = sample::queued();
    let view = |node: Option<&str>, reason: Option<&str>| SupervisorView {
        kind: SupervisorKind::Slurm,
        state: SupervisorState::Queued,
        matched: Some(true),
        numeric_task_id: Some(17),
        job: Some("delegate:x".to_owned()),
        node: node.map(str::to_owned),
        reason: reason.map(str::to_owned),
    };
    answer.supervisor = Some(view(None, Some("PartitionTimeLimit")));
    assert!(status(&answer, None, &place()).contains("job         17 of slurm, PartitionTimeLimit\n"));
    answer.supervisor = Some(view(Some("node1"), None));
    assert!(status(&answer, None, &place()).contains("job         17 of slurm, on node1\n"));
}

#[test]
fn a_queued_task_without_a_supervisor() {
    let mut answer = sample::queued();
    answer.next_action = Some(NextAction::DispatchAgain);
    answer.supervisor = Some(SupervisorView {
        kind: SupervisorKind::Embedded,
        state: SupervisorState::GaveUp,
        matched: None,
        numeric_task_id: None,
        job: None,
        node: None,
        reason: None,
    });
    let text = plain(status(&answer, None, &place()));
    assert!(text.contains("state       queued; the supervisor gave up on it\n"));
    assert!(text.contains("next        dispatch it again with the same id"));
}

#[test]
fn a_running_task() {
    assert_eq!(
        plain(status(&sample::running(), None, &place())),
        format!(
            "\
task        {ID}
state       running
budget      42s used, 29m18s left
activity    tool-running, running tool: \\u{{1b}}ls (2.0s ago), 4.1 KiB out, silent 2.0s, 1 child process
evidence    /state/tasks/{ID}
next        delegate wait {ID}
"
        )
    );
}

#[test]
fn a_task_that_was_asked_to_end() {
    let mut answer = sample::running();
    answer.stops = Some(vec![record::answer::StopView {
        request_id: record::id::Nonce::from_random([2; 16]),
        cause: record::launch::StopRequestCause::User,
        requested: true,
        terminated: false,
    }]);
    assert_eq!(state(&answer), "running, asked to end");
    answer.outcome = sample::committed().outcome;
    answer.publication = Publication::Committed;
    assert_eq!(state(&answer), "committed");
}

#[test]
fn a_committed_task() {
    assert_eq!(
        plain(status(&sample::committed(), None, &place())),
        format!(
            "\
task        {ID}
state       committed
answer      /state/tasks/{ID}/result.txt
            3.1 KiB, sha256 {EMPTY}
evidence    /state/tasks/{ID}
"
        )
    );
    assert_eq!(
        plain(collected(&sample::committed(), None, &place())),
        format!(
            "\
task        {ID}
state       committed
answer      /state/tasks/{ID}/result.txt
length      3174 bytes
sha256      {EMPTY}
"
        )
    );
}

#[test]
fn a_rejected_task() {
    assert_eq!(
        plain(collected(&sample::cancelled(), None, &place())),
        format!(
            "\
task        {ID}
state       rejected: cancelled
refusal     /state/tasks/{ID}/refusal.txt
length      3174 bytes
sha256      {EMPTY}
reason      the lead\\nstopped it
stopped by  user
launched    no
"
        )
    );
}

#[test]
fn a_dispatched_task() {
    let place = Place::new("/state".parse().unwrap(), "delegate".to_owned(), Some("/my state"), now());
    assert_eq!(
        plain(dispatched(&sample::queued(), &place)),
        format!(
            "\
task        {ID}
state       queued
wait        delegate --root '/my state' wait {ID}
look        delegate --root '/my state' status {ID}
stop        delegate --root '/my state' cancel {ID}
"
        )
    );
}

#[test]
fn many_tasks() {
    assert_eq!(
        plain(waited(&[sample::running(), sample::committed(), sample::cancelled()], &place())),
        format!(
            "\
{ID}  running
{ID}  committed  /state/tasks/{ID}/result.txt
{ID}  rejected: cancelled  /state/tasks/{ID}/refusal.txt
"
        )
    );
}

#[test]
fn raw_files_with_their_tails() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("stdout");
    std::fs::write(&path, "one\n\u{7}two\n").unwrap();
    let path = path.to_str().unwrap().to_owned();
    let mut answer = sample::committed();
    answer.raw = Some(vec![
        RawFile {
            path: "/state/stderr".to_owned(),
            available: false,
            sealed: false,
            size: None,
            sha256: None,
        },
        RawFile {
            path: path.clone(),
            available: true,
            sealed: true,
            size: Some(9),
            sha256: Some(Sha256Digest::of(b"")),
        },
    ]);
    assert_eq!(
        logs(&answer),
        format!(
            "\
/state/stderr: not there

{path}: 9 B, sealed, sha256 {EMPTY}
    one
    \\u{{7}}two
"
        )
    );
    assert_eq!(logs(&sample::queued()), "There is no raw output yet.\n");
}

#[test]
fn usage_says_only_what_is_known() {
    use record::usage::{UsageReliability, UsageScope, UsageSource};
    let mut usage = Usage::new(UsageScope::Task, UsageSource::ProviderEvent, UsageReliability::Reported);
    assert_eq!(used(&usage), None);
    usage.input_tokens = Some(1200);
    usage.output_tokens = Some(34);
    usage.estimated_cost_usd = Some("0.05".to_owned());
    assert_eq!(used(&usage).as_deref(), Some("1200 tokens in, 34 tokens out, about 0.05 USD (task)"));
}

#[test]
fn who_can_ask_for_something_else_is_not_told_to_stop() {
    use crate::exit::{Exit, of_failure};
    use record::failure::Stage;
    // No record of another task is met on the way of a request.
    let met = |code: &&FailureCode| **code != FailureCode::TaskIdentityMismatch;
    for code in FailureCode::ALL.iter().filter(met).filter(|code| of_failure(**code) == Exit::Invalid) {
        let answer = turn::TurnError::new(*code, Stage::Dispatch, "").into_answer(Answer::new("dispatch"));
        let hint = hint(&answer, answer.failure.unwrap());
        assert_ne!(hint, advice(NextAction::StopAndReport), "{code}");
    }
}

#[test]
fn what_can_be_broken_fits_a_terminal() {
    use record::usage::{UsageReliability, UsageScope, UsageSource};
    let mut usage = Usage::new(UsageScope::Task, UsageSource::ProviderEvent, UsageReliability::Reported);
    usage.input_tokens = Some(123_456);
    usage.output_tokens = Some(34_567);
    usage.thinking_tokens = Some(12_345);
    usage.cache_read_tokens = Some(987_654);
    usage.estimated_cost_usd = Some("0.12345".to_owned());
    let mut answer = sample::committed();
    answer.outcome.as_mut().unwrap().usage = vec![usage];
    for text in [
        status(&answer, Some(&subject()), &place()),
        status(&sample::running(), Some(&subject()), &place()),
        collected(&answer, Some(&subject()), &place()),
        dispatched(&sample::queued(), &place()),
    ] {
        for line in crate::human::wrap::block(&plain(text), Some(80)).lines() {
            let is_one_word = line.get(12..).is_none_or(|value| !value.contains(' '));
            assert!(line.chars().count() <= 80 || is_one_word, "{line}");
        }
    }
}
