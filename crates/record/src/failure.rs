//! The structured failure of an answer: a stable code, the stage, and what to do next (predecessor-core 1.5, CLI.md "Other
//! answers").

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::vocabulary::vocabulary;

/// `failure` of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Failure {
    /// The stable code.
    pub code: FailureCode,
    /// The innermost labelled step.
    pub stage: Stage,
    /// What the caller should do.
    pub next_action: NextAction,
}

vocabulary! {
    /// Stable codes of failures, in snake case.
    FailureCode {
        /// The request breaks a rule of its own.
        InvalidRequest = "invalid_request",
        /// The command line can not be read, or names more tasks than fit into an answer.
        UsageError = "usage_error",
        /// The brief is missing, empty, too large or no regular file.
        BriefInvalid = "brief_invalid",
        /// The workspace is missing, relative, or overlaps the root.
        WorkspaceInvalid = "workspace_invalid",
        /// The root can not be used.
        RootInvalid = "root_invalid",
        /// The root was made by another program or a newer version.
        UnsupportedRoot = "unsupported_root",
        /// The root can not be opened or made.
        StateRootUnavailable = "state_root_unavailable",
        /// The profile does not offer an option of the request.
        UnsupportedOption = "unsupported_option",
        /// The id belongs to another request.
        TaskRequestConflict = "task_request_conflict",
        /// A record belongs to another task, root or provider.
        TaskIdentityMismatch = "task_identity_mismatch",
        /// No such profile, or its executable is not there.
        ProviderUnavailable = "provider_unavailable",
        /// The launch could not be planned.
        ProviderPreparationFailed = "provider_preparation_failed",
        /// The executable lacks what the profile needs.
        ProviderPreflightFailed = "provider_preflight_failed",
        /// The supervisor could not be set up.
        SupervisorSetupFailed = "supervisor_setup_failed",
        /// The recorded supervisor is another one.
        SupervisorMismatch = "supervisor_mismatch",
        /// Whether the task was handed to its supervisor is not known.
        TaskSubmissionUncertain = "task_submission_uncertain",
        /// The task could not be handed to its supervisor.
        TaskSubmissionPreparationFailed = "task_submission_preparation_failed",
        /// The runner is not where it should be.
        DelegateInstallationIncomplete = "delegate_installation_incomplete",
        /// The predecessor can not be continued.
        ContinuationUnavailable = "continuation_unavailable",
        /// The profile continues nothing.
        UnsupportedContinuation = "unsupported_continuation",
        /// Another task goes on with the same conversation now.
        SessionBusy = "session_busy",
        /// The fence that the mode needs can not be had here.
        FenceUnavailable = "fence_unavailable",
        /// A limit that was asked for can not be enforced here.
        LimitUnavailable = "limit_unavailable",
        /// Whether a record is durable is not known.
        StorageUncertain = "storage_uncertain",
        /// No space left.
        StorageFull = "storage_full",
        /// The cursor belongs to an older journal.
        CursorExpired = "cursor_expired",
        /// No such task in this root.
        TaskNotFound = "task_not_found",
        /// A record or file of the task is damaged. Without an outcome: so much of it that none can be written; nothing of it is
        /// launched, and what ran and can be found is ended.
        EvidenceDamaged = "evidence_damaged",
        /// The content of the task was removed by retention.
        ContentPruned = "content_pruned",
        /// An operation on an existing task failed.
        TaskOperationFailed = "task_operation_failed",
        /// Anything else before the task existed.
        DispatchFailed = "dispatch_failed",
    }
}

vocabulary! {
    /// The step at which something failed.
    Stage {
        /// Reading the command line.
        ParseArguments = "parse-arguments",
        /// Checking the request.
        ValidateRequest = "validate-request",
        /// Finding the root.
        ResolveStateRoot = "resolve-state-root",
        /// Opening or making the root.
        OpenState = "open-state",
        /// Taking in the brief.
        ReadBrief = "read-brief",
        /// Finding the profile.
        SelectProvider = "select-provider",
        /// Finding the predecessor.
        ResolvePredecessor = "resolve-predecessor",
        /// Checking the conversation.
        ValidateContinuation = "validate-continuation",
        /// Opening a task.
        OpenTaskRecord = "open-task-record",
        /// Planning the launch.
        PrepareProvider = "prepare-provider",
        /// Asking the executable.
        InspectProvider = "inspect-provider",
        /// Finding the runner.
        ResolveRunner = "resolve-runner",
        /// Committing the task.
        CreateTaskRecord = "create-task-record",
        /// Starting the supervisor.
        StartSupervisor = "start-supervisor",
        /// Handing the task over.
        SubmitTask = "submit-task",
        /// Looking at an existing task of the same id.
        ExistingTask = "existing-task",
        /// Looking at a task.
        ObserveTask = "observe-task",
        /// Stopping a task.
        StopTask = "stop-task",
        /// Anything else.
        Dispatch = "dispatch",
    }
}

vocabulary! {
    /// What a caller should do after a failure (CLI.md).
    NextAction {
        /// Ask something else.
        CorrectRequest = "correct_request",
        /// Look at the task before anything else.
        CheckStatus = "check_status",
        /// Dispatch the same id again.
        DispatchAgain = "dispatch_again",
        /// Wait until `retry_at`.
        WaitUntil = "wait_until",
        /// Sign in with the provider's own program.
        SignIn = "sign_in",
        /// Stop, and tell a person.
        StopAndReport = "stop_and_report",
    }
}
