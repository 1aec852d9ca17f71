//! Bounds that the policy does not set.

use std::time::Duration;

/// Largest policy file, in bytes.
pub const POLICY_MAX_BYTES: u64 = 1 << 20;
/// What a header path may be longer than the policy's path limit and still be kept, in bytes (patch-verifier.md 4.4).
pub const PATH_MARGIN_MAX_BYTES: u64 = 64;
/// Largest start line or count in a hunk header, in lines. No text file is longer, and git keeps positions in an `int`.
pub const HUNK_NUMBER_MAX_LINES: u32 = i32::MAX as u32;
/// Deepest directory below the top level that the attestation enters, in levels; a deeper one is attested by what lstat
/// says of it. Each level keeps one descriptor.
pub const WALK_MAX_LEVELS: usize = 256;
/// Longest answer of one git call, in bytes. A reading has one short record for each file of a bounded patch.
pub const GIT_ANSWER_MAX_BYTES: u64 = 256 << 20;
/// Longest run of one git call. It ends a call that hangs on something in the worktree; nothing is decided by speed.
pub const GIT_MAX_SECONDS: Duration = Duration::from_secs(120);
/// Longest result text from which a diff is extracted, in bytes.
pub const RESULT_MAX_BYTES: usize = 64 << 20;
