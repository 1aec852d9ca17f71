//! Every number that a bench does not get from its caller.

/// Longest wait for something that will happen; only a broken program reaches it.
pub(super) const WAIT_MAX_SECONDS: u64 = 300;
/// Samples that are thrown away first: they fill caches and make the folders of a root.
pub(super) const WARM_UP_COUNT: usize = 3;
/// Jobs that may run at once, for us and for the peers.
pub(super) const SLOTS_COUNT: u32 = 2;
/// Trivial jobs in a row.
pub(super) const TURNS_COUNT: usize = 200;
/// How often they are measured: pueue takes half a minute for them.
pub(super) const TURNS_SAMPLES_COUNT: usize = 3;
/// Runners whose memory is measured.
pub(super) const MEMORY_SAMPLES_COUNT: usize = 20;
/// How long a runner watches before it is measured: it reads output at least four times a second.
pub(super) const MEMORY_SETTLE_MILLISECONDS: u64 = 600;
/// Stored tasks of the root that is nearly empty, and of the one that is not.
pub(super) const STORED_FEW_COUNT: usize = 10;
pub(super) const STORED_MANY_COUNT: usize = 10_000;
/// Stored tasks where looking at them is measured: few, and very many, of which half is pruned.
pub(super) const LOOKED_AT_FEW_COUNT: usize = 1_000;
pub(super) const LOOKED_AT_MANY_COUNT: usize = 100_000;
/// Events behind the cursor that a measured follower goes on from.
pub(super) const EVENTS_BEHIND_COUNT: usize = 20;
/// Turns that run while content is removed.
pub(super) const TURNS_BESIDE_PRUNE_COUNT: usize = 10;
/// What a look must not exceed, however many tasks there are.
pub(super) const LOOK_AIM_MILLISECONDS: f64 = 100.0;
/// First dispatches to codex: each hashes an executable of some hundred megabytes.
pub(super) const FIRST_DISPATCH_SAMPLES_COUNT: usize = 10;
/// Between two questions to a queue whether it is done; neither peer offers an event.
pub(super) const QUEUE_QUESTION_MILLISECONDS: u64 = 50;
/// What a sample must not exceed (the aims of the project).
pub(super) const TO_RUNNING_AIM_MILLISECONDS: f64 = 20.0;
pub(super) const RUNNER_MEMORY_AIM_KIBIBYTES: f64 = 4096.0;
/// Part of pueue's time in which the trivial turns shall be done.
pub(super) const TURNS_AIM_RATIO: f64 = 0.1;
/// Samples of what machine and file system cost.
pub(super) const CALIBRATION_SAMPLES_COUNT: usize = 30;
