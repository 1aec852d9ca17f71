//! Admission: from what a lead asks to a task that is in the root for good (STATE.md 3.1, 3.2).

use provider::Profile;
use record::answer::{Answer, TaskRecord};
use record::failure::{FailureCode, Stage};
use record::json::{self, Record};
use record::outcome::Outcome;
use record::plan::Plan;
use record::request::{PriorSession, Request};
use record::submission::{Submission, SupervisorBinding};
use record::words::{Admission, ProfileOption};
use record::{AbsolutePath, ProfileId, Sha256Digest, TaskId};
use store::{Admitted, NewTask, Root, Task};
use supervise::SuperviseError;

use crate::activity::Comparison;
use crate::asked::{self, DispatchInput, Given, invalid};
use crate::context::{Context, now};
use crate::continuation::{self, Claim, Successor};
use crate::error::{At, TurnError};
use crate::planning::{self, Planning};
use crate::{containment, discover, observe, secrets, workspace};

/// Admits one turn and hands it to the supervisor. `announce` is called with the task's id before anything is committed, so
/// that a caller cut off in between can ask for the same id again.
///
/// The same id with the same request is answered with that task; with another request it is a `task_request_conflict`.
pub fn dispatch(context: &Context, input: DispatchInput, announce: &mut dyn FnMut(TaskId)) -> Answer {
    answer_to("dispatch", context, input, announce)
}

/// Does what `command` asks, and answers in its name.
pub(crate) fn answer_to(
    command: &str,
    context: &Context,
    input: DispatchInput,
    announce: &mut dyn FnMut(TaskId),
) -> Answer {
    let mut answer = Answer::new(command);
    answer.task_id = input.id;
    answer.task_record = Some(if input.id.is_some() { TaskRecord::Unknown } else { TaskRecord::NotCreated });
    match admit(context, input, announce, &mut answer) {
        Ok(()) => answer,
        Err(error) => error.into_answer(answer),
    }
}

/// What was asked, with everything resolved that does not depend on a profile.
struct Asked<'a> {
    context: &'a Context,
    input: &'a DispatchInput,
    root: &'a Root,
    task_id: TaskId,
    workspace: &'a AbsolutePath,
    environment_file: Option<&'a AbsolutePath>,
    brief: &'a [u8],
}

/// A request that can be committed.
struct Prepared {
    request: Request,
    plan: Plan,
    claim: Option<Claim>,
}

fn admit(
    context: &Context,
    mut input: DispatchInput,
    announce: &mut dyn FnMut(TaskId),
    answer: &mut Answer,
) -> Result<(), TurnError> {
    let brief = std::mem::take(&mut input.brief).take()?;
    // An id that has a task is compared with it, and nothing else is asked (STATE.md 3.1).
    let known = known_task(context, input.id)?;
    let workspace = match &known {
        Some((_, recorded)) if input.cwd == recorded.canonical_cwd.as_path() => {
            recorded.canonical_cwd.clone()
        }
        _ => workspace::resolve(&input.cwd, &context.root)?,
    };
    let environment_file = match (&input.environment_file, &known) {
        (None, _) => None,
        (Some(path), Some((_, recorded)))
            if recorded.environment_file.as_ref().is_some_and(|known| known.as_path() == path) =>
        {
            recorded.environment_file.clone()
        }
        (Some(path), _) => Some(secrets::resolve(path, &context.root, &workspace)?),
    };
    if known.is_none() {
        match &input.provider {
            Some(id) => asked::check(&input, &profile(id)?.description())?,
            None if input.resume_task.is_some() => {
                return Err(invalid("--auto does not go with a continuation"));
            }
            None => {}
        }
        containment::check(&asked::limits(&input))?;
    }

    let root = match known {
        Some((root, _)) => root,
        None => Root::open_or_create(&context.root).at(Stage::OpenState)?,
    };
    answer.root_id = Some(root.id());
    let task_id = input.id.unwrap_or_else(store::random_task_id);
    answer.task_id = Some(task_id);
    let asked = Asked {
        context,
        input: &input,
        root: &root,
        task_id,
        workspace: &workspace,
        environment_file: environment_file.as_ref(),
        brief: &brief,
    };
    if let Some(task) = root.task(task_id).at(Stage::OpenTaskRecord)? {
        return existing(&asked, &task, answer);
    }
    answer.task_record = Some(TaskRecord::NotCreated);
    let Prepared { request, plan, claim } = match &input.provider {
        Some(id) => prepare(&asked, profile(id)?)?,
        None => select(&asked)?,
    };
    answer.capability =
        Some(discover::observed_capability(&profile(&request.provider)?.description(), &plan));
    let supervisor = observe::supervisor(context);
    let supervisor_binding = supervisor.bind(&root).map_err(|error| supervisor_failed(&error))?;
    let submission = Submission {
        schema_version: Submission::SCHEMA_VERSION,
        root_id: root.id(),
        task_id,
        request_sha256: plan.request_sha256,
        plan_sha256: Sha256Digest::of(&encoded(&plan)?),
        supervisor: context.supervisor,
        supervisor_binding,
        runner_executable: context.runner.clone(),
        machine_id: machine_id(Stage::CreateTaskRecord)?,
        admitted_at: now(),
    };

    announce(task_id);
    answer.task_record = Some(TaskRecord::Unknown);
    if let Some(claim) = &claim {
        claim.make(task_id)?;
    }
    let new = NewTask { request: &request, brief: &brief, plan: &plan, submission: &submission };
    let admitted = root.admit(new).at(Stage::CreateTaskRecord)?;
    // The claim is on disk and the task is there: others may look.
    drop(claim);
    match admitted {
        Admitted::New(task) => {
            answer.task_record = Some(TaskRecord::Created);
            submit(context, &root, &task, answer)
        }
        Admitted::Existing(task) => existing(&asked, &task, answer),
    }
}

