//! Waiting and working without an end. Each has one after all: a failing test leaves nothing for long.

use std::time::{Duration, Instant};

use testkit::limits::LINGER_MAX_SECONDS;

/// Does nothing, then ends the process.
pub(crate) fn hang() -> ! {
    std::thread::sleep(Duration::from_secs(LINGER_MAX_SECONDS));
    std::process::exit(1)
}

/// Keeps one processor busy.
pub(crate) fn burn(time: Duration) {
    let deadline = Instant::now() + time.min(Duration::from_secs(LINGER_MAX_SECONDS));
    while Instant::now() < deadline {
        std::hint::spin_loop();
    }
}
