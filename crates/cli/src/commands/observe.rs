//! Commands on tasks that exist: `status`, `collect`, `wait`, `cancel`.

use std::io;
use std::time::Duration;

use record::answer::Answer;
use record::answers::WaitAnswer;
use record::failure::{FailureCode, Stage};
use record::limits::{ANSWER_MAX_BYTES, WAIT_TASKS_MAX_COUNT};
use turn::Until;

use super::{fail, fitted, follow, print};
use crate::arguments::{Cancel, Collect, Globals, OneTask, Wait};
use crate::context::{self, Setting};
use crate::exit::{self, Exit};
use crate::human;
use crate::{failure::Refusal, output};

/// Opens the surroundings, or prints why not as the answer of `command` on the task.
macro_rules! opened {
    ($globals:expr, $command:literal, $task:expr) => {
        match context::open($globals) {
            Ok(setting) => setting,
            Err(refusal) => return fail($globals, &refusal.answer_on($task, $command)),
        }
    };
}

/// Carries out `status`.
pub(super) fn status(globals: &Globals, arguments: &OneTask) -> io::Result<Exit> {
    let Setting { context, place } = opened!(globals, "status", arguments.task);
    let answer = turn::status(&context, arguments.task);
    print(globals, &answer, || {
        let subject = turn::subject(&context, arguments.task);
        fitted(&human::answer::status(&answer, subject.as_ref(), &place))
    })?;
    Ok(exit::of_look(&answer))
}

/// Carries out `collect`.
pub(super) fn collect(globals: &Globals, arguments: &Collect) -> io::Result<Exit> {
    let Setting { context, place } = opened!(globals, "collect", arguments.task);
    let limit = Some(arguments.watch.duration());
    let answer = follow::one(globals, &context, "collect", arguments.task, limit);
    print(globals, &answer, || {
        let subject = turn::subject(&context, arguments.task);
        fitted(&human::answer::collected(&answer, subject.as_ref(), &place))
    })?;
    Ok(exit::of_watch(&answer))
}

/// Carries out `cancel`. Only with `--watch` does it wait, and does a rejected outcome count.
pub(super) fn cancel(globals: &Globals, arguments: &Cancel) -> io::Result<Exit> {
    let Setting { context, place } = opened!(globals, "cancel", arguments.task);
    let mut answer = turn::cancel(&context, arguments.task, arguments.declare_lost);
    // Whoever ends a task on somebody's word leaves a request behind; the lead's own statement needs none.
    let had_ended = answer.outcome.is_some() && answer.stop.is_none() && !arguments.declare_lost;
    let limit: Option<Duration> = arguments.watch.map(record::Span::duration);
    if answer.failure.is_none() && limit.is_some() {
        let stop = answer.stop;
        answer = follow::one(globals, &context, "cancel", arguments.task, limit);
        answer.stop =
            stop.map(|stop| record::answer::StopView { terminated: answer.outcome.is_some(), ..stop });
    }
    print(globals, &answer, || fitted(&human::answer::status(&answer, None, &place)))?;
    if had_ended && !globals.json {
        output::remark("The task had ended: there was nothing to cancel.");
    }
    Ok(match limit {
        Some(_) => exit::of_watch(&answer),
        None => exit::of_look(&answer),
    })
}

/// Carries out `wait`.
pub(super) fn wait(globals: &Globals, arguments: &Wait) -> io::Result<Exit> {
    let Setting { context, place } = match context::open(globals) {
        Ok(setting) => setting,
        Err(refusal) => return wait_refused(globals, refusal),
    };
    if arguments.tasks.len() > WAIT_TASKS_MAX_COUNT {
        let error = format!("{} tasks at once are at most {WAIT_TASKS_MAX_COUNT}", arguments.tasks.len());
        let refusal = Refusal::correctable(FailureCode::UsageError, Stage::ValidateRequest, error);
        return wait_refused(globals, refusal);
    }
    let until = if arguments.any { Until::Any } else { Until::All };
    let limit = arguments.watch.map(record::Span::duration);
    let answers = follow::many(globals, &context, "wait", &arguments.tasks, until, limit);
    let exit = match until {
        Until::All => exit::of_all(&answers),
        Until::Any => exit::of_any(&answers),
    };
    if globals.json {
        output::json(&in_bounds(answers))?;
    } else {
        output::text(&human::answer::waited(&answers, &place))?;
        answers.iter().for_each(super::complain);
    }
    Ok(exit)
}

/// The answer about those tasks, abridged when it would be longer than an answer may be.
fn in_bounds(answers: Vec<Answer>) -> WaitAnswer {
    let whole = waited(Some(answers));
    // The newline counts too.
    if serde_json::to_vec(&whole).is_ok_and(|line| line.len() < ANSWER_MAX_BYTES) {
        return whole;
    }
    let tasks = whole.tasks.iter().flatten().map(Answer::abridged).collect();
    WaitAnswer { abridged: true, ..waited(Some(tasks)) }
}

fn wait_refused(globals: &Globals, refusal: Refusal) -> io::Result<Exit> {
    if !globals.json {
        return fail(globals, &refusal.answer("wait"));
    }
    let code = refusal.failure.code;
    output::json(&WaitAnswer { failure: Some(refusal.failure), error: Some(refusal.error), ..waited(None) })?;
    Ok(exit::of_failure(code))
}

fn waited(tasks: Option<Vec<Answer>>) -> WaitAnswer {
    WaitAnswer {
        schema_version: 1,
        command: "wait".to_owned(),
        tasks,
        abridged: false,
        failure: None,
        error: None,
    }
}

#[cfg(test)]
mod tests {
    use record::failure::{Failure, NextAction};
    use record::words::{Admission, Liveness, Publication};
    use record::{RootId, TaskId};

    use super::*;

    /// An answer of which every field that an abridged one keeps has its longest word.
    fn longest(error: &str) -> Answer {
        let failure = Failure {
            code: *FailureCode::ALL.iter().max_by_key(|code| code.as_str().len()).unwrap(),
            stage: *Stage::ALL.iter().max_by_key(|stage| stage.as_str().len()).unwrap(),
            next_action: *NextAction::ALL.iter().max_by_key(|action| action.as_str().len()).unwrap(),
        };
        Answer {
            root_id: Some(RootId::from_random([0xff; 16])),
            task_id: Some(TaskId::from_random([0xff; 16])),
            admission: Admission::NotAdmitted,
            liveness: Liveness::Undetermined,
            publication: Publication::Committed,
            status: Some(record::answer::Status::Unsupported),
            pruned: true,
            pending: Some(record::answer::Pending { kind: record::answer::PendingKind::Publication }),
            ..Answer::new("wait").failed(failure, error)
        }
    }

    #[test]
    fn an_answer_about_as_many_tasks_as_may_be_fits() {
        let few = vec![longest("a fault")];
        assert_eq!(in_bounds(few.clone()).tasks.unwrap(), few);
        let many = vec![longest(&"a long fault ".repeat(100)); WAIT_TASKS_MAX_COUNT];
        let answer = in_bounds(many.clone());
        assert!(answer.abridged);
        assert!(serde_json::to_vec(&answer).unwrap().len() < ANSWER_MAX_BYTES);
        let told = &answer.tasks.unwrap()[WAIT_TASKS_MAX_COUNT - 1];
        assert_eq!((told.task_id, told.failure, &told.error), (many[0].task_id, many[0].failure, &None));
    }
}
