//! The named fault points of this room (STATE.md 10). Each stands after the step that it is named for.

/// The supervisor has its lock and has looked at nothing yet.
pub(crate) const LOCK_TAKEN: &str = "supervise.lock.taken";
/// The first scan of `open/` is done and no runner is started.
pub(crate) const SCANNED: &str = "supervise.scanned";
/// A runner was started.
pub(crate) const RUNNER_STARTED: &str = "supervise.runner.started";
/// An idle supervisor released its lock and has not scanned again.
pub(crate) const LOCK_RELEASED: &str = "supervise.lock.released";

/// All points, for tests that kill at each of them.
pub const POINTS: &[&str] = &[LOCK_TAKEN, SCANNED, RUNNER_STARTED, LOCK_RELEASED];
