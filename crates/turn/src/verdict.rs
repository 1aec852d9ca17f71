//! The precedence of facts in a verdict (STATE.md 3.8): a complete success in the sealed bytes wins over whatever stopped
//! the process; then the stops of people and of limits; then the provider's own error; then the clocks; then defects.

use provider::Finding;
use record::outcome::Reason;
use record::seal::{InvocationState, Seal};
use record::words::{ReasonCode, StopCause, Verdict};

/// The verdict over a seal, what its judge found, and whether the evidence was what was sealed.
pub(crate) fn verdict(seal: &Seal, finding: Finding, is_intact: bool) -> (Verdict, Reason) {
    if !is_intact || seal.damaged {
        let message = seal.invocation.message.clone().filter(|_| seal.damaged);
        return (Verdict::Rejected, reason(ReasonCode::EvidenceDamaged, message));
    }
    if let (InvocationState::NotStarted, Finding::ProviderError { code, message, .. }) =
        (seal.invocation.state, &finding)
    {
        return (Verdict::Rejected, reason(*code, message.clone()));
    }
    if matches!(finding, Finding::Success) {
        return (Verdict::Committed, reason(ReasonCode::Completed, None));
    }
    if let Some(code) = stopped_by_decision(seal.stop) {
        return (Verdict::Rejected, reason(code, None));
    }
    let rejected = match (finding, stopped_by_clock(seal.stop)) {
        (Finding::ProviderError { code, message, retry_at }, _) => Reason { code, message, retry_at },
        (_, Some(code)) => reason(code, None),
        (Finding::Defect { .. }, None)
            if seal.invocation.state == InvocationState::Lost && said_nothing(seal) =>
        {
            reason(ReasonCode::RunnerLost, None)
        }
        (Finding::Defect { code: ReasonCode::IncompleteOutput, message }, None)
            if seal.invocation.exit_code == Some(0) && said_nothing(seal) =>
        {
            reason(ReasonCode::EmptyOutput, Some(message))
        }
        (Finding::Defect { code, message }, None) => reason(code, Some(message)),
        (Finding::Success, None) => reason(ReasonCode::Completed, None),
    };
    (Verdict::Rejected, rejected)
}

fn reason(code: ReasonCode, message: Option<String>) -> Reason {
    Reason { code, message, retry_at: None }
}

fn stopped_by_decision(stop: StopCause) -> Option<ReasonCode> {
    match stop {
        StopCause::User => Some(ReasonCode::Cancelled),
        StopCause::Supervisor => Some(ReasonCode::Interrupted),
        StopCause::OutputLimit => Some(ReasonCode::OutputLimit),
        StopCause::DiskFull => Some(ReasonCode::DiskFull),
        StopCause::None | StopCause::Budget | StopCause::FirstOutput | StopCause::AfterFinal => None,
    }
}

fn stopped_by_clock(stop: StopCause) -> Option<ReasonCode> {
    match stop {
        StopCause::Budget => Some(ReasonCode::TimedOut),
        StopCause::FirstOutput => Some(ReasonCode::FirstOutputTimeout),
        _ => None,
    }
}

fn said_nothing(seal: &Seal) -> bool {
    seal.manifest.iter().all(|entry| entry.path != "raw/stdout" || entry.size == 0)
}

/// One sentence that a lead can act on.
pub(crate) fn sentence(code: ReasonCode) -> &'static str {
    match code {
        ReasonCode::Completed => "The turn is complete.",
        ReasonCode::ProviderFailed => "The provider reported a failure.",
        ReasonCode::AuthenticationRequired => {
            "The provider did not accept a login; sign in with its own program."
        }
        ReasonCode::RateLimited => "The provider asked to come back later.",
        ReasonCode::QuotaExhausted => "The provider's quota is used up.",
        ReasonCode::InvalidOutput => {
            "The output breaks the provider's grammar, so no answer was taken from it."
        }
        ReasonCode::IncompleteOutput => "The output stops before the turn's end.",
        ReasonCode::EmptyOutput => "The turn ended without an answer.",
        ReasonCode::OutputConflict => "Two places that must hold the same answer differ.",
        ReasonCode::IdentityMismatch => "Another conversation answered than the one that was asked.",
        ReasonCode::ModelMismatch => "Another model answered than the one that was asked for.",
        ReasonCode::Refusal => "The model or a content filter declined.",
        ReasonCode::Cancelled => "The task was cancelled.",
        ReasonCode::TimedOut => "The time was over before the turn ended.",
        ReasonCode::Interrupted => "The runner was told to end before the turn did.",
        ReasonCode::OutputLimit => "The output grew over its limit.",
        ReasonCode::DiskFull => "There was too little free space to go on.",
        ReasonCode::FirstOutputTimeout => "No output came within the first-output limit.",
        ReasonCode::ExecutableDrift => "The executable changed between admission and launch; dispatch again.",
        ReasonCode::PlanDrift => "The launch would not be what was admitted; dispatch again.",
        ReasonCode::WorkspaceGone => "The workspace is gone.",
        ReasonCode::WorkspaceBusy => "Another task kept writing in the workspace.",
        ReasonCode::FenceUnavailable => "The fence that the mode needs can not be had here.",
        ReasonCode::StartFailed => "The provider could not be started.",
        ReasonCode::RunnerLost => "The runner was lost before the end of the turn could be seen.",
        ReasonCode::StorageUncertain => "The storage failed where nothing may be claimed.",
        ReasonCode::EvidenceDamaged => "The evidence does not match its seal.",
        ReasonCode::JudgeUnavailable => "This program has no judge for the provider.",
        ReasonCode::QueueExpired => "The task was not started in time.",
    }
}

