//! Which process holds the supervisor's lock. The lock alone is not enough to rely on: one that was just killed holds it until
//! the kernel has taken it apart, and one that is stopped holds it and does nothing.

use std::thread;
use std::time::Instant;

use process::{Condition, ProcessIdentity};
use store::SupervisorDirectory;

use crate::SuperviseError;
use crate::limits::{ENDED_HOLDER_RHYTHM, ENDING_HOLDER_PATIENCE};

fn holder(directory: &SupervisorDirectory) -> Option<ProcessIdentity> {
    directory.holder()?.parse().ok()
}

/// Whether a supervisor holds the lock that will look again. One that is being ended is waited for, so that the next can take
/// its place.
///
/// # Errors
/// The lock can not be looked at.
pub(super) fn is_served(directory: &SupervisorDirectory) -> Result<bool, SuperviseError> {
    let deadline = Instant::now() + ENDING_HOLDER_PATIENCE;
    while directory.is_locked()? {
        // Who has the lock and has not written its name yet has still to look at everything.
        let Some(holder) = holder(directory) else { return Ok(true) };
        let left = deadline.saturating_duration_since(Instant::now());
        match process::condition(holder) {
            Ok(Condition::Ending) if !left.is_zero() => {
                let _ = process::wait_for_end(holder, left);
            }
            // Its last child may hold a copy of the lock until its exec is done, or the next one has still to write its name.
            // The kernel offers no wait for such a lock that ends by itself.
            Ok(Condition::Gone) if !left.is_zero() => thread::sleep(ENDED_HOLDER_RHYTHM),
            _ => return Ok(true),
        }
    }
    Ok(false)
}

/// The supervisor that holds the lock and is stopped, so that nobody does its work.
pub(super) fn stopped(directory: &SupervisorDirectory) -> Option<ProcessIdentity> {
    let holder = holder(directory)?;
    let is_stopped = matches!(directory.is_locked(), Ok(true))
        && matches!(process::condition(holder), Ok(Condition::Stopped));
    is_stopped.then_some(holder)
}
