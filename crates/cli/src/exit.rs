//! The exit codes, all of them (CLI.md "Exit codes", predecessor-core 1.3).

use std::process::ExitCode;

use record::answer::Answer;
use record::failure::FailureCode;
use record::words::Publication;

/// How a program of this crate ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// Done.
    Done = 0,
    /// An operational, storage or supervisor fault; also a write error on standard output.
    Operational = 1,
    /// The request is invalid, or asks for what is not supported.
    Invalid = 2,
    /// The watch ended and the task is not terminal.
    NotTerminal = 3,
    /// A valid outcome that is a rejection.
    Rejected = 4,
    /// `delegate-run` only: somebody else acts on the task, try later.
    TryLater = 75,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// The exit of a failure. What the caller can correct is 2, everything else 1.
pub(crate) const fn of_failure(code: FailureCode) -> Exit {
    match code {
        FailureCode::InvalidRequest
        | FailureCode::UsageError
        | FailureCode::BriefInvalid
        | FailureCode::WorkspaceInvalid
        | FailureCode::RootInvalid
        | FailureCode::UnsupportedRoot
        | FailureCode::UnsupportedOption
        | FailureCode::TaskRequestConflict
        | FailureCode::TaskIdentityMismatch
        | FailureCode::ProviderUnavailable
        | FailureCode::ProviderPreflightFailed
        | FailureCode::SupervisorMismatch
        | FailureCode::ContinuationUnavailable
        | FailureCode::UnsupportedContinuation
        | FailureCode::FenceUnavailable
        | FailureCode::LimitUnavailable
        | FailureCode::CursorExpired => Exit::Invalid,
        FailureCode::StateRootUnavailable
        | FailureCode::ProviderPreparationFailed
        | FailureCode::SupervisorSetupFailed
        | FailureCode::TaskSubmissionUncertain
        | FailureCode::TaskSubmissionPreparationFailed
        | FailureCode::DelegateInstallationIncomplete
        | FailureCode::SessionBusy
        | FailureCode::StorageUncertain
        | FailureCode::StorageFull
        | FailureCode::TaskNotFound
        | FailureCode::EvidenceDamaged
        | FailureCode::ContentPruned
        | FailureCode::TaskOperationFailed
        | FailureCode::DispatchFailed => Exit::Operational,
    }
}

/// The exit of a command that only looks or asks: a rejected outcome is nothing bad here.
pub(crate) fn of_look(answer: &Answer) -> Exit {
    answer.failure.map_or(Exit::Done, |failure| of_failure(failure.code))
}

/// The exit of a command that waited for one task.
pub(crate) fn of_watch(answer: &Answer) -> Exit {
    match (answer.failure, answer.publication) {
        (Some(failure), _) => of_failure(failure.code),
        (None, Publication::Committed) => Exit::Done,
        (None, Publication::Rejected) => Exit::Rejected,
        (None, Publication::None | Publication::Pending | Publication::Unknown) => Exit::NotTerminal,
    }
}

/// The exit of `wait --all`: a fault first, then a task that is not terminal, then a rejection.
pub(crate) fn of_all(answers: &[Answer]) -> Exit {
    let exits: Vec<Exit> = answers.iter().map(of_watch).collect();
    [Exit::Operational, Exit::Invalid, Exit::NotTerminal, Exit::Rejected]
        .into_iter()
        .find(|exit| exits.contains(exit))
        .unwrap_or(Exit::Done)
}

/// The exit of `wait --any`: that of the first terminal task; when there is none, that of `wait --all`.
pub(crate) fn of_any(answers: &[Answer]) -> Exit {
    answers
        .iter()
        .map(of_watch)
        .find(|exit| matches!(exit, Exit::Done | Exit::Rejected))
        .unwrap_or_else(|| of_all(answers))
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::failure::{Failure, NextAction, Stage};

    fn answer(publication: Publication) -> Answer {
        Answer { publication, ..Answer::new("wait") }
    }

    fn failed(code: FailureCode) -> Answer {
        let failure = Failure { code, stage: Stage::ObserveTask, next_action: NextAction::StopAndReport };
        // A failure beside a verdict wins over the verdict.
        answer(Publication::Committed).failed(failure, "…")
    }

    #[test]
    fn every_failure_is_one_or_two() {
        let invalid: Vec<&str> = FailureCode::ALL
            .iter()
            .filter(|code| of_failure(**code) == Exit::Invalid)
            .map(|code| code.as_str())
            .collect();
        assert_eq!(
            invalid,
            [
                "invalid_request",
                "usage_error",
                "brief_invalid",
                "workspace_invalid",
                "root_invalid",
                "unsupported_root",
                "unsupported_option",
                "task_request_conflict",
                "task_identity_mismatch",
                "provider_unavailable",
                "provider_preflight_failed",
                "supervisor_mismatch",
                "continuation_unavailable",
                "unsupported_continuation",
                "fence_unavailable",
                "limit_unavailable",
                "cursor_expired",
            ]
        );
        for code in FailureCode::ALL {
            assert!(matches!(of_failure(*code), Exit::Invalid | Exit::Operational));
        }
    }

    #[test]
    fn one_task() {
        for (publication, look, watch) in [
            (Publication::None, 0, 3),
            (Publication::Pending, 0, 3),
            (Publication::Unknown, 0, 3),
            (Publication::Committed, 0, 0),
            (Publication::Rejected, 0, 4),
        ] {
            assert_eq!(of_look(&answer(publication)) as u8, look, "{publication}");
            assert_eq!(of_watch(&answer(publication)) as u8, watch, "{publication}");
        }
        assert_eq!(of_watch(&failed(FailureCode::TaskNotFound)) as u8, 1);
        assert_eq!(of_look(&failed(FailureCode::UnsupportedRoot)) as u8, 2);
    }

    #[test]
    fn many_tasks() {
        use Publication::{Committed, None, Rejected};
        for (publications, all, any) in [
            (vec![Committed, Committed], 0, 0),
            (vec![Committed, Rejected], 4, 0),
            (vec![Rejected, Committed], 4, 4),
            (vec![None, Rejected], 3, 4),
            (vec![None, Committed], 3, 0),
            (vec![None, None], 3, 3),
        ] {
            let answers: Vec<Answer> = publications.iter().copied().map(answer).collect();
            assert_eq!(of_all(&answers) as u8, all, "{publications:?}");
            assert_eq!(of_any(&answers) as u8, any, "{publications:?}");
        }
        let with_faults =
            [answer(None), failed(FailureCode::InvalidRequest), failed(FailureCode::TaskNotFound)];
        assert_eq!(of_all(&with_faults) as u8, 1);
        assert_eq!(of_all(&with_faults[..2]) as u8, 2);
        assert_eq!(of_any(&with_faults) as u8, 1);
        assert_eq!(of_any(&[failed(FailureCode::TaskNotFound), answer(Committed)]) as u8, 0);
    }
}
