//! Bounds and rhythms of a turn.

use std::time::Duration;

/// Longest time of one probe of an executable (STATE.md 3.1).
pub const PROBE_TIMEOUT: Duration = Duration::from_secs(20);
/// Longest time of a listing of models (providers.md 0.2).
pub const MODEL_LISTING_TIMEOUT: Duration = Duration::from_secs(5 * 60);
/// Largest output of one probe, per stream, in bytes (STATE.md 3.1).
pub const PROBE_OUTPUT_MAX_BYTES: u64 = 1 << 20;
/// Largest file that planning may read whole, in bytes.
pub const PLANNING_FILE_MAX_BYTES: usize = 1 << 20;
/// A file whose status changed more recently than this is hashed again rather than taken from the cache (STATE.md 3.1).
pub const IDENTITY_SETTLED_NANOSECONDS: i128 = 2_000_000_000;
/// How long a runner tries for a busy run lock (STATE.md 3.3).
pub const RUN_LOCK_PATIENCE: Duration = Duration::from_secs(5);
/// How long an admission tries for the lock of a conversation.
pub const CONVERSATION_LOCK_PATIENCE: Duration = Duration::from_secs(5);
/// Largest environment file, in bytes (CLI.md "Defaults").
pub const ENVIRONMENT_FILE_MAX_BYTES: u64 = 64 << 10;
/// How long a canceller tries for the run lock of a task that is not launched.
pub const CANCEL_PATIENCE: Duration = Duration::from_secs(2);
/// How long the end of a turn is tried to be recorded before the runner leaves it to the next one.
pub const SEAL_PATIENCE: Duration = Duration::from_secs(60);
/// How long the processes of a turn are tried to be ended before the runner leaves them to the next one.
pub const SWEEP_PATIENCE: Duration = Duration::from_secs(60);
/// Rhythm of new tries at what only time can cure: a full disk, a process in the kernel's hands.
pub const SLOW_RHYTHM: Duration = Duration::from_secs(1);
/// Runners that one command has started for lost ones and that still run, at most (STATE.md 3.6).
pub const RESCUES_MAX_COUNT: usize = 8;
/// Shortest time between two runners that one command starts for the same task.
pub const RESCUE_RHYTHM: Duration = Duration::from_secs(30);
/// Largest file that git obeys in a workspace and that is compared before and after a turn, in bytes.
pub const GIT_CONTROL_FILE_MAX_BYTES: u64 = 8 << 20;
/// Largest number of hooks that are compared before and after a turn.
pub const GIT_HOOKS_MAX_COUNT: usize = 1024;
/// Rhythm of looks at a busy lease, by a runner that waits for it (STATE.md 3.3).
pub const LEASE_RHYTHM: Duration = Duration::from_secs(1);
/// Rhythm of looks at a busy run lock.
pub const RUN_LOCK_RHYTHM: Duration = Duration::from_millis(20);
/// What the runner reads of a stream in one look, in bytes: between two looks it obeys stops and limits.
pub const LOOK_MAX_BYTES: u64 = 1 << 20;
/// Rhythm of the runner while output grows (STATE.md 3.5).
pub const TICK_WHILE_GROWING: Duration = Duration::from_millis(100);
/// Rhythm of the runner otherwise (STATE.md 3.5).
pub const TICK_WHILE_IDLE: Duration = Duration::from_millis(250);
/// From the polite signal to the kill (STATE.md 3.5).
pub const TERMINATION_GRACE: Duration = Duration::from_secs(10);
/// The same for a child that fills the disk: what it writes meanwhile is thrown away.
pub const TERMINATION_GRACE_OF_A_FLOOD: Duration = Duration::from_secs(1);
/// Silence after the final event after which the CLI is stopped; each new event starts it again (STATE.md 3.5).
pub const FINAL_GRACE: Duration = Duration::from_secs(5);
/// Longest grace after the final event in all (STATE.md 3.5).
pub const FINAL_GRACE_MAX: Duration = Duration::from_secs(60);
/// Free space that the runner keeps beside the present size of standard output, in bytes (STATE.md 3.5).
pub const FREE_SPACE_FLOOR_BYTES: u64 = 64 << 20;
/// What an observer reads of the end of a stream to say what a turn does, in bytes.
pub const ACTIVITY_TAIL_MAX_BYTES: u64 = 256 << 10;
/// Time without any movement after which a turn is called silent or waiting: a model may think so long before its first word.
pub const SILENCE: Duration = Duration::from_secs(30);
/// Part of one processor that is movement; what a program does that only waits is less.
pub const MOVEMENT_MIN_SHARE: f64 = 0.1;
/// Time between two looks at the processes of a turn that seems silent. Nothing tells of their movement by an event.
pub const MOVEMENT_SAMPLE: Duration = Duration::from_millis(100);
/// Most of these looks.
pub const MOVEMENT_SAMPLES_COUNT: u32 = 4;
/// Largest piece of raw output that a follower is given at once, in bytes.
pub const LOG_PIECE_MAX_BYTES: u64 = 64 << 10;
/// Longest wait of an observer between two looks when no event tells it to look.
pub const WATCH_RHYTHM: Duration = Duration::from_secs(1);
/// What the wall clock may be wrong by before nobody believes it: a correction at the start of a machine is no alarm.
pub const CLOCK_TOLERANCE: Duration = Duration::from_secs(10 * 60);
/// Longest list in the answer of `prune`, in tasks; an answer has at most 1 MiB.
pub const RETENTION_LIST_MAX_COUNT: usize = 1000;
/// Checks of one kind that `doctor` tells one by one; the others are counted.
pub const CHECKS_OF_A_KIND_MAX_COUNT: usize = 100;
/// Open tasks that `doctor` asks the supervisor about.
pub const OPEN_TASKS_ASKED_MAX_COUNT: usize = 10_000;
/// Age from which a marker without a task is removed by a repair (STATE.md 3.1).
pub const STRAY_MARKER_MIN_AGE: Duration = Duration::from_secs(24 * 60 * 60);
/// Free space below which `doctor` warns, in bytes.
pub const FREE_SPACE_COMFORT_BYTES: u64 = 2 << 30;
/// Memory of a process below which `doctor` warns, in bytes: some CLIs reserve far more than they use.
pub const ADDRESS_SPACE_SMALL_BYTES: u64 = 64 << 30;
/// Processes of a user below which `doctor` warns.
pub const PROCESSES_SMALL_COUNT: u64 = 512;
/// Open files of a process below which `doctor` warns.
pub const OPEN_FILES_SMALL_COUNT: u64 = 1024;
/// Longest sentence on one damaged record, in bytes; an answer has at most 1 MiB.
pub const DETAIL_MAX_BYTES: usize = 1024;
/// Longest reason for which `prune` kept a task, in bytes.
pub const KEPT_REASON_MAX_BYTES: usize = 400;
