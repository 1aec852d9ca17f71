//! A line on standard error now and then, so that whoever waits sees that the run lives (runners.md 3.8).

use std::time::{Duration, Instant};

use super::events::Events;
use crate::common::child::Stream;
use crate::common::family::Family;
use crate::common::program::say;

/// Says how long, how many events, and which tool was called last; nothing else of the stream.
#[derive(Debug)]
pub(super) struct Heartbeat {
    family: &'static Family,
    interval: Duration,
    start: Instant,
    last: Instant,
}

impl Heartbeat {
    pub(super) fn new(family: &'static Family, interval: Duration) -> Self {
        let now = Instant::now();
        Self { family, interval, start: now, last: now }
    }

    /// Called several times a second.
    pub(super) fn beat(&mut self, stdout: &Stream) {
        if self.last.elapsed() < self.interval {
            return;
        }
        self.last = Instant::now();
        let events = Events::read(&stdout.read().unwrap_or_default());
        let tool = events.last_tool.map_or_else(String::new, |tool| format!(", last tool {tool}"));
        say(self.family, &format!("{} s, {} events{tool}", self.start.elapsed().as_secs(), events.total));
    }
}
