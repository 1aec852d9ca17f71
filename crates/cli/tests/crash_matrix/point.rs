//! Every fault point on the way of a task, who gets there, in which kind of turn, and the row of STATE.md 10 it belongs to.

use store::points::{self, RecordPoints};

/// The process that stops at a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holder {
    Dispatcher,
    Supervisor,
    Runner,
    Gate,
    Canceller,
    Pruner,
}

/// The turn in which a point is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scene {
    /// The first dispatch to a root.
    Fresh,
    /// A turn that succeeds, in a root that has had one.
    Plain,
    /// The same, and it may write in its workspace.
    Writing,
    /// A turn in which the provider fails.
    Refused,
    /// A turn that never ends, and is cancelled.
    Cancelled,
    /// A turn that writes without end.
    Flooded,
    /// A turn that goes on with the conversation of another.
    Continued,
    /// A turn that is over, and its content is removed.
    Pruned,
}

/// A row of STATE.md 10: the last of its steps that has certainly been done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Row {
    Marker,
    Renamed,
    Locked,
    Licensed,
    Recorded,
    Gone,
    Final,
    Swept,
    Sealed,
    Payload,
    Outcome,
    Pruned,
}

impl Row {
    pub(crate) const ALL: [Self; 12] = [
        Self::Marker,
        Self::Renamed,
        Self::Locked,
        Self::Licensed,
        Self::Recorded,
        Self::Gone,
        Self::Final,
        Self::Swept,
        Self::Sealed,
        Self::Payload,
        Self::Outcome,
        Self::Pruned,
    ];

    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Marker => "before the task has its name",
            Self::Renamed => "task renamed",
            Self::Locked => "run lock or lease taken",
            Self::Licensed => "launch.json visible, gate spawned",
            Self::Recorded => "running.json visible, before go",
            Self::Gone => "after go",
            Self::Final => "final event seen",
            Self::Swept => "sweep, import, before the seal",
            Self::Sealed => "seal",
            Self::Payload => "payload, before the outcome",
            Self::Outcome => "outcome",
            Self::Pruned => "content being removed",
        }
    }
}

/// One fault point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Point {
    pub(crate) name: &'static str,
    pub(crate) holder: Holder,
    pub(crate) scene: Scene,
    pub(crate) row: Row,
}

