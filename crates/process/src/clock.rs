//! The clock that budgets are measured on.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// Time since boot, the time asleep included (`CLOCK_BOOTTIME`): deadlines on it survive a suspended machine and a
/// changed wall clock (STATE.md, top).
pub fn boot_clock() -> Duration {
    let now = clock_gettime(ClockId::Boottime);
    Duration::new(u64::try_from(now.tv_sec).unwrap_or(0), u32::try_from(now.tv_nsec).unwrap_or(0))
}