/// The root and the request of an id that has a task already.
fn known_task(context: &Context, id: Option<TaskId>) -> Result<Option<(Root, Request)>, TurnError> {
    let Some(id) = id else { return Ok(None) };
    let root = match Root::open(&context.root) {
        Ok(root) => root,
        // Whatever is wrong with it is said when it is opened for the commit.
        Err(_) => return Ok(None),
    };
    let Some(task) = root.task(id).at(Stage::OpenTaskRecord)? else { return Ok(None) };
    let request = task.read::<Request>().at(Stage::ExistingTask)?;
    Ok(request.map(|request| (root, request.record)))
}

/// The profile of an id.
pub(crate) fn profile(id: &ProfileId) -> Result<&'static dyn Profile, TurnError> {
    provider::catalogue().get(id).ok_or_else(|| unknown_provider(id))
}

/// Makes everything that a commit needs, for one profile.
fn prepare(asked: &Asked<'_>, profile: &dyn Profile) -> Result<Prepared, TurnError> {
    let provider = profile.description().id;
    let claim = match asked.input.resume_task {
        None => None,
        Some(predecessor) => {
            let successor = Successor {
                task: asked.task_id,
                provider: &provider,
                permission: asked.input.permission,
                workspace: asked.workspace,
                from_earlier: asked.input.from_earlier,
            };
            Some(continuation::claim(asked.root, predecessor, &successor)?)
        }
    };
    let request = asked.request(&provider, claim.as_ref().map(|claim| claim.prior.clone()));
    let planning = Planning {
        root: asked.root.path(),
        cache: Some(asked.root.probe_cache()),
        request: &request,
        request_sha256: Sha256Digest::of(&encoded(&request)?),
        brief: asked.brief,
        captured: &asked.context.captured,
        own_executable: &asked.context.program,
    };
    let plan = planning::plan(profile, planning)?.plan;
    Ok(Prepared { request, plan, claim })
}

/// The first profile of the catalogue that can serve the request now (predecessor-core 1.7, `--auto`).
fn select(asked: &Asked<'_>) -> Result<Prepared, TurnError> {
    let mut reasons = Vec::new();
    for profile in provider::catalogue().all() {
        let description = profile.description();
        // The offline worker answers no brief, so nobody who leaves the choice open means it. What the gates rule is never
        // chosen for the lead (router.md 1.2).
        if description.runtime.executable.is_none()
            || description.supported_options.contains(&ProfileOption::Lane)
            || !description.supported_modes.contains(&asked.input.permission)
        {
            continue;
        }
        match asked::check(asked.input, &description).and_then(|()| prepare(asked, *profile)) {
            Ok(prepared) => return Ok(prepared),
            Err(error) => {
                let reason = record::answer::truncated(&error.message, discover::AUTO_REASON_MAX_BYTES);
                reasons.push(format!("{}: {reason}", description.id));
            }
        }
    }
    let message = format!("no provider can serve this request now: {}", reasons.join("; "));
    Err(TurnError::new(FailureCode::ProviderUnavailable, Stage::SelectProvider, message))
}

