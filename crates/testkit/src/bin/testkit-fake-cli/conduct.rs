//! Waiting and working without an end. Each has one after all: a failing test leaves nothing for long.

use std::path::Path;
use std::time::{Duration, Instant};

use testkit::limits::LINGER_MAX_SECONDS;

/// How often a file is looked for.
const LOOK_INTERVAL: Duration = Duration::from_millis(5);

/// Does nothing, then ends the process.
pub(crate) fn hang() -> ! {
    std::thread::sleep(Duration::from_secs(LINGER_MAX_SECONDS));
    std::process::exit(1)
}

/// Waits until a file is there.
pub(crate) fn wait_for(path: &Path) {
    let deadline = Instant::now() + Duration::from_secs(LINGER_MAX_SECONDS);
    while !path.exists() && Instant::now() < deadline {
        std::thread::sleep(LOOK_INTERVAL);
    }
}

/// Keeps one processor busy.
pub(crate) fn burn(time: Duration) {
    let deadline = Instant::now() + time.min(Duration::from_secs(LINGER_MAX_SECONDS));
    while Instant::now() < deadline {
        std::hint::spin_loop();
    }
}
