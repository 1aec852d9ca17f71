//! Commands on a whole root: `doctor`, `prune`.

use std::io;

use record::RootId;
use record::answer::Answer;
use record::answers::{DoctorAnswer, PruneAnswer};
use record::health::Check;
use record::retention::Retention;
use turn::PruneInput;

use super::fail;
use crate::arguments::{Doctor, Globals, Prune};
use crate::context;
use crate::exit::{self, Exit};
use crate::human::count::Count;
use crate::human::{upkeep, wrap};
use crate::output;

fn checked(root_id: Option<RootId>, checks: Option<Vec<Check>>) -> DoctorAnswer {
    let command = "doctor".to_owned();
    DoctorAnswer { schema_version: 1, command, root_id, checks, failure: None, error: None }
}

fn pruned(root_id: Option<RootId>, retention: Option<Retention>) -> PruneAnswer {
    let command = "prune".to_owned();
    PruneAnswer { schema_version: 1, command, root_id, retention, failure: None, error: None }
}

/// Carries out `doctor`.
pub(super) fn doctor(globals: &Globals, arguments: &Doctor) -> io::Result<Exit> {
    let setting = match context::open(globals) {
        Ok(setting) => setting,
        Err(refusal) => {
            let answer = refusal.answer("doctor");
            if globals.json {
                let (failure, error) = (answer.failure, answer.error.clone());
                output::json(&DoctorAnswer { failure, error, ..checked(None, None) })?;
                return Ok(exit::of_look(&answer));
            }
            return fail(globals, &answer);
        }
    };
    let mut count = Count::on_stderr(globals.json);
    let health = turn::doctor(&setting.context, arguments.repair, &mut |tasks| count.show(tasks));
    drop(count);
    let exit = if health.is_sound() { Exit::Done } else { Exit::Operational };
    if globals.json {
        output::json(&checked(health.root_id, Some(health.checks)))?;
    } else {
        output::text(&upkeep::checks(&health.checks, wrap::columns_of(io::stdout())))?;
    }
    Ok(exit)
}

/// Carries out `prune`.
pub(super) fn prune(globals: &Globals, arguments: &Prune) -> io::Result<Exit> {
    let setting = match context::open(globals) {
        Ok(setting) => setting,
        Err(refusal) => return not_pruned(globals, &refusal.answer("prune")),
    };
    let input =
        PruneInput { older_than: arguments.older_than, dry_run: arguments.dry_run, yes: arguments.yes };
    let mut count = Count::on_stderr(globals.json);
    let done = turn::prune(&setting.context, input, &mut |tasks| count.show(tasks));
    drop(count);
    let (root_id, retention) = match done {
        Ok(done) => done,
        Err(fault) => return not_pruned(globals, &fault.into_answer(Answer::new("prune"))),
    };
    if globals.json {
        output::json(&pruned(Some(root_id), Some(retention)))?;
    } else {
        output::text(&upkeep::retention(&retention))?;
    }
    Ok(Exit::Done)
}

fn not_pruned(globals: &Globals, answer: &Answer) -> io::Result<Exit> {
    if !globals.json {
        return fail(globals, answer);
    }
    let (failure, error) = (answer.failure, answer.error.clone());
    output::json(&PruneAnswer { failure, error, ..pruned(None, None) })?;
    Ok(exit::of_look(answer))
}
