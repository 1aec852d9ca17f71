//! Times of a run.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// When a run began.
#[derive(Clone, Copy, Debug)]
pub struct Start {
    /// Seconds since the epoch, by the wall clock.
    pub epoch: u64,
    instant: Instant,
}

impl Start {
    /// Now.
    pub fn now() -> Self {
        Self { epoch: epoch_now(), instant: Instant::now() }
    }

    /// Whole seconds since then, by a clock that nobody sets.
    pub fn elapsed_seconds(&self) -> u64 {
        self.instant.elapsed().as_secs()
    }

    /// The end of the run in seconds since the epoch: never before its start, whatever became of the wall clock.
    pub fn finished_epoch(&self) -> u64 {
        self.epoch + self.elapsed_seconds()
    }
}

/// Seconds since the epoch.
fn epoch_now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |passed| passed.as_secs())
}
