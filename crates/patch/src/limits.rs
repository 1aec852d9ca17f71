//! Bounds that the policy does not set.

use std::time::Duration;

/// Largest policy file, in bytes.
pub(crate) const POLICY_MAX_BYTES: u64 = 1 << 20;
/// What a header path may be longer than the policy's path limit and still be kept, in bytes (patch-verifier.md 4.4).
pub(crate) const PATH_MARGIN_MAX_BYTES: u64 = 64;
/// Largest start line or count in a hunk header, in lines. No text file is longer, and git keeps positions in an `int`.
pub(crate) const HUNK_NUMBER_MAX_LINES: u32 = i32::MAX as u32;
/// Deepest directory below the top level that the attestation enters, in levels; a deeper one is attested by what lstat
/// says of it. Each level keeps one descriptor.
pub(crate) const WALK_MAX_LEVELS: usize = 256;
/// Longest answer of one git call, in bytes. A reading has one short record for each file of a bounded patch.
pub(crate) const GIT_ANSWER_MAX_BYTES: u64 = 256 << 20;
/// Longest run of one git call. It ends a call that hangs on something in the worktree; nothing is decided by speed.
pub(crate) const GIT_MAX_SECONDS: Duration = Duration::from_secs(120);
/// Longest result text from which a diff is extracted, in bytes.
pub(crate) const RESULT_MAX_BYTES: usize = 64 << 20;
/// Largest target that is read in one piece to be attested, in bytes; a larger one is read as a stream.
pub(crate) const READ_AT_ONCE_MAX_BYTES: u64 = 4 << 20;
/// Most content of targets that is kept for the placement of hunks, in bytes; what does not fit is read again.
pub(crate) const KEPT_CONTENT_MAX_BYTES: u64 = 64 << 20;
/// Most threads that read targets; a third one gains nothing that its start does not cost.
pub(crate) const READERS_MAX_THREADS: usize = 2;
/// What such a thread takes at a time, in targets; fewer are not worth another thread.
pub(crate) const READER_PIECE_TARGETS: usize = 64;
/// What is read at a time to be compared, in bytes.
pub(crate) const COMPARED_AT_ONCE_BYTES: usize = 128 << 10;
/// Youngest scratch directory that is taken for one that was left behind.
pub(crate) const SCRATCH_MIN_AGE: Duration = Duration::from_secs(60);
/// Most entries of the place for scratch directories that are looked at for such ones.
pub(crate) const SWEEP_MAX_ENTRIES: usize = 1000;
