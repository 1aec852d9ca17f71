//! `dispatch` and `continue`: hand over one turn, and follow it when asked to.

use std::io::{self, IsTerminal, Read};
use std::path::Path;

use record::TaskId;
use record::answer::Answer;
use record::failure::{FailureCode, Stage};
use record::limits::BRIEF_MAX_BYTES;
use turn::{BriefSource, ContinueInput, DispatchInput};

use super::{fail, fitted, follow, print};
use crate::arguments::{Continue, Dispatch, Following, Globals};
use crate::context::{self, Place, Setting};
use crate::exit::{self, Exit};
use crate::failure::Refusal;
use crate::human::patience::Patience;
use crate::{human, output};

/// What takes time before a task is there: executables are asked and hashed.
const PREPARING: &str = "preparing the turn";

/// Carries out `dispatch`.
pub(super) fn run(globals: &Globals, arguments: &Dispatch) -> io::Result<Exit> {
    let prepared = context::open(globals).and_then(|setting| Ok((setting, input(arguments)?)));
    let (Setting { context, place }, input) = match prepared {
        Ok(prepared) => prepared,
        Err(refusal) => {
            return fail(globals, &Answer { task_id: arguments.id, ..refusal.answer("dispatch") });
        }
    };
    let mut patience = Some(Patience::on_stderr(globals.json, PREPARING.to_owned()));
    let dispatched = turn::dispatch(&context, input, &mut |id| announce(id, &mut patience));
    drop(patience);
    follow(globals, &context, &place, &arguments.following, dispatched)
}

/// Carries out `continue`.
pub(super) fn go_on(globals: &Globals, arguments: &Continue) -> io::Result<Exit> {
    let prepared = context::open(globals).and_then(|setting| Ok((setting, continue_input(arguments)?)));
    let (Setting { context, place }, input) = match prepared {
        Ok(prepared) => prepared,
        Err(refusal) => {
            let (task_id, parent_task_id) = (arguments.id, Some(arguments.task));
            return fail(globals, &Answer { task_id, parent_task_id, ..refusal.answer("continue") });
        }
    };
    let mut patience = Some(Patience::on_stderr(globals.json, PREPARING.to_owned()));
    let dispatched = turn::continue_task(&context, input, &mut |id| announce(id, &mut patience));
    drop(patience);
    follow(globals, &context, &place, &arguments.following, dispatched)
}

/// Says the id before anything is committed, so that a caller cut off in between can ask for it again.
fn announce(id: TaskId, patience: &mut Option<Patience>) {
    // It would write over the line.
    *patience = None;
    output::remark(&format!("task_id={id}"));
}

/// Prints what was admitted, or follows it to its end when asked to.
fn follow(
    globals: &Globals,
    context: &turn::Context,
    place: &Place,
    following: &Following,
    dispatched: Answer,
) -> io::Result<Exit> {
    let followed = dispatched.task_id.filter(|_| dispatched.failure.is_none() && following.wait);
    let Some(id) = followed else {
        print(globals, &dispatched, || fitted(&human::answer::dispatched(&dispatched, place)))?;
        return Ok(exit::of_look(&dispatched));
    };
    let limit = following.watch.map(record::Span::duration);
    let ended = follow::one(globals, context, &dispatched.command, id, limit);
    follow::conclude(globals, &together(ended, dispatched), place)
}

/// The last answer with what only the first one knew.
pub(super) fn together(ended: Answer, dispatched: Answer) -> Answer {
    Answer {
        task_record: dispatched.task_record,
        parent_task_id: dispatched.parent_task_id,
        capability: dispatched.capability,
        ..ended
    }
}

fn input(arguments: &Dispatch) -> Result<DispatchInput, Refusal> {
    Ok(DispatchInput {
        brief: brief(&arguments.brief)?,
        provider: arguments.provider.clone(),
        cwd: arguments.cwd.clone(),
        id: arguments.id,
        permission: arguments.mode.permission,
        budget: arguments.mode.budget,
        native_timeout: arguments.wishes.native_timeout,
        model: arguments.wishes.model.clone(),
        effort: arguments.wishes.effort.clone(),
        lane: arguments.lane.lane.clone(),
        allow_provisional: arguments.lane.allow_provisional,
        fence: arguments.wishes.fence,
        environment_file: arguments.wishes.env_file.clone(),
        max_output: arguments.max_output,
        first_output: arguments.first_output,
        start_by: arguments.start_by,
        lease_wait: arguments.lease_wait,
        memory: arguments.memory,
        pids: arguments.pids,
        cpus: arguments.cpus,
        resume_task: arguments.resume_task,
        from_earlier: arguments.from_earlier,
    })
}

fn continue_input(arguments: &Continue) -> Result<ContinueInput, Refusal> {
    Ok(ContinueInput {
        task: arguments.task,
        id: arguments.id,
        brief: arguments.brief.as_deref().map(brief).transpose()?,
        budget: arguments.budget,
        model: arguments.wishes.model.clone(),
        effort: arguments.wishes.effort.clone(),
        native_timeout: arguments.wishes.native_timeout,
        fence: arguments.wishes.fence,
        environment_file: arguments.wishes.env_file.clone(),
        from_earlier: arguments.from_earlier,
    })
}

/// The brief named on the command line; `-` is standard input, read here because only this process has it.
pub(super) fn brief(path: &Path) -> Result<BriefSource, Refusal> {
    if path.as_os_str() != "-" {
        return Ok(BriefSource::File(path.to_owned()));
    }
    let stdin = io::stdin();
    if stdin.is_terminal() {
        output::remark("Type the brief; end it with Ctrl-D on a line of its own.");
    }
    let mut bytes = Vec::new();
    // One byte more than allowed, so that a brief that is too large is seen to be.
    let mut bounded = stdin.lock().take(BRIEF_MAX_BYTES + 1);
    match bounded.read_to_end(&mut bytes) {
        Ok(_) => Ok(BriefSource::Bytes(bytes)),
        Err(fault) => Err(Refusal::correctable(
            FailureCode::BriefInvalid,
            Stage::ReadBrief,
            format!("the brief can not be read from standard input: {fault}"),
        )),
    }
}
