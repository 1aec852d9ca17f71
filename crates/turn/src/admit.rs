//! Admission: from what a lead asks to a task that is in the root for good (STATE.md 3.1, 3.2).

use std::path::PathBuf;

use record::answer::{Answer, TaskRecord};
use record::capability::{
    CAPABILITY_CONTRACT, Capability, CapabilityReason, CapabilityStatus, LiveAcceptance, LiveAuthentication,
    LiveStatus, Verification,
};
use record::failure::{FailureCode, Stage};
use record::json::Record;
use record::limits::{CONVERSATION_ID_MAX_BYTES, OPTION_TEXT_MAX_BYTES};
use record::plan::Plan;
use record::request::{Request, RequestedConfig, RequestedLimits};
use record::submission::Submission;
use record::words::{Admission, Fence, Permission, ProfileOption};
use record::{AbsolutePath, ByteSize, ProfileId, Sha256Digest, Span, TaskId, json};
use store::{Admitted, NewTask, Root, Task};

use crate::context::{Context, now};
use crate::error::{At, TurnError};
use crate::planning::{self, Planned, Planning};
use crate::{brief, observe, workspace};

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
    /// The profile.
    pub provider: ProfileId,
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
    /// The predecessor of a continuation.
    pub resume_task: Option<TaskId>,
}

/// Admits one turn and hands it to the supervisor. `announce` is called with the task's id before anything is committed, so
/// that a caller cut off in between can ask for the same id again.
///
/// The same id with the same request is answered with that task; with another request it is a `task_request_conflict`.
pub fn dispatch(context: &Context, input: DispatchInput, announce: &mut dyn FnMut(TaskId)) -> Answer {
    let mut answer = Answer::new("dispatch");
    answer.task_id = input.id;
    answer.task_record = Some(if input.id.is_some() { TaskRecord::Unknown } else { TaskRecord::NotCreated });
    match admit(context, input, announce, &mut answer) {
        Ok(()) => answer,
        Err(error) => error.into_answer(answer),
    }
}

fn admit(
    context: &Context,
    input: DispatchInput,
    announce: &mut dyn FnMut(TaskId),
    answer: &mut Answer,
) -> Result<(), TurnError> {
    let brief = match &input.brief {
        BriefSource::File(path) => brief::read(path)?,
        BriefSource::Bytes(bytes) => {
            brief::check(bytes)?;
            bytes.clone()
        }
    };
    let workspace = workspace::resolve(&input.cwd, &context.root)?;
    let profile =
        provider::catalogue().get(&input.provider).ok_or_else(|| unknown_provider(&input.provider))?;
    check_options(&input, &profile.description())?;

    let root = Root::open_or_create(&context.root).at(Stage::OpenState)?;
    answer.root_id = Some(root.id());
    let task_id = match input.id {
        Some(id) => id,
        None => store::random_task_id(),
    };
    answer.task_id = Some(task_id);
    let request = request(&root, task_id, &input, workspace, &brief)?;
    if let Some(task) = root.task(task_id).at(Stage::OpenTaskRecord)? {
        return existing(context, &root, &task, &request, answer);
    }
    answer.task_record = Some(TaskRecord::NotCreated);

    let request_sha256 = Sha256Digest::of(&encoded(&request)?);
    let planning = Planning {
        root: &root,
        request: &request,
        request_sha256,
        brief: &brief,
        captured: &context.captured,
        own_executable: &context.program,
    };
    let Planned { plan, .. } = planning::plan(profile, &planning)?;
    answer.capability = Some(observed_capability(&profile.description(), &plan));
    let submission = Submission {
        schema_version: Submission::SCHEMA_VERSION,
        root_id: root.id(),
        task_id,
        request_sha256,
        plan_sha256: Sha256Digest::of(&encoded(&plan)?),
        supervisor: context.supervisor,
        runner_executable: context.runner.clone(),
        machine_id: machine_id(Stage::CreateTaskRecord)?,
        admitted_at: now(),
    };

    announce(task_id);
    answer.task_record = Some(TaskRecord::Unknown);
    let new = NewTask { request: &request, brief: &brief, plan: &plan, submission: &submission };
    match root.admit(new).at(Stage::CreateTaskRecord)? {
        Admitted::New(task) => {
            answer.task_record = Some(TaskRecord::Created);
            answer.admission = Admission::Admitted;
            submit(context, &root, &task, answer)
        }
        Admitted::Existing(task) => existing(context, &root, &task, &request, answer),
    }
}

/// Answers for an id that is taken already (STATE.md 3.1, 3.2).
fn existing(
    context: &Context,
    root: &Root,
    task: &Task,
    request: &Request,
    answer: &mut Answer,
) -> Result<(), TurnError> {
    answer.task_record = Some(TaskRecord::Created);
    answer.admission = Admission::Admitted;
    let recorded = task.read::<Request>().at(Stage::ExistingTask)?;
    if recorded.is_none_or(|recorded| recorded.record != *request) {
        return Err(TurnError::new(
            FailureCode::TaskRequestConflict,
            Stage::ExistingTask,
            format!("the id {} belongs to a task with another request; use another id", task.id()),
        ));
    }
    if let Some(submission) = task.read::<Submission>().at(Stage::ExistingTask)?
        && context.supervisor_is_explicit
        && submission.record.supervisor != context.supervisor
    {
        return Err(TurnError::new(
            FailureCode::SupervisorMismatch,
            Stage::ExistingTask,
            format!("the task was admitted for the supervisor {}", submission.record.supervisor),
        ));
    }
    submit(context, root, task, answer)
}

