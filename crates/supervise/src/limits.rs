//! The bounds of this room.

use std::time::Duration;

/// Time between two scans of `open/` while anything is open, in seconds (STATE.md 3.2).
pub(crate) const SCAN_PERIOD_SECONDS: u64 = 5;
/// The same where the kernel gives no hints on changed directories, in seconds.
pub(crate) const SCAN_PERIOD_WITHOUT_HINTS_SECONDS: u64 = 1;
/// How long a supervisor without work stays, in milliseconds: the next dispatch of a burst then finds it running and is
/// served without the start of a process.
pub(crate) const LINGER_MILLISECONDS: u64 = 2_000;
/// Wait before a runner is started again for the first time, in milliseconds; doubled each time (STATE.md 3.2).
pub(crate) const RESTART_FIRST_MILLISECONDS: u64 = 1_000;
/// Longest such wait, in milliseconds (STATE.md 3.2).
pub(crate) const RESTART_LONGEST_MILLISECONDS: u64 = 60_000;
/// Starts without progress after which a task is no longer tried, as a count (STATE.md 3.2).
pub(crate) const STARTS_WITHOUT_PROGRESS_MAX_COUNT: u32 = 5;
/// First wait before the lock of a task that somebody else holds is looked at again, in milliseconds; doubled each time up
/// to the scan period. Short, because dispatchers and cancellers hold it for moments only.
pub(crate) const RECHECK_FIRST_MILLISECONDS: u64 = 10;
/// Open tasks that an observer looks at before it starts a supervisor that will look at all, as a count.
pub(crate) const ENSURE_LOOKS_MAX_COUNT: usize = 64;
/// How long a supervisor that was killed may take to end before whoever needs another one goes on without.
pub(crate) const ENDING_HOLDER_PATIENCE: Duration = Duration::from_secs(5);
/// Rhythm of looks at a lock whose holder has ended: it is free, or another's, within a moment.
pub(crate) const ENDED_HOLDER_RHYTHM: Duration = Duration::from_millis(1);
/// Most runners at once that may be asked for, as a count.
pub(crate) const SLOTS_MAX_COUNT: u32 = 4_096;
/// Size at which the supervisor's log is begun anew, in bytes.
pub(crate) const LOG_MAX_BYTES: u64 = 1 << 20;

/// Largest answer of a queue, in bytes: Pueue tells every row with the whole environment of each.
pub(crate) const ANSWER_MAX_BYTES: u64 = 64 << 20;
/// What is read of the reason of a failed question, in bytes.
pub(crate) const REASON_MAX_BYTES: usize = 512;

/// Largest configuration of Pueue, in bytes (predecessor-core 4.1).
pub(crate) const PUEUE_CONFIG_MAX_BYTES: u64 = 1 << 20;
/// Longest time of one question to Pueue, after which the client is ended.
pub(crate) const PUEUE_QUESTION_MAX_TIME: Duration = Duration::from_secs(5);
/// How old the rows may be that a look at a task goes by: less than the rhythm of a watch.
pub(crate) const PUEUE_VIEW_MAX_AGE: Duration = Duration::from_millis(800);
/// How long a private daemon may take to listen.
pub(crate) const PUEUE_DAEMON_PATIENCE: Duration = Duration::from_secs(5);
/// Rhythm of looks whether it listens.
pub(crate) const PUEUE_DAEMON_RHYTHM: Duration = Duration::from_millis(5);

/// Longest time of a question to Slurm that a submission waits for: its programs try for a while to reach a controller that
/// does not answer.
pub(crate) const SLURM_QUESTION_MAX_TIME: Duration = Duration::from_secs(30);
/// Longest time of one that a look at a task waits for; the records answer without it.
pub(crate) const SLURM_VIEW_MAX_TIME: Duration = Duration::from_secs(5);
/// How old the jobs may be that a look at a task goes by. One watcher asks the controller no more often.
pub(crate) const SLURM_VIEW_MAX_AGE: Duration = Duration::from_secs(5);
/// The same for a controller that could not be asked, and for an account of jobs that it has forgotten.
pub(crate) const SLURM_LONG_VIEW_MAX_AGE: Duration = Duration::from_secs(30);
/// Time of a job beyond the turn's budget: probes before the launch, a late answer's grace, the stop, and the warning below,
/// which Slurm may give a minute early.
pub(crate) const SLURM_GRACE: Duration = Duration::from_secs(5 * 60);
/// How long before the end of its time a job is warned, in seconds: enough to stop the turn and seal it (STATE.md 3.5).
pub(crate) const SLURM_WARNING_SECONDS: u32 = 90;
/// Memory of a job beyond the turn's limit, in bytes: the runner's own.
pub(crate) const SLURM_RUNNER_MEMORY_BYTES: u64 = 64 << 20;
/// Most options for `sbatch` from the settings, as a count.
pub(crate) const SLURM_OPTIONS_MAX_COUNT: usize = 64;

/// Age of the last change of a file from which its metadata tell any further change, in seconds (STATE.md 3.1).
pub(crate) const IDENTITY_SETTLED_SECONDS: i128 = 2;

/// The clockwork of a supervisor. Fixed in the product; tests use a faster one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// How long it stays without work.
    pub linger: Duration,
    /// Time between two scans while anything is open.
    pub scan_period: Duration,
    /// First wait before a runner is started again.
    pub restart_first: Duration,
    /// Longest wait before a runner is started again.
    pub restart_longest: Duration,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            linger: Duration::from_millis(LINGER_MILLISECONDS),
            scan_period: Duration::from_secs(SCAN_PERIOD_SECONDS),
            restart_first: Duration::from_millis(RESTART_FIRST_MILLISECONDS),
            restart_longest: Duration::from_millis(RESTART_LONGEST_MILLISECONDS),
        }
    }
}
