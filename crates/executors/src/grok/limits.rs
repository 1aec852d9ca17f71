//! Every limit of the Grok runner.

/// Wall-clock limit of an ordinary run unless the user says otherwise, in seconds (runners.md 4.1).
pub const OPERATION_DEFAULT_SECONDS: u64 = 900;
/// Longest wall-clock limit that the user may set, in seconds.
pub const OPERATION_MAX_SECONDS: u64 = 86_400;
/// Longest wall-clock limit that an evaluation manifest may set, in seconds (runners.md 1.8).
pub const EVALUATION_MAX_SECONDS: u64 = 600;
/// Wall-clock limit of one probe, in seconds.
pub const PROBE_MAX_SECONDS: u64 = 60;
/// Most turns of the model in one run (runners.md 4.3).
pub const TURNS_MAX_COUNT: u64 = 40;
/// How long the lock of a shared login is waited for, in seconds.
pub const LOGIN_WAIT_SECONDS: u64 = 5;
/// Longest record of ours and of the vendor's sandbox that is read, in bytes.
pub const RECORD_MAX_BYTES: u64 = 16 << 20;
/// Largest program that is archived, in bytes.
pub const PROGRAM_MAX_BYTES: u64 = 1 << 30;