/// Hands a committed task to its supervisor, unless it has ended, and says where it stands.
fn submit(context: &Context, root: &Root, task: &Task, answer: &mut Answer) -> Result<(), TurnError> {
    if task.read::<record::outcome::Outcome>().at(Stage::ExistingTask)?.is_none() {
        observe::supervisor(context).and_then(|supervisor| supervisor.submit(root, task)).map_err(
            |error| {
                TurnError::new(FailureCode::SupervisorSetupFailed, Stage::StartSupervisor, error.to_string())
            },
        )?;
    }
    observe::fill(context, root, task, answer)
}

/// The refusal of a profile that does not exist, with the nearest one that does.
pub(crate) fn unknown_provider(id: &ProfileId) -> TurnError {
    let hint = provider::catalogue().nearest(id.as_str()).map_or_else(
        || "delegate providers lists them".to_owned(),
        |nearest| format!("did you mean {nearest}?"),
    );
    TurnError::new(
        FailureCode::ProviderUnavailable,
        Stage::SelectProvider,
        format!("there is no provider {id}; {hint}"),
    )
}

fn invalid(message: impl Into<String>) -> TurnError {
    TurnError::new(FailureCode::InvalidRequest, Stage::ValidateRequest, message)
}

/// Whether an effort was asked for at all (providers.md 1.1).
fn effort_is_set(effort: Option<&str>) -> bool {
    effort.is_some_and(|effort| effort != "default")
}

fn check_options(
    input: &DispatchInput,
    description: &record::capability::Description,
) -> Result<(), TurnError> {
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
    for (name, text) in [("--model", &input.model), ("--effort", &input.effort)] {
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
            format!("{} does not offer --permission {} yet", description.id, input.permission),
        ));
    }
    let used = [
        (ProfileOption::Model, input.model.is_some()),
        (ProfileOption::Effort, effort_is_set(input.effort.as_deref())),
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

fn request(
    root: &Root,
    task_id: TaskId,
    input: &DispatchInput,
    canonical_cwd: AbsolutePath,
    brief: &[u8],
) -> Result<Request, TurnError> {
    if input.resume_task.is_some() {
        return Err(TurnError::new(
            FailureCode::UnsupportedContinuation,
            Stage::ResolvePredecessor,
            "continuation is not part of this version",
        ));
    }
    if input.environment_file.is_some() {
        return Err(TurnError::new(
            FailureCode::UnsupportedOption,
            Stage::ValidateRequest,
            "environment files are not part of this version",
        ));
    }
    Ok(Request {
        schema_version: Request::SCHEMA_VERSION,
        root_id: root.id(),
        task_id,
        provider: input.provider.clone(),
        canonical_cwd,
        requested_config: RequestedConfig {
            model: input.model.clone(),
            effort: input.effort.clone().filter(|effort| effort_is_set(Some(effort))),
            permission: input.permission,
            budget: input.budget,
            native_timeout: input.native_timeout,
        },
        limits: RequestedLimits {
            max_output_bytes: input.max_output,
            first_output: input.first_output,
            start_by: input.start_by,
            lease_wait: input.lease_wait,
        },
        fence: input.fence,
        environment_file: None,
        prior_session: None,
        brief_sha256: Sha256Digest::of(brief),
        brief_length: brief.len() as u64,
    })
}

/// The bytes of a record as the store writes them.
fn encoded<R: Record>(record: &R) -> Result<Vec<u8>, TurnError> {
    json::encode(record).map_err(|error| invalid(format!("the request can not be recorded: {error}")))
}

/// The machine id as a digest.
pub(crate) fn machine_id(stage: Stage) -> Result<Sha256Digest, TurnError> {
    let text = process::machine_id().map_err(|error| {
        TurnError::new(FailureCode::StateRootUnavailable, stage, format!("this machine's id: {error}"))
    })?;
    text.parse().map_err(|_| {
        TurnError::new(FailureCode::StateRootUnavailable, stage, "this machine's id is malformed")
    })
}

/// The capability of a profile whose executable has just been planned with.
fn observed_capability(description: &record::capability::Description, plan: &Plan) -> Capability {
    Capability {
        status: CapabilityStatus::Ready,
        verification: Verification::Runtime,
        version: plan.launch.provider_version.clone(),
        executable_sha256: plan.launch.identity.first().map(|file| file.sha256),
        reason_code: CapabilityReason::RequiredBehaviorObserved,
        ..catalogue_capability(description)
    }
}

/// The capability of a profile as far as the catalogue alone tells.
pub(crate) fn catalogue_capability(description: &record::capability::Description) -> Capability {
    Capability {
        contract: CAPABILITY_CONTRACT.to_owned(),
        provider: description.id.clone(),
        status: CapabilityStatus::Unknown,
        verification: Verification::Catalog,
        continuation: description.continuation,
        version: None,
        executable_sha256: None,
        help_args: description.runtime.help_args.clone(),
        required_flags: description.runtime.required_flags.clone(),
        reason_code: CapabilityReason::RuntimeProbeNotRun,
        live_acceptance: LiveAcceptance {
            status: LiveStatus::NotRun,
            authentication: LiveAuthentication::Unknown,
            reason_code: CapabilityReason::RuntimeProbeNotRun,
        },
        fence_limits: Vec::new(),
    }
}

/// Whether a text from a provider's stream can name a conversation.
pub(crate) fn is_conversation_id(text: &str) -> bool {
    !text.is_empty() && text.len() <= CONVERSATION_ID_MAX_BYTES && !text.chars().any(char::is_control)
}
