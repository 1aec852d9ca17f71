//! What a command that looks at every task shows meanwhile, on standard error.

use std::io::{self, IsTerminal, Write};
use std::time::Instant;

use super::amount;
use crate::limits::{COUNT_INTERVAL, PROGRESS_INTERVAL};

/// Shows a count now and then, until it is dropped, which leaves the terminal's line empty.
pub(crate) struct Count {
    is_silent: bool,
    is_terminal: bool,
    is_shown: bool,
    last: Instant,
}

impl Count {
    /// A count for a person; none when the command speaks JSON.
    pub(crate) fn on_stderr(json: bool) -> Self {
        let is_terminal = io::stderr().is_terminal();
        Self { is_silent: json, is_terminal, is_shown: false, last: Instant::now() }
    }

    /// Takes in how many tasks were looked at. That nobody can see it is no fault.
    pub(crate) fn show(&mut self, tasks: u64) {
        let interval = if self.is_terminal { COUNT_INTERVAL } else { PROGRESS_INTERVAL };
        if self.is_silent || self.last.elapsed() < interval {
            return;
        }
        let words = format!("{} looked at", amount::of(tasks, "task", "tasks"));
        let mut stderr = io::stderr().lock();
        let _ = if self.is_terminal {
            stderr.write_all(format!("\r{words}\x1b[K").as_bytes())
        } else {
            stderr.write_all(format!("{words}\n").as_bytes())
        };
        self.is_shown = true;
        self.last = Instant::now();
    }
}

impl Drop for Count {
    fn drop(&mut self) {
        if self.is_shown && self.is_terminal {
            let _ = write!(io::stderr().lock(), "\r\x1b[K");
        }
    }
}
