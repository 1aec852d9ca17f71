//! Answers to try the formats on.

use record::activity::{Activity, Diagnosis, LastEvent};
use record::answer::Answer;
use record::outcome::{Outcome, Payload, Reason};
use record::plan::Predicate;
use record::words::{Admission, Launched, Liveness, Permission, Publication, ReasonCode, StopCause, Verdict};
use record::{RootId, Sha256Digest, TaskId};

/// The task of all samples.
pub(crate) fn id() -> TaskId {
    TaskId::from_random([0xab; 16])
}

/// A task that waits for a slot.
pub(crate) fn queued() -> Answer {
    Answer {
        task_id: Some(id()),
        admission: Admission::Admitted,
        liveness: Liveness::Queued,
        publication: Publication::None,
        ..Answer::new("status")
    }
}

/// A task in the middle of its turn.
pub(crate) fn running() -> Answer {
    Answer {
        liveness: Liveness::Running,
        activity: Some(Activity {
            elapsed_seconds: 42.0,
            budget_remaining_seconds: 1758.0,
            last_event: Some(LastEvent {
                kind: "tool".to_owned(),
                summary: "running tool: \u{1b}ls".to_owned(),
                age_seconds: 2.0,
            }),
            stdout_bytes: 4200,
            stderr_bytes: 0,
            idle_seconds: 2.0,
            descendants: Some(1),
            cpu_seconds: None,
            diagnosis: Diagnosis::ToolRunning,
        }),
        ..queued()
    }
}

/// A task that ended well.
pub(crate) fn committed() -> Answer {
    ended(Verdict::Committed, ReasonCode::Completed, "result.txt")
}

/// A task that its lead stopped before it was launched.
pub(crate) fn cancelled() -> Answer {
    let mut answer = ended(Verdict::Rejected, ReasonCode::Cancelled, "refusal.txt");
    if let Some(outcome) = &mut answer.outcome {
        outcome.stop = StopCause::User;
        outcome.launched = Launched::No;
        outcome.reason.message = Some("the lead\nstopped it".to_owned());
    }
    answer
}

fn ended(verdict: Verdict, code: ReasonCode, basename: &str) -> Answer {
    let digest = Sha256Digest::of(b"");
    let payload = Payload { basename: basename.to_owned(), length: 3174, sha256: digest };
    let outcome = Outcome {
        schema_version: 1,
        root_id: RootId::from_random([1; 16]),
        task_id: id(),
        request_sha256: digest,
        plan_sha256: digest,
        verdict,
        reason: Reason { code, message: None, retry_at: None },
        launched: Launched::Yes,
        stop: StopCause::None,
        evidence_sha256: digest,
        predicate: Predicate {
            profile: "offline:survey".parse().expect("a profile id"),
            mode: Permission::ReadOnly,
            revision: 1,
            sha256: digest,
        },
        payload: payload.clone(),
        artifacts: Vec::new(),
        session: None,
        usage: Vec::new(),
        recovered: false,
        containment: None,
        fence: None,
        leaked_processes: Some(0),
        git_control_changed: None,
        notes: Vec::new(),
    };
    Answer {
        liveness: Liveness::Ended,
        publication: match verdict {
            Verdict::Committed => Publication::Committed,
            Verdict::Rejected => Publication::Rejected,
        },
        outcome: Some(Box::new(outcome)),
        payload: Some(payload),
        ..queued()
    }
}
