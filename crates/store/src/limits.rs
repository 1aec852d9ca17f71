//! Bounds of the store.

use std::time::Duration;

/// Preallocated size of each file in `reserve/`, in bytes (STATE.md 1).
pub const RESERVE_BYTES: u64 = 32 << 10;
/// Longest line of the journal that is read as an event, in bytes; a longer one is skipped and counted.
pub const JOURNAL_LINE_MAX_BYTES: usize = 64 << 10;
/// What is read of the journal at a time when it is read from its end, in bytes.
pub(crate) const JOURNAL_BLOCK_BYTES: u64 = 64 << 10;
/// Largest entry of the probe cache, in bytes; a larger one counts as absent.
pub const PROBE_MAX_BYTES: usize = 8 << 20;
/// Longest name of an artifact, a lease or a probe, in bytes, so that a suffix still fits into a file name.
pub const NAME_MAX_BYTES: usize = 200;
/// Largest lock file of a lease that is read for its holder, in bytes.
pub(crate) const LEASE_MAX_BYTES: u64 = 64;
/// Longest first line of the journal, in bytes.
pub(crate) const JOURNAL_HEADER_MAX_BYTES: usize = 256;
/// How often a lock file that is replaced again and again is opened anew, in tries.
pub(crate) const LOCK_REOPEN_MAX_TRIES: u32 = 64;
/// How often a staging directory that a cleaner took away is made anew, in tries.
pub(crate) const STAGING_MAX_TRIES: u32 = 64;
/// Directories that are open at once while a tree is removed, in levels; what is deeper is brought up first.
pub(crate) const REMOVAL_MAX_DEPTH: u32 = 32;
/// Names of one directory that are held in memory at once while a tree is removed.
pub(crate) const REMOVAL_MAX_NAMES: usize = 1024;
/// How often a record is written anew whose draft somebody took away, in tries.
pub(crate) const DRAFT_MAX_TRIES: u32 = 4;
/// Longest wait for a lock that is held for microseconds. It is over only when the holder stands still.
pub(crate) const LOCK_PATIENCE: Duration = Duration::from_secs(1);
/// Time between two tries at such a lock.
pub(crate) const LOCK_RHYTHM: Duration = Duration::from_millis(1);
/// Longest name of the holder of a lock, in bytes.
pub(crate) const HOLDER_MAX_BYTES: u64 = 256;
