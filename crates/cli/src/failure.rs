//! A refusal made by the command line itself, before any room behind it was asked.

use record::TaskId;
use record::answer::Answer;
use record::failure::{Failure, FailureCode, NextAction, Stage};

/// Why a command was not carried out: the structured failure and its sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// Code, stage and next step.
    pub(crate) failure: Failure,
    /// One sentence.
    pub(crate) error: String,
}

impl Refusal {
    /// A refusal that the caller can cure by asking for something else.
    pub(crate) fn correctable(code: FailureCode, stage: Stage, error: impl Into<String>) -> Self {
        Self {
            failure: Failure { code, stage, next_action: NextAction::CorrectRequest },
            error: error.into(),
        }
    }

    /// A request that breaks a rule of its own.
    pub(crate) fn invalid_request(error: impl Into<String>) -> Self {
        Self::correctable(FailureCode::InvalidRequest, Stage::ValidateRequest, error)
    }

    /// A fault of the host that a person must look at.
    pub(crate) fn operational(code: FailureCode, stage: Stage, error: impl Into<String>) -> Self {
        Self { failure: Failure { code, stage, next_action: NextAction::StopAndReport }, error: error.into() }
    }

    /// The refusal as the answer of a command.
    pub(crate) fn answer(self, command: &str) -> Answer {
        Answer::new(command).failed(self.failure, self.error)
    }

    /// The refusal as the answer of a command on a task that was named.
    pub(crate) fn answer_on(self, task: TaskId, command: &str) -> Answer {
        Answer { task_id: Some(task), ..self.answer(command) }
    }
}
