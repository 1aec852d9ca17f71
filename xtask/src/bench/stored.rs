//! What the number of stored tasks costs.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use record::outcome::Outcome;
use record::{Sha256Digest, TaskId};
use store::Root;

use super::latency::dispatched;
use super::limits::{STORED_FEW_COUNT, STORED_MANY_COUNT};
use super::rounds::{run, take};
use super::table::{Aim, Row};
use super::world::{Lead, SURVEY, World};
use crate::failure::Failure;

/// The files that name others by digest, before those that name them.
const RECORDS: [&str; 8] = [
    "request.json",
    "plan.json",
    "submission.json",
    "launch.json",
    "running.json",
    "session.json",
    "seal.json",
    "outcome.json",
];
/// The files that name no task.
const CONTENT: [&str; 4] = ["brief.md", "result.txt", "raw/stdout", "raw/stderr"];
const JOURNAL: &str = "journal.ndjson";

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

/// Runs one turn and stores so many more like it. The copies are what as many turns would have left: records name the
/// task and each other's digests, so these are replaced; all other bytes are those of the one turn.
fn store(world: &World, lead: &Lead, count: usize) -> Result<(), Failure> {
    let model = store::random_task_id();
    run(lead.dispatch(SURVEY, &world.brief()).args(["--id", &model.to_string()]))?;
    lead.wait_until_idle()?;
    let model = Model::read(lead, model)?;
    let mut journal = String::new();
    let mut last = model.id;
    for _ in 1..count {
        last = store::random_task_id();
        model.write(&lead.task_directory(last), last).map_err(Failure::file(lead.task_directory(last)))?;
        journal.push_str(&model.journal.replace(&model.id.to_string(), &last.to_string()));
    }
    let path = lead.root().join(JOURNAL);
    fs::OpenOptions::new()
        .append(true)
        .open(&path)
        .and_then(|mut file| file.write_all(journal.as_bytes()))
        .map_err(Failure::file(path))?;
    verify(lead, last)
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

/// A finished task.
struct Model {
    id: TaskId,
    records: Vec<(&'static str, String)>,
    content: Vec<(&'static str, Vec<u8>)>,
    journal: String,
}

impl Model {
    fn read(lead: &Lead, id: TaskId) -> Result<Self, Failure> {
        let directory = lead.task_directory(id);
        let bytes = |path: PathBuf| fs::read(&path).map_err(Failure::file(path));
        let text = |path: PathBuf| fs::read_to_string(&path).map_err(Failure::file(path));
        let mut records = Vec::new();
        for name in RECORDS {
            records.push((name, text(directory.join(name))?));
        }
        let mut content = Vec::new();
        for name in CONTENT {
            content.push((name, bytes(directory.join(name))?));
        }
        let journal = text(lead.root().join(JOURNAL))?;
        let journal = journal.split_inclusive('\n').filter(|line| line.contains(&id.to_string())).collect();
        Ok(Self { id, records, content, journal })
    }

    /// Nothing is synced one by one: the caller syncs once.
    fn write(&self, directory: &Path, id: TaskId) -> std::io::Result<()> {
        for name in ["", "output", "raw"] {
            fs::DirBuilder::new().mode(0o700).create(directory.join(name))?;
        }
        write(&directory.join(".run.lock"), b"")?;
        for (name, bytes) in &self.content {
            write(&directory.join(name), bytes)?;
        }
        fs::set_permissions(directory.join("brief.md"), fs::Permissions::from_mode(0o400))?;
        let mut replaced = vec![(self.id.to_string(), id.to_string())];
        for (name, text) in &self.records {
            let copy = replaced.iter().fold(text.clone(), |copy, (old, new)| copy.replace(old, new));
            write(&directory.join(name), copy.as_bytes())?;
            let digest = |text: &str| Sha256Digest::of(text.as_bytes()).to_string();
            replaced.push((digest(text), digest(&copy)));
        }
        Ok(())
    }
}

fn write(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?.write_all(bytes)
}
