//! Every fault point of the store, each named for the step just done (crate `fault`, STATE.md 10).
//!
//! "Before" a step is the point of the step in front of it.

/// The points on the way of one create-once record, in order.
#[derive(Clone, Copy, Debug)]
pub struct RecordPoints {
    /// The temporary file is there, empty. For a record with a reserve: nothing was done yet.
    pub created: &'static str,
    /// It holds the record.
    pub written: &'static str,
    /// It is synced.
    pub synced: &'static str,
    /// It has the record's name.
    pub renamed: &'static str,
    /// The directory is synced.
    pub directory_synced: &'static str,
}

impl RecordPoints {
    /// The five points in order.
    pub const fn all(&self) -> [&'static str; 5] {
        [self.created, self.written, self.synced, self.renamed, self.directory_synced]
    }
}

macro_rules! record_points {
    ($(#[$meta:meta])* $name:ident, $record:literal) => {
        $(#[$meta])*
        pub const $name: RecordPoints = RecordPoints {
            created: concat!("store.", $record, ".created"),
            written: concat!("store.", $record, ".written"),
            synced: concat!("store.", $record, ".synced"),
            renamed: concat!("store.", $record, ".renamed"),
            directory_synced: concat!("store.", $record, ".directory_synced"),
        };
    };
}

record_points! {
    /// `root.json`.
    ROOT, "root"
}
record_points! {
    /// `launch.json`.
    LAUNCH, "launch"
}
record_points! {
    /// `running.json`.
    RUNNING, "running"
}
record_points! {
    /// `session.json`.
    SESSION, "session"
}
record_points! {
    /// `stop.json`.
    STOP, "stop"
}
record_points! {
    /// `seal.json`.
    SEAL, "seal"
}
record_points! {
    /// `outcome.json`.
    OUTCOME, "outcome"
}
record_points! {
    /// `pruned.json`.
    PRUNED, "pruned"
}
record_points! {
    /// `result.txt`.
    RESULT, "result"
}
record_points! {
    /// `refusal.txt`.
    REFUSAL, "refusal"
}
record_points! {
    /// `journal.ndjson` when it is made.
    JOURNAL, "journal"
}
record_points! {
    /// An imported artifact `raw/<name>`.
    ARTIFACT, "artifact"
}
record_points! {
    /// `probes/<key>.json`; nothing is synced there, so that two of the points are never reached.
    PROBE, "probe"
}

/// The directories of a new root are there and synced.
pub const ROOT_DIRECTORIES_SYNCED: &str = "store.root.directories_synced";

/// `open/<id>` is there.
pub const MARKER_MADE: &str = "store.marker.made";
/// `staging/<random>/` is there and its run lock is held.
pub const TASK_STAGED: &str = "store.task.staged";
/// `request.json` is written.
pub const TASK_REQUEST_WRITTEN: &str = "store.task.request_written";
/// `brief.md` is written.
pub const TASK_BRIEF_WRITTEN: &str = "store.task.brief_written";
/// `plan.json` is written.
pub const TASK_PLAN_WRITTEN: &str = "store.task.plan_written";
/// `submission.json` is written.
pub const TASK_SUBMISSION_WRITTEN: &str = "store.task.submission_written";
/// `output/`, `raw/` and the filled `reserve/` are there.
pub const TASK_DIRECTORIES_MADE: &str = "store.task.directories_made";
/// The four files are synced.
pub const TASK_FILES_SYNCED: &str = "store.task.files_synced";
/// The staging directory is synced.
pub const TASK_STAGING_SYNCED: &str = "store.task.staging_synced";
/// `open/` is synced.
pub const MARKER_SYNCED: &str = "store.marker.synced";
/// The task has its name.
pub const TASK_RENAMED: &str = "store.task.renamed";
/// `tasks/` is synced.
pub const TASK_DIRECTORY_SYNCED: &str = "store.task.directory_synced";
/// An event was appended to the journal.
pub const JOURNAL_APPENDED: &str = "store.journal.appended";

/// The points of an admission up to the moment at which the task has its name, in order.
pub const BEFORE_TASK: [&str; 10] = [
    MARKER_MADE,
    TASK_STAGED,
    TASK_REQUEST_WRITTEN,
    TASK_BRIEF_WRITTEN,
    TASK_PLAN_WRITTEN,
    TASK_SUBMISSION_WRITTEN,
    TASK_DIRECTORIES_MADE,
    TASK_FILES_SYNCED,
    TASK_STAGING_SYNCED,
    MARKER_SYNCED,
];
/// The points of an admission from then on, in order.
pub const AFTER_TASK: [&str; 3] = [TASK_RENAMED, TASK_DIRECTORY_SYNCED, JOURNAL_APPENDED];

/// The run lock of a task was taken.
pub const RUN_LOCKED: &str = "store.run_lock.taken";
/// The lock of a conversation was taken.
pub const CONVERSATION_LOCKED: &str = "store.conversation.locked";
/// A claim on a conversation is there.
pub const CLAIM_MADE: &str = "store.conversation.claim_made";
/// It is durable.
pub const CLAIM_SYNCED: &str = "store.conversation.claim_synced";
/// A lease was taken.
pub const LEASE_LOCKED: &str = "store.lease.taken";
/// The supervisor's lock was taken.
pub const SUPERVISOR_LOCKED: &str = "store.supervisor_lock.taken";
/// `tasks/` and the task's directory were synced before a launch licence is made.
pub const CLAIM_TASK_SYNCED: &str = "store.claim.task_synced";
/// `raw/stdout` and `raw/stderr` are there.
pub const RAW_CREATED: &str = "store.raw.created";
/// A file of `raw/` was cut to the cap.
pub const RAW_CUT: &str = "store.raw.cut";
/// The files of `raw/` and `raw/` itself are synced.
pub const RAW_SYNCED: &str = "store.raw.synced";
/// A left-over payload of the other name was removed.
pub const OTHER_PAYLOAD_REMOVED: &str = "store.payload.other_removed";
/// `reserve/` was removed.
pub const RESERVE_REMOVED: &str = "store.reserve.removed";
/// The raw output and the artifacts of a task were removed by retention.
pub const OUTPUT_REMOVED: &str = "store.content.output_removed";
/// All its content was.
pub const CONTENT_REMOVED: &str = "store.content.removed";
/// `open/<id>` was removed.
pub const MARKER_REMOVED: &str = "store.marker.removed";
