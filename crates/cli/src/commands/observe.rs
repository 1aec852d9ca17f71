//! Commands on tasks that exist: `status`, `collect`, `wait`, `cancel`.

use std::io;
use std::time::Duration;

use record::answer::Answer;
use record::answers::WaitAnswer;
use turn::Until;

use super::{fail, follow, print};
use crate::arguments::{Cancel, Collect, Globals, OneTask, Wait};
use crate::context::{self, Setting};
use crate::exit::{self, Exit};
use crate::human;
use crate::{failure::Refusal, output};

/// Opens the surroundings, or prints why not as the answer of `command`.
macro_rules! opened {
    ($globals:expr, $command:literal) => {
        match context::open($globals) {
            Ok(setting) => setting,
            Err(refusal) => return fail($globals, &refusal.answer($command)),
        }
    };
}

/// Carries out `status`.
pub(super) fn status(globals: &Globals, arguments: &OneTask) -> io::Result<Exit> {
    let Setting { context, place } = opened!(globals, "status");
    let answer = turn::status(&context, arguments.task);
    print(globals, &answer, || {
        let subject = turn::subject(&context, arguments.task);
        human::answer::status(&answer, subject.as_ref(), &place)
    })?;
    Ok(exit::of_look(&answer))
}

/// Carries out `collect`.
pub(super) fn collect(globals: &Globals, arguments: &Collect) -> io::Result<Exit> {
    let Setting { context, place } = opened!(globals, "collect");
    let limit = Some(arguments.watch.duration());
    let answer = follow::one(globals, &context, "collect", arguments.task, limit);
    print(globals, &answer, || {
        let subject = turn::subject(&context, arguments.task);
        human::answer::collected(&answer, subject.as_ref(), &place)
    })?;
    Ok(exit::of_watch(&answer))
}

/// Carries out `cancel`. Only with `--watch` does it wait, and does a rejected outcome count.
pub(super) fn cancel(globals: &Globals, arguments: &Cancel) -> io::Result<Exit> {
    let Setting { context, place } = opened!(globals, "cancel");
    let mut answer = turn::cancel(&context, arguments.task, arguments.declare_lost);
    let limit: Option<Duration> = arguments.watch.map(record::Span::duration);
    if answer.failure.is_none() && limit.is_some() {
        let stop = answer.stop;
        answer = follow::one(globals, &context, "cancel", arguments.task, limit);
        answer.stop =
            stop.map(|stop| record::answer::StopView { terminated: answer.outcome.is_some(), ..stop });
    }
    print(globals, &answer, || human::answer::status(&answer, None, &place))?;
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
    let until = if arguments.any { Until::Any } else { Until::All };
    let limit = arguments.watch.map(record::Span::duration);
    let answers = follow::many(globals, &context, "wait", &arguments.tasks, until, limit);
    let exit = match until {
        Until::All => exit::of_all(&answers),
        Until::Any => exit::of_any(&answers),
    };
    if globals.json {
        output::json(&waited(Some(answers)))?;
    } else {
        output::text(&human::answer::waited(&answers, &place))?;
        answers.iter().for_each(super::complain);
    }
    Ok(exit)
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
    WaitAnswer { schema_version: 1, command: "wait".to_owned(), tasks, failure: None, error: None }
}