/// All of them, in the order of a turn.
pub(crate) fn all() -> Vec<Point> {
    use Holder::{Canceller, Dispatcher, Gate, Pruner, Runner, Supervisor};
    use Row::{Final, Gone, Licensed, Locked, Marker, Outcome, Payload, Recorded, Renamed, Sealed, Swept};
    use Scene::{Cancelled, Continued, Flooded, Fresh, Plain, Refused, Writing};

    let mut all = Vec::new();
    let mut add = |row, scene, holder, names: &[&'static str]| {
        all.extend(names.iter().map(|name| Point { name, holder, scene, row }));
    };
    let probe = [points::PROBE.created, points::PROBE.written, points::PROBE.renamed];
    add(Marker, Fresh, Dispatcher, &[points::ROOT_DIRECTORIES_SYNCED]);
    add(Marker, Fresh, Dispatcher, &points::ROOT.all());
    add(Marker, Fresh, Dispatcher, &probe);
    add(
        Marker,
        Continued,
        Dispatcher,
        &[points::CONVERSATION_LOCKED, points::CLAIM_MADE, points::CLAIM_SYNCED],
    );
    add(Marker, Plain, Dispatcher, &points::BEFORE_TASK);
    add(Renamed, Plain, Dispatcher, &points::AFTER_TASK);
    add(Renamed, Fresh, Dispatcher, &points::JOURNAL.all());
    add(Renamed, Plain, Supervisor, &[points::SUPERVISOR_LOCKED]);
    add(
        Renamed,
        Plain,
        Supervisor,
        &["supervise.lock.taken", "supervise.scanned", "supervise.runner.started"],
    );
    add(Locked, Plain, Runner, &[points::RUN_LOCKED]);
    add(Locked, Writing, Runner, &[points::LEASE_LOCKED]);
    add(Locked, Plain, Runner, &["turn.replanned", points::CLAIM_TASK_SYNCED]);
    let (hidden, visible) = halves(&points::LAUNCH);
    add(Locked, Plain, Runner, &hidden);
    add(Licensed, Plain, Runner, &visible);
    add(Licensed, Plain, Runner, &["turn.claimed", points::RAW_CREATED, "process.gate.spawned"]);
    add(Licensed, Plain, Runner, &["process.gate.ready", "turn.gate.ready"]);
    let (hidden, visible) = halves(&points::RUNNING);
    add(Licensed, Plain, Runner, &hidden);
    add(Recorded, Plain, Runner, &visible);
    add(Recorded, Plain, Runner, &["turn.recorded"]);
    add(Recorded, Plain, Gate, &["process.gate.released"]);
    add(Gone, Plain, Runner, &["process.gate.go", "turn.go"]);
    add(Gone, Plain, Runner, &points::SESSION.all());
    add(Gone, Cancelled, Canceller, &points::STOP.all());
    add(Gone, Cancelled, Runner, &["process.tree.signalled"]);
    add(Final, Plain, Runner, &["turn.final_seen"]);
    add(Swept, Plain, Runner, &["process.sweep.round", "turn.swept"]);
    add(Swept, Plain, Runner, &points::ARTIFACT.all());
    add(Swept, Flooded, Runner, &["turn.imported"]);
    add(Swept, Plain, Runner, &[points::RAW_SYNCED]);
    let (hidden, visible) = halves(&points::SEAL);
    add(Swept, Plain, Runner, &hidden);
    add(Sealed, Plain, Runner, &visible);
    add(Sealed, Flooded, Runner, &[points::RAW_CUT]);
    add(Sealed, Plain, Runner, &["turn.sealed", points::RESULT.created, "turn.judged"]);
    add(Sealed, Plain, Runner, &[points::RESULT.written, points::RESULT.synced]);
    add(Payload, Plain, Runner, &[points::RESULT.renamed, points::RESULT.directory_synced]);
    add(Payload, Plain, Runner, &[points::OTHER_PAYLOAD_REMOVED, "turn.payload"]);
    let (hidden, visible) = halves(&points::REFUSAL);
    add(Sealed, Refused, Runner, &hidden);
    add(Payload, Refused, Runner, &visible);
    let (hidden, visible) = halves(&points::OUTCOME);
    add(Payload, Plain, Runner, &hidden);
    add(Outcome, Plain, Runner, &visible);
    add(Outcome, Plain, Runner, &["turn.outcome", points::RESERVE_REMOVED]);
    add(Outcome, Plain, Runner, &[points::MARKER_REMOVED, "turn.closed"]);
    add(Outcome, Plain, Supervisor, &["supervise.lock.released"]);
    add(Row::Pruned, Scene::Pruned, Pruner, &points::PRUNED.all());
    add(Row::Pruned, Scene::Pruned, Pruner, &[points::OUTPUT_REMOVED, points::CONTENT_REMOVED]);
    all
}

/// The points at which nobody sees the record yet, and those at which everybody does.
fn halves(record: &RecordPoints) -> ([&'static str; 3], [&'static str; 2]) {
    ([record.created, record.written, record.synced], [record.renamed, record.directory_synced])
}

#[test]
fn every_point_of_a_turn_has_its_place() {
    let mut names: Vec<_> = all().iter().map(|point| point.name).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count, "a point stands in the table twice");
    for name in turn::POINTS.iter().chain(supervise::POINTS) {
        assert!(names.contains(name), "{name} is missing");
    }
    assert!(Row::ALL.iter().all(|row| all().iter().any(|point| point.row == *row)));
}
