//! What can go wrong, as a stable code, a stage and a sentence.

use provider::PlanError;
use record::answer::{Answer, TaskRecord};
use record::failure::{Failure, FailureCode, NextAction, Stage};
use store::StoreError;

/// A failure with its stable code, the step at which it happened, and a sentence for people.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct TurnError {
    /// The stable code.
    pub code: FailureCode,
    /// The step.
    pub stage: Stage,
    /// One sentence.
    pub message: String,
}

impl TurnError {
    /// A failure.
    pub fn new(code: FailureCode, stage: Stage, message: impl Into<String>) -> Self {
        Self { code, stage, message: message.into() }
    }

    /// Puts the failure into an answer, with the next action that follows from the code and from what is known of the task
    /// (predecessor-core 1.5).
    pub fn into_answer(self, answer: Answer) -> Answer {
        let next_action = match (answer.task_record, self.code) {
            (_, FailureCode::TaskRequestConflict | FailureCode::SupervisorMismatch) => {
                NextAction::CorrectRequest
            }
            (Some(TaskRecord::Created), _) => NextAction::CheckStatus,
            (_, code) if is_about_the_request(code) => NextAction::CorrectRequest,
            (_, FailureCode::StorageUncertain) => NextAction::DispatchAgain,
            _ => NextAction::StopAndReport,
        };
        answer.failed(Failure { code: self.code, stage: self.stage, next_action }, self.message)
    }
}

/// Whether another request would help.
fn is_about_the_request(code: FailureCode) -> bool {
    matches!(
        code,
        FailureCode::InvalidRequest
            | FailureCode::UsageError
            | FailureCode::BriefInvalid
            | FailureCode::WorkspaceInvalid
            | FailureCode::RootInvalid
            | FailureCode::UnsupportedOption
            | FailureCode::UnsupportedContinuation
            | FailureCode::FenceUnavailable
            | FailureCode::LimitUnavailable
            | FailureCode::CursorExpired
            | FailureCode::TaskNotFound
    )
}

/// Names the stage at which another room's error happened.
pub(crate) trait At<T> {
    /// The same result with the error as a [`TurnError`].
    fn at(self, stage: Stage) -> Result<T, TurnError>;
}

impl<T> At<T> for Result<T, StoreError> {
    fn at(self, stage: Stage) -> Result<T, TurnError> {
        self.map_err(|error| TurnError::new(store_code(&error), stage, error.to_string()))
    }
}

impl<T> At<T> for Result<T, PlanError> {
    fn at(self, stage: Stage) -> Result<T, TurnError> {
        self.map_err(|error| TurnError::new(error.code(), stage, error.to_string()))
    }
}

fn store_code(error: &StoreError) -> FailureCode {
    match error {
        StoreError::NotFound { .. } => FailureCode::StateRootUnavailable,
        StoreError::RootInvalid { .. } => FailureCode::RootInvalid,
        StoreError::UnsupportedRoot { .. } => FailureCode::UnsupportedRoot,
        StoreError::Damaged { .. } => FailureCode::EvidenceDamaged,
        StoreError::IdentityMismatch { .. } => FailureCode::TaskIdentityMismatch,
        StoreError::Uncertain { .. } => FailureCode::StorageUncertain,
        StoreError::Full { .. } => FailureCode::StorageFull,
        StoreError::ReadOnly { .. } => FailureCode::RootInvalid,
        _ => FailureCode::StateRootUnavailable,
    }
}
