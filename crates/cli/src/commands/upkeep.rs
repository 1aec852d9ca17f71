//! Commands on a whole root: `doctor`, `prune`.

use std::io;

use record::RootId;
use record::answer::Answer;
use record::failure::Failure;
use record::health::Check;
use record::retention::Retention;
use serde::Serialize;
use turn::PruneInput;

use super::fail;
use crate::arguments::{Doctor, Globals, Prune};
use crate::context;
use crate::exit::{self, Exit};
use crate::human::count::Count;
use crate::human::upkeep;
use crate::output;

/// The answer of these commands (CLI.md "Other answers").
#[derive(Serialize)]
struct Upkeep<'a> {
    schema_version: u32,
    command: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    root_id: Option<RootId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    checks: Option<&'a [Check]>,
    #[serde(flatten)]
    retention: Option<&'a Retention>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<Failure>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
}

impl Upkeep<'_> {
    fn of(command: &'static str) -> Self {
        let (root_id, checks, retention) = (None, None, None);
        Self { schema_version: 1, command, root_id, checks, retention, failure: None, error: None }
    }
}

/// Carries out `doctor`.
pub(super) fn doctor(globals: &Globals, arguments: &Doctor) -> io::Result<Exit> {
    let setting = match context::open(globals) {
        Ok(setting) => setting,
        Err(refusal) => return refused(globals, "doctor", refusal.answer("doctor")),
    };
    let mut count = Count::on_stderr(globals.json);
    let health = turn::doctor(&setting.context, arguments.repair, &mut |tasks| count.show(tasks));
    drop(count);
    if globals.json {
        output::json(&Upkeep {
            root_id: health.root_id,
            checks: Some(&health.checks),
            ..Upkeep::of("doctor")
        })?;
    } else {
        output::text(&upkeep::checks(&health.checks))?;
    }
    Ok(if health.is_sound() { Exit::Done } else { Exit::Operational })
}

/// Carries out `prune`.
pub(super) fn prune(globals: &Globals, arguments: &Prune) -> io::Result<Exit> {
    let setting = match context::open(globals) {
        Ok(setting) => setting,
        Err(refusal) => return refused(globals, "prune", refusal.answer("prune")),
    };
    let input =
        PruneInput { older_than: arguments.older_than, dry_run: arguments.dry_run, yes: arguments.yes };
    let mut count = Count::on_stderr(globals.json);
    let pruned = turn::prune(&setting.context, input, &mut |tasks| count.show(tasks));
    drop(count);
    let (root_id, retention) = match pruned {
        Ok(pruned) => pruned,
        Err(fault) => return refused(globals, "prune", fault.into_answer(Answer::new("prune"))),
    };
    if globals.json {
        output::json(&Upkeep { root_id: Some(root_id), retention: Some(&retention), ..Upkeep::of("prune") })?;
    } else {
        output::text(&upkeep::retention(&retention))?;
    }
    Ok(Exit::Done)
}

fn refused(globals: &Globals, command: &'static str, answer: Answer) -> io::Result<Exit> {
    if !globals.json {
        return fail(globals, &answer);
    }
    output::json(&Upkeep { failure: answer.failure, error: answer.error.as_deref(), ..Upkeep::of(command) })?;
    Ok(exit::of_look(&answer))
}