impl Asked<'_> {
    fn request(&self, provider: &ProfileId, prior_session: Option<PriorSession>) -> Request {
        let given = Given {
            root_id: self.root.id(),
            task_id: self.task_id,
            provider,
            workspace: self.workspace,
            environment_file: self.environment_file,
            prior_session,
            brief: self.brief,
        };
        asked::request(self.input, given)
    }
}

/// Answers for an id that is taken already (STATE.md 3.1, 3.2).
fn existing(asked: &Asked<'_>, task: &Task, answer: &mut Answer) -> Result<(), TurnError> {
    answer.task_record = Some(TaskRecord::Created);
    answer.admission = Admission::Admitted;
    let conflict = || {
        TurnError::new(
            FailureCode::TaskRequestConflict,
            Stage::ExistingTask,
            format!("the id {} belongs to a task with another request; use another id", task.id()),
        )
    };
    let recorded = task.read::<Request>().at(Stage::ExistingTask)?.ok_or_else(conflict)?.record;
    // What was found out at admission is not asked again: the chosen profile, and how far the conversation had gone.
    let provider = asked.input.provider.as_ref().unwrap_or(&recorded.provider);
    let predecessor = recorded.prior_session.as_ref().map(|prior| prior.predecessor_task_id);
    if predecessor != asked.input.resume_task
        || asked.request(provider, recorded.prior_session.clone()) != recorded
    {
        return Err(conflict());
    }
    if let Some(submission) = task.read::<Submission>().at(Stage::ExistingTask)? {
        same_supervisor(asked.context, &submission.record)?;
    }
    submit(asked.context, asked.root, task, answer)
}

/// What a lead names of the supervisor must be what is recorded (CLI.md, exit codes).
fn same_supervisor(context: &Context, submission: &Submission) -> Result<(), TurnError> {
    let mismatch = |recorded: &dyn std::fmt::Display| {
        let message = format!("the task was admitted for the supervisor {recorded}");
        Err(TurnError::new(FailureCode::SupervisorMismatch, Stage::ExistingTask, message))
    };
    if context.supervisor_is_explicit && submission.supervisor != context.supervisor {
        return mismatch(&submission.supervisor);
    }
    match (&context.pueue_config, &submission.supervisor_binding) {
        (Some(named), Some(SupervisorBinding::Pueue(recorded))) if *named != recorded.config => {
            mismatch(&format_args!("pueue with the configuration {}", recorded.config))
        }
        _ => Ok(()),
    }
}

fn supervisor_failed(error: &SuperviseError) -> TurnError {
    let (code, stage) = match error {
        SuperviseError::Uncertain { .. } => (FailureCode::TaskSubmissionUncertain, Stage::SubmitTask),
        _ => (FailureCode::SupervisorSetupFailed, Stage::StartSupervisor),
    };
    TurnError::new(code, stage, error.to_string())
}

/// Hands a committed task to its supervisor, unless it has ended, and says where it stands.
fn submit(context: &Context, root: &Root, task: &Task, answer: &mut Answer) -> Result<(), TurnError> {
    answer.admission = Admission::Admitted;
    if task.read::<Outcome>().at(Stage::ExistingTask)?.is_none() {
        observe::owner(context, task)
            .and_then(|supervisor| supervisor.submit(root, task))
            .map_err(|error| supervisor_failed(&error))?;
    }
    observe::fill(context, root, task, Comparison::Nothing, answer)
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

/// The bytes of a record as the store writes them.
pub(crate) fn encoded<R: Record>(record: &R) -> Result<Vec<u8>, TurnError> {
    json::encode(record).map_err(|error| invalid(format!("the request can not be recorded: {error}")))
}

/// The machine id as a digest.
pub(crate) fn machine_id(stage: Stage) -> Result<Sha256Digest, TurnError> {
    let unknown = |why: String| {
        TurnError::new(FailureCode::StateRootUnavailable, stage, format!("this machine's id: {why}"))
    };
    let text = process::machine_id().map_err(|error| unknown(error.to_string()))?;
    text.parse().map_err(|_| unknown("it is malformed".to_owned()))
}