#[cfg(test)]
mod tests {
    use record::seal::Invocation;
    use record::words::Launched;
    use record::{RootId, Sha256Digest, TaskId, Timestamp};

    use super::*;

    fn seal(stop: StopCause, invocation: Invocation) -> Seal {
        let digest = Sha256Digest::of(b"");
        Seal {
            schema_version: 1,
            root_id: RootId::from_random([1; 16]),
            task_id: TaskId::from_random([2; 16]),
            request_sha256: digest,
            plan_sha256: digest,
            invocation,
            stop,
            launched: Launched::Yes,
            recovered: false,
            containment: None,
            fence: None,
            leaked_processes: None,
            git_control_changed: None,
            resources: None,
            started_at: None,
            damaged: false,
            sealed_at: "2026-01-02T03:04:05.000000000Z".parse::<Timestamp>().unwrap(),
            manifest: Vec::new(),
        }
    }

    fn provider_error() -> Finding {
        Finding::ProviderError { code: ReasonCode::RateLimited, message: None, retry_at: None }
    }

    fn defect() -> Finding {
        Finding::Defect { code: ReasonCode::IncompleteOutput, message: String::new() }
    }

    #[test]
    fn a_success_wins_over_every_stop() {
        for stop in StopCause::ALL {
            for invocation in
                [Invocation::exited(1), Invocation::signalled(9), Invocation::of(InvocationState::Lost)]
            {
                let (verdict, reason) = verdict(&seal(*stop, invocation), Finding::Success, true);
                assert_eq!((verdict, reason.code), (Verdict::Committed, ReasonCode::Completed));
            }
        }
    }

    #[test]
    fn damaged_evidence_comes_before_everything() {
        for stop in StopCause::ALL {
            for finding in [Finding::Success, provider_error(), defect()] {
                let seal = seal(*stop, Invocation::exited(0));
                let (verdict, reason) = verdict(&seal, finding, false);
                assert_eq!((verdict, reason.code), (Verdict::Rejected, ReasonCode::EvidenceDamaged));
            }
        }
    }

    #[test]
    fn decisions_then_errors_then_clocks_then_defects() {
        let code = |stop, finding| verdict(&seal(stop, Invocation::exited(1)), finding, true).1.code;
        for (stop, expected) in [
            (StopCause::User, ReasonCode::Cancelled),
            (StopCause::Supervisor, ReasonCode::Interrupted),
            (StopCause::OutputLimit, ReasonCode::OutputLimit),
            (StopCause::DiskFull, ReasonCode::DiskFull),
        ] {
            assert_eq!(code(stop, provider_error()), expected);
            assert_eq!(code(stop, defect()), expected);
        }
        for (stop, expected) in [
            (StopCause::Budget, ReasonCode::TimedOut),
            (StopCause::FirstOutput, ReasonCode::FirstOutputTimeout),
            (StopCause::AfterFinal, ReasonCode::IncompleteOutput),
            (StopCause::None, ReasonCode::IncompleteOutput),
        ] {
            assert_eq!(code(stop, provider_error()), ReasonCode::RateLimited);
            assert_eq!(code(stop, defect()), expected);
        }
    }

    #[test]
    fn a_good_end_without_a_byte_is_empty_and_a_bad_one_incomplete() {
        for (code, expected) in [(0, ReasonCode::EmptyOutput), (1, ReasonCode::IncompleteOutput)] {
            let seal = seal(StopCause::None, Invocation::exited(code));
            assert_eq!(verdict(&seal, defect(), true).1.code, expected);
        }
    }

    #[test]
    fn a_lost_turn_that_said_nothing_is_a_lost_runner() {
        let lost = seal(StopCause::None, Invocation::of(InvocationState::Lost));
        assert_eq!(verdict(&lost, defect(), true).1.code, ReasonCode::RunnerLost);
    }
}
