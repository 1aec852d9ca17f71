//! Every limit of the Kimi runner.

/// Wall-clock limit of an ordinary run, in seconds (runners.md 3.8).
pub const OPERATION_MAX_SECONDS: u64 = 900;
/// Longest wall-clock limit that an evaluation manifest may set, in seconds (runners.md 1.8).
pub const EVALUATION_MAX_SECONDS: u64 = 1200;
/// Wall-clock limit of one probe of a program, in seconds.
pub const PROBE_MAX_SECONDS: u64 = 60;
/// Time between two heartbeats unless the user says otherwise, in seconds.
pub const HEARTBEAT_DEFAULT_SECONDS: u64 = 30;
/// Longest time between two heartbeats, in seconds.
pub const HEARTBEAT_MAX_SECONDS: u64 = 3600;
/// Longest time between TERM and KILL that the user may set, in seconds.
pub const GRACE_MAX_SECONDS: u64 = 600;
/// How long a shared login is waited for unless the user says otherwise, in seconds.
pub const LOGIN_WAIT_DEFAULT_SECONDS: u64 = 5;
/// Longest wait for a shared login, in seconds.
pub const LOGIN_WAIT_MAX_SECONDS: u64 = 3600;
/// Largest ripgrep, in bytes.
pub const RIPGREP_MAX_BYTES: u64 = 256 << 20;
/// Largest library that is followed, in bytes.
pub const LIBRARY_MAX_BYTES: u64 = 256 << 20;
/// Largest record beside the pinned program, in bytes.
pub const RECORD_MAX_BYTES: u64 = 1 << 20;
/// Libraries beyond those of the system that ripgrep may need.
pub const LIBRARIES_MAX_COUNT: usize = 256;
/// Most that is kept of the vendor's session records, in bytes.
pub const SESSION_RECORD_MAX_BYTES: u64 = 64 << 20;
/// How deep the vendor's session records are looked for.
pub const SESSION_RECORD_MAX_DEPTH: usize = 8;
