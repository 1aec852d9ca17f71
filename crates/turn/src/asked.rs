//! What a lead asks for, checked against what a profile offers (CLI.md `dispatch`, `continue`).

use std::path::PathBuf;

use record::capability::Description;
use record::failure::{FailureCode, Stage};
use record::json::Record;
use record::limits::OPTION_TEXT_MAX_BYTES;
use record::request::{PriorSession, Request, RequestedConfig, RequestedLimits};
use record::words::{Fence, Permission, ProfileOption};
use record::{AbsolutePath, ByteSize, ProfileId, RootId, Sha256Digest, Span, TaskId};

use crate::brief;
use crate::error::TurnError;

/// Where the brief comes from.
#[derive(Clone, Debug)]
pub enum BriefSource {
    /// A regular file.
    File(PathBuf),
    /// Bytes that the caller has read already.
    Bytes(Vec<u8>),
}

/// What a lead asks for (CLI.md `dispatch`).
#[derive(Clone, Debug)]
pub struct DispatchInput {
    /// The profile; `None` takes the first of the catalogue that can serve the request now (`--auto`).
    pub provider: Option<ProfileId>,
    /// The brief.
    pub brief: BriefSource,
    /// The workspace; must be absolute.
    pub cwd: PathBuf,
    /// The task's id; random when absent.
    pub id: Option<TaskId>,
    /// What the turn may change.
    pub permission: Permission,
    /// Wall-clock budget.
    pub budget: Span,
    /// Time limit handed to the CLI itself.
    pub native_timeout: Option<Span>,
    /// The model.
    pub model: Option<String>,
    /// The effort; `default` means none.
    pub effort: Option<String>,
    /// The lane of a family runner.
    pub lane: Option<String>,
    /// Whether a lane is accepted that is not qualified.
    pub allow_provisional: bool,
    /// The fence.
    pub fence: Option<Fence>,
    /// File of secret environment values.
    pub environment_file: Option<PathBuf>,
    /// Cap per stream and artifact.
    pub max_output: ByteSize,
    /// First-output limit.
    pub first_output: Option<Span>,
    /// Launch limit, counted from admission.
    pub start_by: Option<Span>,
    /// Lease wait, counted from admission.
    pub lease_wait: Span,
    /// Limit on the main memory of all processes together.
    pub memory: Option<ByteSize>,
    /// Limit on processes and threads at once.
    pub pids: Option<u32>,
    /// Limit on processor time, in processors.
    pub cpus: Option<u32>,
    /// The predecessor of a continuation.
    pub resume_task: Option<TaskId>,
    /// Whether to go on from a predecessor after which the conversation has already gone on.
    pub from_earlier: bool,
}

impl Default for BriefSource {
    fn default() -> Self {
        Self::Bytes(Vec::new())
    }
}

impl BriefSource {
    /// The bytes of the brief.
    ///
    /// # Errors
    /// `brief_invalid`.
    pub(crate) fn take(self) -> Result<Vec<u8>, TurnError> {
        match self {
            Self::File(path) => brief::read(&path),
            Self::Bytes(bytes) => {
                brief::check(&bytes)?;
                Ok(bytes)
            }
        }
    }
}

/// A refusal of what was asked.
pub(crate) fn invalid(message: impl Into<String>) -> TurnError {
    TurnError::new(FailureCode::InvalidRequest, Stage::ValidateRequest, message)
}

/// Whether an effort was asked for at all (providers.md 1.1).
fn effort_is_set(effort: Option<&str>) -> bool {
    effort.is_some_and(|effort| effort != "default")
}

/// Checks what was asked by itself, and against what the profile offers.
///
/// # Errors
/// `invalid_request`, `unsupported_option`.
pub(crate) fn check(input: &DispatchInput, description: &Description) -> Result<(), TurnError> {
    if input.budget.is_zero() {
        return Err(invalid("the budget must be more than zero"));
    }
    if input.native_timeout.is_some_and(|timeout| timeout.is_zero() || timeout > input.budget) {
        return Err(invalid("the native timeout must be more than zero and at most the budget"));
    }
    for (name, span) in [("--first-output", input.first_output), ("--start-by", input.start_by)] {
        if span.is_some_and(Span::is_zero) {
            return Err(invalid(format!("{name} must be more than zero")));
        }
    }
    for (name, count) in [("--pids", input.pids), ("--cpus", input.cpus)] {
        if count == Some(0) {
            return Err(invalid(format!("{name} must be more than zero")));
        }
    }
    for (name, text) in [("--model", &input.model), ("--effort", &input.effort), ("--lane", &input.lane)] {
        if let Some(text) = text
            && (text.is_empty()
                || text.trim() != text
                || text.chars().any(char::is_control)
                || text.len() > OPTION_TEXT_MAX_BYTES)
        {
            return Err(invalid(format!(
                "{name} must be a short text without control characters or outer white space"
            )));
        }
    }
    if !description.supported_modes.contains(&input.permission) {
        return Err(TurnError::new(
            FailureCode::UnsupportedOption,
            Stage::ValidateRequest,
            format!("{} does not offer --permission {}", description.id, input.permission),
        ));
    }
    let used = [
        (ProfileOption::Model, input.model.is_some()),
        (ProfileOption::Effort, effort_is_set(input.effort.as_deref())),
        (ProfileOption::Lane, input.lane.is_some() || input.allow_provisional),
        (ProfileOption::NativeTimeout, input.native_timeout.is_some()),
        (ProfileOption::Continuation, input.resume_task.is_some()),
    ];
    match used.iter().find(|(option, used)| *used && !description.supported_options.contains(option)) {
        None => Ok(()),
        Some((option, _)) => Err(TurnError::new(
            FailureCode::UnsupportedOption,
            Stage::ValidateRequest,
            format!("{} does not support the option {option}", description.id),
        )),
    }
}

/// The bounds of a request beside its budget.
pub(crate) fn limits(input: &DispatchInput) -> RequestedLimits {
    RequestedLimits {
        max_output_bytes: input.max_output,
        first_output: input.first_output,
        start_by: input.start_by,
        lease_wait: input.lease_wait,
        memory_bytes: input.memory,
        pids: input.pids,
        cpus: input.cpus,
    }
}

/// What a request is made from beside the lead's words.
pub(crate) struct Given<'a> {
    pub(crate) root_id: RootId,
    pub(crate) task_id: TaskId,
    pub(crate) provider: &'a ProfileId,
    pub(crate) workspace: &'a AbsolutePath,
    pub(crate) environment_file: Option<&'a AbsolutePath>,
    pub(crate) prior_session: Option<PriorSession>,
    pub(crate) brief: &'a [u8],
}

/// The request in its one form: the same question always has the same bytes.
pub(crate) fn request(input: &DispatchInput, given: Given<'_>) -> Request {
    Request {
        schema_version: Request::SCHEMA_VERSION,
        root_id: given.root_id,
        task_id: given.task_id,
        provider: given.provider.clone(),
        canonical_cwd: given.workspace.clone(),
        requested_config: RequestedConfig {
            model: input.model.clone(),
            effort: input.effort.clone().filter(|effort| effort_is_set(Some(effort))),
            lane: input.lane.clone(),
            allow_provisional: input.allow_provisional,
            permission: input.permission,
            budget: input.budget,
            native_timeout: input.native_timeout,
        },
        limits: limits(input),
        fence: input.fence,
        environment_file: given.environment_file.cloned(),
        prior_session: given.prior_session,
        brief_sha256: Sha256Digest::of(given.brief),
        brief_length: given.brief.len() as u64,
    }
}
