//! The named fault points of this room (STATE.md 10). Each stands after the step that it is named for. Nothing fails here: the
//! steps that can fail have points of their own where they are done.

/// The plan was made again and is the recorded one.
pub(crate) const REPLANNED: &str = "turn.replanned";
/// The licence is there and durable.
pub(crate) const CLAIMED: &str = "turn.claimed";
/// The gate waits.
pub(crate) const GATE_READY: &str = "turn.gate.ready";
/// `running.json` is there, and the last looks before *go* were taken.
pub(crate) const RECORDED: &str = "turn.recorded";
/// The provider runs.
pub(crate) const GONE: &str = "turn.go";
/// The provider's final event was seen for the first time.
pub(crate) const FINAL_SEEN: &str = "turn.final_seen";
/// Nothing of the turn runs any more.
pub(crate) const SWEPT: &str = "turn.swept";
/// The artifacts of the turn are in `raw/`.
pub(crate) const IMPORTED: &str = "turn.imported";
/// The seal is there.
pub(crate) const SEALED: &str = "turn.sealed";
/// The evidence was judged, and nothing of that is written down.
pub(crate) const JUDGED: &str = "turn.judged";
/// The payload is there.
pub(crate) const PAYLOAD: &str = "turn.payload";
/// The outcome is there.
pub(crate) const OUTCOME: &str = "turn.outcome";
/// The task is closed.
pub(crate) const CLOSED: &str = "turn.closed";

/// All points in the order of a turn, for tests that stop at each of them.
pub const POINTS: &[&str] = &[
    REPLANNED, CLAIMED, GATE_READY, RECORDED, GONE, FINAL_SEEN, SWEPT, IMPORTED, SEALED, JUDGED, PAYLOAD,
    OUTCOME, CLOSED,
];

/// Marks that a step has been done.
pub(crate) fn reached(name: &str) {
    // A fault that is no error of any step is none.
    let _ = fault::point(name);
}
