//! All tasks, one after the other: memory does not grow with their number but for their markers.

use record::TaskId;
use record::event::EventKind;
use record::health::{Check, CheckStatus};
use record::outcome::Outcome;
use record::request::PriorSession;
use store::{Root, StoreError, TaskEntry};

use super::{Findings, task, undetermined};
use crate::clock::ClockEvidence;

/// What all tasks together show.
#[derive(Debug, Default)]
pub(super) struct Census {
    tasks: u64,
    damaged: Findings,
    known_damaged: Findings,
    foreign: Findings,
    clock: ClockEvidence,
    /// Why the tasks could not all be listed.
    unlisted: Option<String>,
    /// Tasks that have neither outcome nor marker.
    pub(super) unmarked: Vec<TaskId>,
    /// Tasks that go on with a conversation which does not name them.
    pub(super) unclaimed: Vec<(TaskId, PriorSession)>,
    /// Why the claims on conversations could not be looked at.
    pub(super) unread_claims: Findings,
    /// Turns that were launched to write, and may still do so.
    pub(super) writers: u64,
    /// How many events of each kind the records tell of.
    pub(super) events: EventCounts,
}

/// How many events there are of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct EventCounts([u64; EventKind::ALL.len()]);

impl EventCounts {
    /// Counts one.
    pub(super) fn add(&mut self, kind: EventKind) {
        self.0[kind as usize] += 1;
    }

    /// How many of these are not in `others`, kind by kind.
    pub(super) fn missing_in(&self, others: &Self) -> u64 {
        self.0.iter().zip(others.0).map(|(here, there)| here.saturating_sub(there)).sum()
    }
}

/// Looks at every task.
pub(super) fn take(root: &Root, progress: &mut dyn FnMut(u64)) -> Census {
    let mut census = Census::default();
    let listed = root.task_entries().and_then(|entries| {
        for entry in entries {
            match entry? {
                TaskEntry::Task(id) => {
                    census.add(root, id);
                    progress(census.tasks);
                }
                TaskEntry::Foreign(name) => census.foreign.add(name),
            }
        }
        Ok(())
    });
    census.unlisted = listed.err().map(|error: StoreError| error.to_string());
    census
}

impl Census {
    /// Whether it is certain that no turn writes into a workspace.
    pub(super) fn nobody_writes(&self) -> bool {
        self.unlisted.is_none() && self.writers == 0
    }

    fn add(&mut self, root: &Root, id: TaskId) {
        let examined = task::examine(root, id);
        self.tasks += 1;
        let known = if examined.is_known { &mut self.known_damaged } else { &mut self.damaged };
        examined.damage.into_iter().for_each(|damage| known.add(damage));
        examined.events.into_iter().for_each(|event| self.events.add(event));
        self.clock.join(&examined.clock);
        self.writers += u64::from(examined.may_write);
        if let Some(prior) = examined.prior {
            match root.has_claim(&prior.provider, &prior.conversation_id, id) {
                Ok(true) => {}
                Ok(false) => self.unclaimed.push((id, prior)),
                Err(error) => self.unread_claims.add(error.to_string()),
            }
        }
        if examined.is_open && is_unmarked(root, id) {
            self.unmarked.push(id);
        }
    }

    /// The checks of the records and of the clock.
    pub(super) fn checks(&self) -> Vec<Check> {
        let mut checks = Vec::new();
        checks.push(match &self.unlisted {
            Some(why) => Check::new("records", CheckStatus::Failed, why),
            None if self.damaged.count > 0 => Check::new(
                "records",
                CheckStatus::Failed,
                format!("{} tasks; {} records or files are damaged", self.tasks, self.damaged.count),
            )
            .with_fix("restore them from a copy; nothing here can make them again"),
            None => Check::new("records", CheckStatus::Ok, format!("tasks: {}, each whole", self.tasks)),
        });
        checks.extend(self.damaged.checks("damaged", CheckStatus::Failed));
        checks.extend(self.known_damaged.checks("known_damaged", CheckStatus::Warning));
        checks.extend(self.foreign.checks("foreign", CheckStatus::Warning));
        checks.push(match self.clock.complaint() {
            None => Check::new("clock", CheckStatus::Ok, "agrees with the records"),
            Some(complaint) => Check::new("clock", CheckStatus::Warning, complaint)
                .with_fix("set the clock; until then prune needs --yes"),
        });
        checks
    }
}

/// Whether a task has no marker. It may have ended since it was found open, and the marker have gone with that.
fn is_unmarked(root: &Root, id: TaskId) -> bool {
    let has_no_outcome = || {
        root.task(id).is_ok_and(|task| task.is_some_and(|task| matches!(task.read::<Outcome>(), Ok(None))))
    };
    matches!(root.open_marker_age(id), Ok(None)) && has_no_outcome()
}

/// Whether a task that is there has its outcome; an error when that can not be told.
pub(super) fn has_outcome(root: &Root, id: TaskId) -> Result<Option<bool>, StoreError> {
    match root.task(id)? {
        None => Ok(None),
        Some(task) => Ok(Some(task.read::<Outcome>()?.is_some())),
    }
}

/// The check of a step that could not be done.
pub(super) fn failed_step(id: &str, error: &StoreError) -> Check {
    match error {
        StoreError::ReadOnly { .. } => Check::new(id, CheckStatus::Warning, error.to_string()),
        error if error.is_damage() => Check::new(id, CheckStatus::Failed, error.to_string()),
        error => undetermined(id, error),
    }
}
