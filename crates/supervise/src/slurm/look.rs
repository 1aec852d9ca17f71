//! Jobs as this process saw them last: a command that watches many tasks asks once for all, and seldom.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use record::{AbsolutePath, Timestamp};

use super::client::Client;
use super::states::Job;
use crate::limits::{SLURM_LONG_VIEW_MAX_AGE, SLURM_VIEW_MAX_AGE, SLURM_VIEW_MAX_TIME};

/// One answer, `None` when there was none.
struct Look {
    at: Instant,
    jobs: Option<Vec<Job>>,
}

impl Look {
    fn is_fresh(&self, max_age: Duration) -> bool {
        self.at.elapsed() < max_age
    }
}

/// By configuration, since a root may hold tasks of several clusters; the accounts by name of the job, too.
#[derive(Default)]
struct Looks {
    queues: HashMap<Option<AbsolutePath>, Look>,
    accounts: HashMap<(Option<AbsolutePath>, String), Look>,
}

static LOOKS: Mutex<Option<Looks>> = Mutex::new(None);

/// The jobs of that name, at most a moment ago; `None` when the controller could not be asked.
pub(super) fn jobs(client: &Client, name: &str) -> Option<Vec<Job>> {
    let mut guard = LOOKS.lock().unwrap_or_else(PoisonError::into_inner);
    let queues = &mut guard.get_or_insert_default().queues;
    let key = client.config().cloned();
    let is_fresh = |look: &&Look| {
        let was_asked = look.jobs.is_some();
        look.is_fresh(if was_asked { SLURM_VIEW_MAX_AGE } else { SLURM_LONG_VIEW_MAX_AGE })
    };
    if queues.get(&key).filter(is_fresh).is_none() {
        let jobs = client.clone().within(SLURM_VIEW_MAX_TIME).jobs().ok();
        queues.insert(key.clone(), Look { at: Instant::now(), jobs });
    }
    let jobs = queues.get(&key)?.jobs.as_ref()?;
    Some(jobs.iter().filter(|job| job.name == name).cloned().collect())
}

/// Forgets what was seen: something was changed since.
pub(super) fn forget() {
    *LOOKS.lock().unwrap_or_else(PoisonError::into_inner) = None;
}

/// The jobs of that name in the accounting, for one that the controller has forgotten; `None` where there is none.
pub(super) fn accounted(client: &Client, name: &str, since: Timestamp) -> Option<Vec<Job>> {
    let mut guard = LOOKS.lock().unwrap_or_else(PoisonError::into_inner);
    let accounts = &mut guard.get_or_insert_default().accounts;
    let key = (client.config().cloned(), name.to_owned());
    if accounts.get(&key).filter(|look| look.is_fresh(SLURM_LONG_VIEW_MAX_AGE)).is_none() {
        let jobs = client.clone().within(SLURM_VIEW_MAX_TIME).accounted(name, since).ok();
        accounts.insert(key.clone(), Look { at: Instant::now(), jobs });
    }
    let jobs = accounts.get(&key)?.jobs.as_ref()?;
    Some(jobs.iter().filter(|job| job.name == name).cloned().collect())
}
