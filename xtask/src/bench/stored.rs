//! What the number of stored tasks costs.

use record::TaskId;
use record::outcome::Outcome;
use store::Root;
use testkit::stored::StoredTask;

use super::latency::dispatched;
use super::limits::{STORED_FEW_COUNT, STORED_MANY_COUNT};
use super::rounds::{run, take};
use super::table::{Aim, Row};
use super::world::{Lead, SURVEY, World};
use crate::failure::Failure;

/// Dispatch to a root with few stored tasks and to one with many.
pub(super) fn measure(world: &World, samples: usize) -> Result<Vec<Row>, Failure> {
    let (few, many) = (world.lead("few"), world.lead("many"));
    store(world, &few, STORED_FEW_COUNT)?;
    store(world, &many, STORED_MANY_COUNT)?;
    // Else the new files would be written back while samples are taken.
    rustix::fs::sync();
    let mut taken =
        take(samples, vec![dispatched(world, &few, SURVEY), dispatched(world, &many, SURVEY)])?.into_iter();
    let mut next = || taken.next().expect("one for each subject");
    let (few, many) = (next(), next());
    Ok(vec![Row {
        what: format!("`dispatch` with {STORED_MANY_COUNT} stored tasks"),
        ours: many,
        peer: format!("the same with {STORED_FEW_COUNT}"),
        peers: Ok(few),
        aim: None::<Aim>,
    }])
}

/// Runs one turn and stores more like it until there are so many; returns the turn that others are copies of.
pub(super) fn store(world: &World, lead: &Lead, count: usize) -> Result<StoredTask, Failure> {
    let model = store::random_task_id();
    run(lead.dispatch(SURVEY, &world.brief()).args(["--id", &model.to_string()]))?;
    lead.wait_until_idle()?;
    let model = StoredTask::read(lead.root(), &model.to_string()).map_err(Failure::file(lead.root()))?;
    store_more(lead, &model, count - 1)?;
    Ok(model)
}

/// Stores so many more tasks like one; returns the last of them.
pub(super) fn store_more(lead: &Lead, model: &StoredTask, count: usize) -> Result<TaskId, Failure> {
    let copies = model.copy(count).map_err(Failure::file(lead.root()))?;
    let last = copies.last().and_then(|id| id.parse().ok());
    let last = last.ok_or_else(|| Failure::Other("nothing was stored".to_owned()))?;
    verify(lead, last)?;
    Ok(last)
}

/// A copy must be a task to the store and to `delegate`, which check identity and digests.
fn verify(lead: &Lead, id: TaskId) -> Result<(), Failure> {
    let other = |error: String| Failure::Other(format!("a stored task is not valid: {error}"));
    let path = lead.root().to_string_lossy().parse().map_err(|error| other(format!("{error}")))?;
    let root = Root::open(&path).map_err(|error| other(error.to_string()))?;
    let task = root.task(id).map_err(|error| other(error.to_string()))?;
    let task = task.ok_or_else(|| other("it is not there".to_owned()))?;
    let outcome = task.read::<Outcome>().map_err(|error| other(error.to_string()))?;
    outcome.ok_or_else(|| other("it has no outcome".to_owned()))?;
    run(&mut lead.delegate(["collect", &id.to_string()]))
}
