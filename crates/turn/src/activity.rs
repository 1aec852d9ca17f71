//! What a running turn does: its events in words, and whether anything moves. An observation; nothing acts on it.

use std::time::Duration;

use process::{Tree, TreeUsage};
use record::activity::{Activity, Diagnosis, LastEvent};
use record::launch::{Launch, Running};
use record::request::Request;
use store::Task;

use crate::context::now;
use crate::limits::{
    ACTIVITY_TAIL_MAX_BYTES, MOVEMENT_MIN_SHARE, MOVEMENT_SAMPLE, MOVEMENT_SAMPLES_COUNT, SILENCE,
};
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
    let is_here = is_here(task);
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
    let process = is_here.then(|| containment::tree(task, launch::identity(&running)));
    let found = process.as_ref().and_then(|tree| tree.usage().ok());
    let idle = idle.unwrap_or(elapsed);
    let has_tool =
        summary.tool.is_some() || (summary.hides_tools && found.is_some_and(|found| found.processes > 1));
    let speaks = idle <= SILENCE && !summary.heartbeat;
    let moves = speaks
        || process.zip(found).is_some_and(|(tree, found)| {
            let age = elapsed.as_secs_f64();
            is_alive(&tree, found, has_tool) || uses_processor(&tree, found, age, comparison)
        });
    Some(Activity {
        elapsed_seconds: elapsed.as_secs_f64(),
        budget_remaining_seconds: remaining,
        diagnosis: diagnosis(summary.events, has_tool, moves),
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

fn is_here(task: &Task) -> bool {
    let launch = task.read::<Launch>().ok().flatten();
    launch.is_some_and(|launch| where_launched(&launch.record) == Place::Here)
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

/// Whether a process began a short time ago, or data came in: for a model at the CLI itself, for a tool elsewhere. Some CLIs
/// print nothing before a message is complete.
fn is_alive(tree: &Tree, found: TreeUsage, has_tool: bool) -> bool {
    let is_recent = |age: Option<Duration>| age.is_some_and(|age| age <= SILENCE);
    is_recent(Some(found.since_youngest))
        || tree.reception().is_ok_and(|reception| {
            is_recent(if has_tool { reception.at_descendants } else { reception.at_child })
        })
}

/// Whether a turn uses the processor, against an earlier look or one a moment later.
fn uses_processor(tree: &Tree, found: TreeUsage, elapsed: f64, comparison: Comparison<'_>) -> bool {
    match comparison {
        Comparison::Nothing => false,
        Comparison::With(before) => {
            let then = (before.descendants, before.cpu_seconds.unwrap_or_default());
            has_moved(then, found, elapsed - before.elapsed_seconds)
        }
        Comparison::Sample => {
            let then = (Some(descendants(found)), found.cpu.as_secs_f64());
            // A look may fall between two processes that live for a moment only.
            (1..=MOVEMENT_SAMPLES_COUNT).any(|count| {
                std::thread::sleep(MOVEMENT_SAMPLE);
                // Only over the whole time: the processor clock ticks too slowly for one part of it.
                let seconds = match count {
                    MOVEMENT_SAMPLES_COUNT => (MOVEMENT_SAMPLE * count).as_secs_f64(),
                    _ => f64::INFINITY,
                };
                tree.usage()
                    .is_ok_and(|later| later.since_youngest <= SILENCE || has_moved(then, later, seconds))
            })
        }
    }
}

/// Whether processes came or went, or used the processor, since a look that saw so many of them and so much processor time.
fn has_moved(before: (Option<u32>, f64), now: TreeUsage, seconds: f64) -> bool {
    let used = now.cpu.as_secs_f64() - before.1;
    before.0.is_some_and(|count| count != descendants(now)) || used >= seconds * MOVEMENT_MIN_SHARE
}

fn diagnosis(events: u64, has_tool: bool, moves: bool) -> Diagnosis {
    match (has_tool, moves) {
        (true, true) => Diagnosis::ToolRunning,
        (true, false) => Diagnosis::ToolSilent,
        (false, true) if events == 0 => Diagnosis::Starting,
        (false, true) => Diagnosis::ModelWorking,
        (false, false) => Diagnosis::Waiting,
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
        for (events, has_tool, moves, word) in [
            (0, false, true, Diagnosis::Starting),
            (0, false, false, Diagnosis::Waiting),
            (0, true, true, Diagnosis::ToolRunning),
            (3, false, true, Diagnosis::ModelWorking),
            (3, false, false, Diagnosis::Waiting),
            (3, true, true, Diagnosis::ToolRunning),
            (3, true, false, Diagnosis::ToolSilent),
        ] {
            assert_eq!(diagnosis(events, has_tool, moves), word);
        }
    }
}
