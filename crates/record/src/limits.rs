//! Bounds of the nouns.

/// Largest record read from the state root, in bytes (STATE.md 1).
pub const RECORD_MAX_BYTES: usize = 1 << 20;
/// Deepest nesting of a record, in levels (STATE.md 1).
pub const RECORD_MAX_DEPTH: usize = 64;
/// Largest brief, in bytes (STATE.md 1).
pub const BRIEF_MAX_BYTES: u64 = 8 << 20;
/// Largest answer object on standard output, in bytes (CLI.md "The task answer").
pub const ANSWER_MAX_BYTES: usize = 1 << 20;
/// Most tasks of one `wait`: the answer holds an abridged one for each in any case.
pub const WAIT_TASKS_MAX_COUNT: usize = 2000;
/// Longest diagnostic text kept in an answer that must be shortened, in bytes (predecessor-core 1.4).
pub const DIAGNOSTIC_MAX_BYTES: usize = 4096;
/// Longest refusal payload, in bytes (STATE.md 3.8).
pub const REFUSAL_MAX_BYTES: usize = 4096;
/// Default wall-clock budget, in seconds (CLI.md "Defaults").
pub const BUDGET_DEFAULT_SECONDS: u64 = 30 * 60;
/// Default cap per stream and artifact, in bytes (CLI.md "Defaults").
pub const OUTPUT_DEFAULT_BYTES: u64 = 256 << 20;
/// Default wait for a workspace lease, in seconds (CLI.md "Defaults").
pub const LEASE_WAIT_DEFAULT_SECONDS: u64 = 60 * 60;
/// Longest conversation id, in bytes.
pub const CONVERSATION_ID_MAX_BYTES: usize = 256;
/// Longest decimal text in a usage entry, in bytes (predecessor-core 2.6).
pub const USAGE_DECIMAL_MAX_BYTES: usize = 128;
/// Longest model or effort name, in bytes.
pub const OPTION_TEXT_MAX_BYTES: usize = 1024;
