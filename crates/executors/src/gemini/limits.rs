//! Every limit of the Gemini runner.

/// Wall-clock limit of a run unless the user says otherwise, in seconds: the vendor's own five minutes and time to say so.
pub const OPERATION_DEFAULT_SECONDS: u64 = 330;
/// Longest wall-clock limit that the user may set, in seconds.
pub const OPERATION_MAX_SECONDS: u64 = 86_400;
/// Wall-clock limit of one probe, in seconds.
pub const PROBE_MAX_SECONDS: u64 = 60;
/// Longest login file, in bytes.
pub const LOGIN_MAX_BYTES: u64 = 1 << 20;
