//! Whether the wall clock can be believed: nothing else tells how old a task is (STATE.md 9).

use std::time::Duration;

use record::Timestamp;
use record::launch::{Launch, Running};

use crate::context::now;
use crate::limits::CLOCK_TOLERANCE;
use crate::recover::{Place, where_launched};

/// What records say about the clock.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ClockEvidence {
    newest: Option<Timestamp>,
    /// Of the newest turn of this boot: when it began on the clock that only counts up, and the wall clock at that moment.
    of_this_boot: Option<(Duration, Timestamp)>,
}

impl ClockEvidence {
    /// Takes in a time from a record.
    pub(crate) fn see(&mut self, time: Timestamp) {
        self.newest = self.newest.max(Some(time));
    }

    /// Takes in a turn: in this boot the clock that only counts up tells how much time has really passed since.
    pub(crate) fn see_turn(&mut self, launch: &Launch, running: &Running) {
        self.see(running.started_at);
        let begun = Duration::from_nanos(running.started_boot_nanos);
        if self.of_this_boot.is_none_or(|(known, _)| known < begun) && where_launched(launch) == Place::Here {
            self.of_this_boot = Some((begun, running.started_at));
        }
    }

    /// Takes in what other records say.
    pub(crate) fn join(&mut self, other: &Self) {
        self.newest = self.newest.max(other.newest);
        let begun = |evidence: &Self| evidence.of_this_boot.map(|(begun, _)| begun);
        if begun(other) > begun(self) {
            self.of_this_boot = other.of_this_boot;
        }
    }

    /// What is wrong with the clock, if anything.
    pub(crate) fn complaint(&self) -> Option<String> {
        self.complaint_at(now(), process::boot_clock())
    }

    fn complaint_at(&self, now: Timestamp, boot_clock: Duration) -> Option<String> {
        let tolerance = CLOCK_TOLERANCE.as_nanos() as i128;
        if let Some(newest) = self.newest
            && newest.nanoseconds_since(now) > tolerance
        {
            return Some(format!("the clock shows {now}, and a record was made at {newest}"));
        }
        let (begun, started_at) = self.of_this_boot?;
        let passed = boot_clock.saturating_sub(begun).as_nanos() as i128;
        let step = now.nanoseconds_since(started_at) - passed;
        if step.abs() <= tolerance {
            return None;
        }
        let direction = if step > 0 { "forward" } else { "back" };
        let seconds = step.abs() / 1_000_000_000;
        Some(format!("the clock was set {direction} by {seconds} s since a turn that began at {started_at}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn a_clock_that_agrees_is_believed() {
        assert_eq!(
            ClockEvidence::default().complaint_at(at("2026-01-01T00:00:00.000000000Z"), Duration::ZERO),
            None
        );
        let mut evidence = ClockEvidence::default();
        evidence.see(at("2026-01-01T00:00:00.000000000Z"));
        evidence.of_this_boot = Some((Duration::from_secs(100), at("2026-01-01T00:00:00.000000000Z")));
        assert_eq!(
            evidence.complaint_at(at("2026-01-01T01:00:03.000000000Z"), Duration::from_secs(3700)),
            None
        );
    }

    #[test]
    fn a_clock_behind_a_record_is_not() {
        let mut evidence = ClockEvidence::default();
        evidence.see(at("2026-01-02T00:00:00.000000000Z"));
        evidence.see(at("2026-01-01T00:00:00.000000000Z"));
        let complaint = evidence.complaint_at(at("2026-01-01T12:00:00.000000000Z"), Duration::ZERO).unwrap();
        assert!(complaint.contains("2026-01-02"), "{complaint}");
    }

    #[test]
    fn a_step_since_a_turn_of_this_boot_is_seen_in_both_directions() {
        let evidence = ClockEvidence {
            newest: None,
            of_this_boot: Some((Duration::from_secs(100), at("2026-01-01T00:00:00.000000000Z"))),
        };
        for (now, word) in
            [("2027-01-01T00:00:00.000000000Z", "forward"), ("2025-12-31T23:00:00.000000000Z", "back")]
        {
            let complaint = evidence.complaint_at(at(now), Duration::from_secs(200)).unwrap();
            assert!(complaint.contains(word), "{complaint}");
        }
    }
}
