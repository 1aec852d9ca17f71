//! Every limit that the runners share.

/// Longest prompt, in bytes: the longest brief of a task.
pub const PROMPT_MAX_BYTES: u64 = record::limits::BRIEF_MAX_BYTES;
/// Longest prompt that a child can be given as one argument, in bytes (runners.md 7, row 2); its NUL byte is part of it.
pub const ARGUMENT_MAX_BYTES: usize = 131_072;
/// Longest key file, in bytes.
pub const KEY_FILE_MAX_BYTES: u64 = 64 << 10;
/// Longest evaluation manifest, in bytes.
pub const MANIFEST_MAX_BYTES: u64 = 1 << 20;
/// Most output of a child on each of its two streams, in bytes.
pub const STREAM_MAX_BYTES: u64 = 256 << 20;
/// How long a child and its descendants get between TERM and KILL, in seconds (runners.md 0.1).
pub const KILL_GRACE_SECONDS: u64 = 10;
/// How often a running child is looked at, in milliseconds.
pub const WATCH_INTERVAL_MILLISECONDS: u64 = 250;
/// How often a lock that is waited for is tried, in milliseconds.
pub const LOCK_RETRY_MILLISECONDS: u64 = 50;
/// Longest content of a lock file that is looked at, in bytes.
pub const LOCK_FILE_MAX_BYTES: u64 = 64;
/// Longest sentence of a refusal on standard error, in bytes.
pub const MESSAGE_MAX_BYTES: usize = 4096;
/// Longest version of a vendor's program that is recorded, in bytes.
pub const VERSION_MAX_BYTES: usize = 64;
/// Files that are looked at in search of a program below one directory of libraries.
pub const PROGRAM_SEARCH_MAX_COUNT: usize = 20_000;
/// Longest file of a vendor's login, in bytes.
pub const LOGIN_MAX_BYTES: u64 = 1 << 20;
/// Longest record beside a login that runs share, in bytes.
pub const GENERATION_RECORD_MAX_BYTES: u64 = 4096;
/// How long another run that archives a program is waited for, in seconds.
pub const PIN_WAIT_SECONDS: u64 = 5;
/// Longest name of a file, in bytes: that of the usual file systems.
pub const FILE_NAME_MAX_BYTES: usize = 255;
