//! The journal: derived from the records, and made again from them (STATE.md 9).

use record::event::{Event, EventKind};
use record::health::{Check, CheckStatus};
use record::launch::{Launch, StopRequest};
use record::outcome::Outcome;
use record::request::Request;
use record::retention::Pruned;
use record::seal::Seal;
use record::submission::Submission;
use record::{TaskId, Timestamp};
use store::{JournalRebuild, Rebuilt, Root, StoreError, Task, TaskEntry};

use super::REPAIR;
use super::records::{Census, EventCounts, failed_step};

const ID: &str = "journal";

/// Whether the journal can be read and tells everything that the records tell. Read after them, so that what they tell of must
/// be in it.
pub(super) fn check(root: &Root, census: &Census, repair: bool) -> Check {
    let complaint = match complaint(root, census) {
        Ok(None) => return Check::new(ID, CheckStatus::Ok, "tells what the records tell"),
        Ok(Some(complaint)) => complaint,
        Err(error) if error.is_damage() => (CheckStatus::Failed, error.to_string()),
        Err(error) => return failed_step(ID, &error),
    };
    let (status, words) = complaint;
    if !repair {
        return Check::new(ID, status, words).with_fix(REPAIR);
    }
    match rebuild(root) {
        Ok(Rebuilt { events, aside }) => {
            let aside = aside.map(|path| format!("; what stood there is now {}", path.display()));
            let aside = aside.unwrap_or_default();
            Check::new(
                ID,
                CheckStatus::Ok,
                format!("made again with {events} events; it was: {words}{aside}"),
            )
        }
        Err(error) => {
            Check::new(ID, CheckStatus::Failed, format!("{words}; it can not be made again: {error}"))
        }
    }
}

fn complaint(root: &Root, census: &Census) -> Result<Option<(CheckStatus, String)>, StoreError> {
    let mut told = EventCounts::default();
    let mut skipped = 0;
    if let Some(mut reader) = root.journal().read_from(None)? {
        for line in &mut reader {
            told.add(line?.event.event);
        }
        skipped = reader.skipped();
    }
    let missing = census.events.missing_in(&told);
    Ok(match (missing, skipped) {
        (0, 0) => None,
        _ => Some((
            CheckStatus::Warning,
            format!(
                "{missing} events of which records tell are not in it; {skipped} lines of it are no events"
            ),
        )),
    })
}

fn rebuild(root: &Root) -> Result<Rebuilt, StoreError> {
    let mut rebuild = root.journal().begin_rebuild()?;
    for entry in root.task_entries()? {
        // What can not be read tells of nothing, and is a finding of its own.
        if let TaskEntry::Task(id) = entry?
            && let Ok(Some(task)) = root.task(id)
        {
            tell(&mut rebuild, &task);
        }
    }
    rebuild.finish()
}

fn tell(rebuild: &mut JournalRebuild, task: &Task) {
    let mut add = |at: Timestamp, event, detail| rebuild.add(told(at, task.id(), event, detail));
    let sealed = task.read::<Seal>().ok().flatten();
    if let Ok(Some(submission)) = task.read::<Submission>() {
        let provider =
            task.read::<Request>().ok().flatten().map(|request| request.record.provider.to_string());
        add(submission.record.admitted_at, EventKind::Admitted, provider);
    }
    if let Ok(Some(launch)) = task.read::<Launch>() {
        add(launch.record.created_at, EventKind::Launched, None);
    }
    if let Ok(Some(stop)) = task.read::<StopRequest>() {
        add(stop.record.requested_at, EventKind::StopRequested, None);
    }
    if let Some(seal) = &sealed {
        add(seal.record.sealed_at, EventKind::Sealed, None);
    }
    // An outcome has no clock; it is made right after the seal.
    if let (Ok(Some(outcome)), Some(seal)) = (task.read::<Outcome>(), &sealed) {
        let reason = outcome.record.reason.code.as_str().to_owned();
        add(seal.record.sealed_at, EventKind::Published, Some(reason));
    }
    if let Ok(Some(pruned)) = task.read::<Pruned>() {
        add(pruned.record.pruned_at, EventKind::Pruned, None);
    }
}

fn told(at: Timestamp, task_id: TaskId, event: EventKind, detail: Option<String>) -> Event {
    Event { at, task_id, event, detail }
}
