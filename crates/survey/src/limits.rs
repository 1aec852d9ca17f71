//! Every bound of the survey, in one place.
//!
//! A survey that meets one of these bounds still ends well: it counts what it saw and the report
//! says which bound it met. Wall-clock time is not bounded here: the budget of the task does that.

/// Files counted in one survey; the rest of the workspace is left out, and the report says so.
pub const FILES_MAX: usize = 200_000;

/// Depth of the survey's own walk, in folders below the workspace.
pub const FOLDER_DEPTH_MAX: usize = 64;

/// Bytes of one file that are held in memory and searched for marks. Lines beyond it are counted
/// in passing.
pub const FILE_HELD_MAX_BYTES: usize = 1024 * 1024;

/// Bytes at the start of a file that decide whether it is text.
pub const FILE_HEAD_BYTES: usize = 8 * 1024;

/// Bytes read from all files together; after that files are counted by their size alone.
pub const READ_TOTAL_MAX_BYTES: u64 = 1024 * 1024 * 1024;

/// Bytes of a build file (a manifest, a makefile, a workflow) that are looked at.
pub const BUILD_FILE_MAX_BYTES: usize = 256 * 1024;

/// Bytes of the brief that are looked at for its first line; the size a brief may have (STATE.md 1).
pub const BRIEF_MAX_BYTES: u64 = 8 * 1024 * 1024;

/// Bytes of one answer of git, but for the list of files.
pub const GIT_OUTPUT_MAX_BYTES: usize = 4 * 1024 * 1024;

/// Bytes of git's list of files: what [`FILES_MAX`] names of 160 bytes take.
pub const GIT_LISTING_MAX_BYTES: usize = 32 * 1024 * 1024;

/// Bytes of what git says on standard error that are kept.
pub const GIT_ERROR_MAX_BYTES: usize = 16 * 1024;

/// Commits shown.
pub const COMMITS_MAX: usize = 5;

/// TODO and FIXME marks shown; all are counted.
pub const MARKS_SHOWN_MAX: usize = 50;

/// Languages shown in a row of their own; the rest share one row.
pub const LANGUAGES_SHOWN_MAX: usize = 15;

/// Files shown as the biggest.
pub const BIGGEST_SHOWN_MAX: usize = 10;

/// Build and test commands taken from all build files together.
pub const COMMANDS_KEPT_MAX: usize = 500;

/// Build and test commands shown.
pub const COMMANDS_SHOWN_MAX: usize = 30;

/// Workflow files, and build files in folders, that are shown.
pub const BUILD_FILES_SHOWN_MAX: usize = 10;

/// Characters of a name, a subject, a mark or a line of the brief that are shown.
pub const TEXT_SHOWN_MAX_CHARS: usize = 160;

/// Least time between two progress messages, unless [`PROGRESS_INTERVAL_FILES`] files went by.
pub const PROGRESS_INTERVAL_MILLISECONDS: u64 = 200;

/// Files after which a progress message is due, however little time went by.
pub const PROGRESS_INTERVAL_FILES: u64 = 10_000;
