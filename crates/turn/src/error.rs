//! What can go wrong, as a stable code, a stage and a sentence.

use std::io::ErrorKind;

use provider::PlanError;
use record::answer::{Answer, TaskRecord};
use record::failure::{Failure, FailureCode, NextAction, Stage};
use record::words::{Admission, Publication};
use rustix::fs::{Access, AtFlags, CWD, accessat};
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
            (_, FailureCode::ContentPruned) => NextAction::CheckStatus,
            (_, FailureCode::StorageUncertain) => NextAction::DispatchAgain,
            _ => NextAction::StopAndReport,
        };
        let mut answer = answer;
        let is_missing = match answer.task_record {
            Some(record) => record == TaskRecord::NotCreated,
            None => self.code == FailureCode::TaskNotFound,
        };
        if is_missing {
            // There is no task, so nothing else can be said of it either.
            answer.admission = Admission::NotAdmitted;
            answer.publication = Publication::None;
        }
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
            | FailureCode::ContinuationUnavailable
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
        self.map_err(|error| {
            let mut message = error.to_string();
            if is_fenced(&error) {
                message.push_str(
                    " although its modes allow it: a process behind a write fence can not write a state root",
                );
            }
            TurnError::new(store_code(&error), stage, message)
        })
    }
}

/// Whether the system refused to write something.
fn is_denied(error: &StoreError) -> bool {
    matches!(error, StoreError::Io { source, .. } if source.kind() == ErrorKind::PermissionDenied)
}

/// Whether it refused what owner and modes allow: the process runs behind a fence, such as that of a turn (STATE.md 7).
fn is_fenced(error: &StoreError) -> bool {
    let StoreError::Io { path, .. } = error else { return false };
    let wanted = Access::WRITE_OK | Access::EXEC_OK;
    is_denied(error)
        && path.parent().is_some_and(|parent| accessat(CWD, parent, wanted, AtFlags::EACCESS).is_ok())
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
        StoreError::UnsupportedRoot { .. } | StoreError::UnsupportedVersion { .. } => {
            FailureCode::UnsupportedRoot
        }
        StoreError::Damaged { .. } => FailureCode::EvidenceDamaged,
        // Within one task it means that a record was changed or moved.
        StoreError::IdentityMismatch { .. } => FailureCode::EvidenceDamaged,
        StoreError::Uncertain { .. } => FailureCode::StorageUncertain,
        StoreError::Full { .. } => FailureCode::StorageFull,
        StoreError::CursorExpired => FailureCode::CursorExpired,
        StoreError::ReadOnly { .. } => FailureCode::RootInvalid,
        error if is_denied(error) => FailureCode::RootInvalid,
        _ => FailureCode::StateRootUnavailable,
    }
}
