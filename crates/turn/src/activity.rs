//! What a running turn does: its events in words, and whether anything moves. An observation; nothing acts on it.

use std::time::Duration;

use process::TreeUsage;
use record::activity::{Activity, Diagnosis, LastEvent};
use record::launch::{Launch, Running};
use record::request::Request;
use store::Task;

use crate::context::now;
use crate::limits::{ACTIVITY_TAIL_MAX_BYTES, MOVEMENT_MIN_SHARE, MOVEMENT_SAMPLE, SILENCE};
use crate::recover::{Place, where_launched};
use crate::{containment, launch, streams};

/// What a look is compared with, to see whether a silent turn uses the processor.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Comparison<'a> {
    /// With nothing.
    Nothing,
    /// With an earlier look.
    With(&'a Activity),
    /// With another look a moment later, when the turn seems silent.
    Sample,
}

impl<'a> Comparison<'a> {
    /// With an earlier look, if there was one.
    pub(crate) fn of(before: Option<&'a Activity>) -> Self {
        before.map_or(Self::Nothing, Self::With)
    }
}

/// What a running turn does, as far as it can be seen from here.
pub(crate) fn observe(task: &Task, comparison: Comparison<'_>) -> Option<Activity> {
    let running = task.read::<Running>().ok().flatten()?.record;
    let request = task.read::<Request>().ok().flatten()?.record;
    let profile = provider::catalogue().get(&request.provider)?;
    let is_here = task
        .read::<Launch>()
        .ok()
        .flatten()
        .is_some_and(|launch| where_launched(&launch.record) == Place::Here);
    let elapsed = elapsed(&running, is_here);
    let budget = running.deadline_boot_nanos.saturating_sub(running.started_boot_nanos);
    let remaining = Duration::from_nanos(budget).as_secs_f64() - elapsed.as_secs_f64();
    let stdout_age = streams::raw_age(task, "stdout");
    let idle = [stdout_age, streams::raw_age(task, "stderr")].into_iter().flatten().min();
    let mut summariser = profile.summariser();
    if let Some(tail) = streams::raw_tail(task, "stdout", ACTIVITY_TAIL_MAX_BYTES) {
        summariser.feed(&tail);
    }
    let summary = summariser.summary();
    let usage =
        || is_here.then(|| containment::tree(task, launch::identity(&running)).usage().ok()).flatten();
    let found = usage();
    let idle = idle.unwrap_or(elapsed);
    let is_silent = idle > SILENCE && found.is_none_or(|found| found.since_youngest > SILENCE);
    let moves = !is_silent
        || match (comparison, found) {
            (Comparison::With(before), Some(found)) => has_moved(
                (before.descendants, before.cpu_seconds.unwrap_or_default()),
                found,
                elapsed.as_secs_f64() - before.elapsed_seconds,
            ),
            (Comparison::Sample, Some(found)) => {
                std::thread::sleep(MOVEMENT_SAMPLE);
                let before = (Some(descendants(found)), found.cpu.as_secs_f64());
                let time = (self::elapsed(&running, is_here) - elapsed).as_secs_f64();
                usage().is_some_and(|later| has_moved(before, later, time))
            }
            (Comparison::Nothing, _) | (_, None) => false,
        };
    Some(Activity {
        elapsed_seconds: elapsed.as_secs_f64(),
        budget_remaining_seconds: remaining,
        diagnosis: diagnosis(&summary, moves),
        last_event: summary.last_event.map(|(kind, words)| LastEvent {
            kind,
            summary: words,
            age_seconds: stdout_age.unwrap_or(elapsed).as_secs_f64(),
        }),
        stdout_bytes: streams::raw_size(task, "stdout").unwrap_or(0),
        stderr_bytes: streams::raw_size(task, "stderr").unwrap_or(0),
        idle_seconds: idle.as_secs_f64(),
        descendants: found.map(descendants),
        cpu_seconds: found.map(|found| found.cpu.as_secs_f64()),
    })
}

fn elapsed(running: &Running, is_here: bool) -> Duration {
    if is_here {
        return process::boot_clock().saturating_sub(Duration::from_nanos(running.started_boot_nanos));
    }
    // The clock since boot of another machine says nothing here.
    let since = now().nanoseconds_since(running.started_at);
    Duration::from_nanos(u64::try_from(since).unwrap_or(0))
}

fn descendants(usage: TreeUsage) -> u32 {
    usage.processes.saturating_sub(1)
}

/// Whether processes came or went, or used the processor, since a look that saw so many of them and so much processor time.
fn has_moved(before: (Option<u32>, f64), now: TreeUsage, seconds: f64) -> bool {
    let used = now.cpu.as_secs_f64() - before.1;
    before.0.is_some_and(|count| count != descendants(now)) || used >= seconds * MOVEMENT_MIN_SHARE
}

fn diagnosis(summary: &provider::Summary, moves: bool) -> Diagnosis {
    match (summary.events, &summary.tool, moves) {
        (0, _, true) => Diagnosis::Starting,
        (_, Some(_), true) => Diagnosis::ToolRunning,
        (_, Some(_), false) => Diagnosis::ToolSilent,
        (_, None, true) => Diagnosis::ModelWorking,
        (_, None, false) => Diagnosis::Waiting,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(processes: u32, cpu_milliseconds: u64) -> TreeUsage {
        let cpu = Duration::from_millis(cpu_milliseconds);
        TreeUsage { processes, cpu, since_youngest: Duration::from_secs(60) }
    }

    #[test]
    fn processor_time_and_processes_are_movement() {
        assert!(!has_moved((Some(1), 4.0), usage(2, 4_000), 0.25));
        assert!(!has_moved((Some(1), 4.0), usage(2, 4_020), 0.25));
        assert!(has_moved((Some(1), 4.0), usage(2, 4_030), 0.25));
        assert!(has_moved((Some(1), 4.0), usage(3, 4_000), 0.25));
        // What an orphan had used goes with it.
        assert!(!has_moved((Some(1), 4.0), usage(2, 1_000), 0.25));
    }

    #[test]
    fn every_turn_has_one_word() {
        let summary = |events, tool: Option<&str>| provider::Summary {
            events,
            tool: tool.map(str::to_owned),
            ..provider::Summary::default()
        };
        for (events, tool, moves, word) in [
            (0, None, true, Diagnosis::Starting),
            (0, None, false, Diagnosis::Waiting),
            (3, None, true, Diagnosis::ModelWorking),
            (3, None, false, Diagnosis::Waiting),
            (3, Some("ls"), true, Diagnosis::ToolRunning),
            (3, Some("ls"), false, Diagnosis::ToolSilent),
        ] {
            assert_eq!(diagnosis(&summary(events, tool), moves), word);
        }
    }
}
