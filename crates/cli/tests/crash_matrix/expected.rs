//! What STATE.md 10 says of each row and blow: the ways in which the task may end. An end is written as in the table:
//! reason, whether a provider was launched, and how many launches the provider itself counted.

use crate::cell::Blow;
use crate::point::{Holder, Point, Row, Scene};

/// Whether a task may end like that.
pub(crate) fn is_allowed(point: Point, blow: Blow, end: &str) -> bool {
    allowed(point, blow).iter().any(|pattern| match pattern.strip_suffix('*') {
        Some(beginning) => end.starts_with(beginning),
        None => end == *pattern,
    })
}

const LOST_BEFORE: &str = "runner-lost/no/0";
const LOST_AT_GO: &str = "runner-lost/unknown/0";
const LOST_AFTER: &str = "runner-lost/unknown/1";
const UNFINISHED: &str = "incomplete-output/yes/1";
const CANCELLED: &str = "cancelled/no/0";
/// A provider that is stopped in its first moment may not come to count its launch.
const CANCELLED_AFTER: &str = "cancelled/yes/*";
const NO_TASK_THEN: &str = "no task, then completed/yes/1";

/// How the turn of a scene ends when nothing happens to it.
const fn undisturbed(scene: Scene) -> &'static str {
    match scene {
        Scene::Fresh | Scene::Plain | Scene::Writing | Scene::Continued => "completed/yes/1",
        Scene::Refused => "provider-failed/yes/1",
        Scene::Flooded => "output-limit/yes/1",
        Scene::Cancelled => "cancelled/yes/1",
        Scene::Pruned => "pruned, completed/yes/1",
    }
}

fn allowed(point: Point, blow: Blow) -> Vec<&'static str> {
    use Blow::{
        BadDisk, Cancel, Command, Elsewhere, Everybody, NoSpace, PowerCut, RealPowerCut, Restart, Runner,
        Second, Supervisor,
    };
    let end = undisturbed(point.scene);
    let is_free = point.holder == Holder::Supervisor && point.name == "supervise.runner.started";
    match (point.row, blow) {
        // Between the two ends of what a disk may keep.
        (_, RealPowerCut) => [PowerCut, Restart].into_iter().flat_map(|blow| allowed(point, blow)).collect(),
        // The runner goes on while the supervisor stands still, so that it may be hit anywhere.
        _ if is_free => {
            vec![end, LOST_BEFORE, LOST_AT_GO, LOST_AFTER, UNFINISHED, CANCELLED, CANCELLED_AFTER]
        }

        // Of a provider that said nothing nobody can tell whether it ran.
        _ if point.scene == Scene::Cancelled => vec!["cancelled/yes/1", "cancelled/unknown/1", LOST_AFTER],
        (_, Supervisor | Second) => vec![end],
        (Row::Marker, Cancel) => vec![end],
        (Row::Marker, NoSpace | BadDisk) => vec![NO_TASK_THEN, end],
        (Row::Marker, _) => vec![NO_TASK_THEN],
        (_, Command) => vec![end],

        (Row::Renamed, PowerCut) => vec![NO_TASK_THEN, end],
        (Row::Renamed, Cancel) => vec![end, CANCELLED],
        (Row::Locked, Cancel) => vec![CANCELLED],
        (Row::Renamed | Row::Locked, _) => vec![end],

        (Row::Licensed, Cancel) => vec![CANCELLED],
        // The last look at the requests may be over, and a turn may be faster than its end.
        (Row::Recorded, Cancel) => vec![CANCELLED, CANCELLED_AFTER, end],
        (Row::Licensed | Row::Recorded, NoSpace | BadDisk) => {
            vec![end, LOST_BEFORE, "start-failed/no/0", "storage-uncertain/no/0"]
        }
        // The record is seen and not durable.
        (Row::Licensed, PowerCut) => vec![LOST_BEFORE, end],
        (Row::Licensed, _) => vec![LOST_BEFORE],
        (Row::Recorded, PowerCut) => vec![LOST_AT_GO, LOST_BEFORE],
        (Row::Recorded, _) => vec![LOST_AT_GO],

        (Row::Gone, Restart) => vec![UNFINISHED, LOST_AFTER, LOST_AT_GO],
        (Row::Gone | Row::Final, PowerCut) => vec![LOST_AFTER, LOST_AT_GO],
        (Row::Gone, Cancel) => vec![end, CANCELLED_AFTER],
        // Whether it was executed can not be told, so it is ended; it may have been faster.
        (Row::Gone, NoSpace | BadDisk) if point.name == "process.gate.go" => {
            vec![end, "incomplete-output/yes/*", "runner-lost/unknown/*", "start-failed/unknown/*"]
        }

        (Row::Swept, PowerCut) => vec![end, LOST_AFTER],
        (Row::Gone | Row::Final, Runner | Everybody | Elsewhere | NoSpace | BadDisk | Restart | Cancel) => {
            vec![end]
        }
        (Row::Swept | Row::Sealed | Row::Payload | Row::Outcome | Row::Pruned, _) => vec![end],
    }
}
