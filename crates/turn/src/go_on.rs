//! `continue`: a new task on the conversation of its predecessor (CLI.md).

use std::path::PathBuf;

use record::answer::{Answer, Continuation, TaskRecord};
use record::failure::Stage;
use record::words::{Admission, ContinuationMode, Fence};
use record::{Span, TaskId};
use store::{Root, StoreError};

use crate::admit;
use crate::asked::{BriefSource, DispatchInput};
use crate::context::Context;
use crate::continuation;
use crate::error::{At, TurnError};

/// What a lead asks for with `continue`; what is absent is taken over from the predecessor (CLI.md `continue`).
#[derive(Clone, Debug)]
pub struct ContinueInput {
    /// The predecessor.
    pub task: TaskId,
    /// The new task's id; random when absent.
    pub id: Option<TaskId>,
    /// The brief; the predecessor's own, sent again, when absent.
    pub brief: Option<BriefSource>,
    /// Wall-clock budget.
    pub budget: Option<Span>,
    /// The model.
    pub model: Option<String>,
    /// The effort.
    pub effort: Option<String>,
    /// Time limit handed to the CLI itself.
    pub native_timeout: Option<Span>,
    /// The fence.
    pub fence: Option<Fence>,
    /// File of secret environment values.
    pub environment_file: Option<PathBuf>,
    /// Whether to go on from a predecessor after which the conversation has already gone on.
    pub from_earlier: bool,
}

/// Admits a new task on the conversation of its predecessor, with the predecessor's provider, mode, workspace and limits.
pub fn continue_task(context: &Context, input: ContinueInput, announce: &mut dyn FnMut(TaskId)) -> Answer {
    let (parent, id) = (input.task, input.id);
    let mut answer = match inherit(context, input) {
        Ok(input) => admit::answer_to("continue", context, input, announce),
        Err(error) => error.into_answer(not_asked_for(context, id)),
    };
    answer.parent_task_id = Some(parent);
    answer.continuation.get_or_insert(Continuation {
        resumable: answer.failure.is_none(),
        mode: ContinuationMode::Native,
        predecessor_task_id: Some(parent),
        continue_command: None,
        reason: answer.error.clone(),
    });
    answer
}

/// What is known of the new task when nothing could be asked for. Its id may have a task from an earlier call.
fn not_asked_for(context: &Context, id: Option<TaskId>) -> Answer {
    let mut answer = Answer::new("continue");
    answer.task_id = id;
    answer.task_record = Some(match id.map(|id| Root::open(&context.root).and_then(|root| root.task(id))) {
        None | Some(Ok(None) | Err(StoreError::NotFound { .. })) => TaskRecord::NotCreated,
        Some(Ok(Some(_))) => {
            answer.admission = Admission::Admitted;
            TaskRecord::Created
        }
        Some(Err(_)) => TaskRecord::Unknown,
    });
    answer
}

fn inherit(context: &Context, input: ContinueInput) -> Result<DispatchInput, TurnError> {
    let root = Root::open(&context.root).at(Stage::OpenState)?;
    let request = continuation::request_of(&root, input.task)?;
    let brief = match input.brief {
        Some(brief) => brief,
        None => BriefSource::Bytes(continuation::brief_of(&root, input.task)?),
    };
    let config = request.requested_config;
    let budget = input.budget.unwrap_or(config.budget);
    Ok(DispatchInput {
        provider: Some(request.provider),
        brief,
        cwd: request.canonical_cwd.to_path_buf(),
        id: input.id,
        permission: config.permission,
        budget,
        native_timeout: input
            .native_timeout
            .or_else(|| config.native_timeout.map(|timeout| timeout.min(budget))),
        model: input.model.or(config.model),
        effort: input.effort.or(config.effort),
        lane: config.lane,
        allow_provisional: config.allow_provisional,
        fence: input.fence.or(request.fence),
        environment_file: input
            .environment_file
            .or_else(|| request.environment_file.map(|path| path.to_path_buf())),
        max_output: request.limits.max_output_bytes,
        first_output: request.limits.first_output,
        start_by: request.limits.start_by,
        lease_wait: request.limits.lease_wait,
        memory: request.limits.memory_bytes,
        pids: request.limits.pids,
        cpus: request.limits.cpus,
        resume_task: Some(input.task),
        from_earlier: input.from_earlier,
    })
}
