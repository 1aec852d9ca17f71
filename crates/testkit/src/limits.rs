//! Every limit of this crate, the unit last in the name.

/// Longest head of an HTTP request.
pub const HTTP_HEAD_MAX_BYTES: usize = 64 << 10;
/// Longest body of a model request: an 8 MiB brief that a CLI escapes and wraps fits.
pub const HTTP_BODY_MAX_BYTES: usize = 128 << 20;
/// Most requests that the model server remembers.
pub const SEEN_MAX_REQUESTS: usize = 10_000;
/// Most bytes of each request body that it remembers.
pub const SEEN_BODY_MAX_BYTES: usize = 64 << 10;
/// Length of a long answer when the script names none.
pub const HUGE_ANSWER_DEFAULT_BYTES: u64 = 2 << 20;
/// Longest answer that a script may ask for.
pub const HUGE_ANSWER_MAX_BYTES: u64 = 64 << 20;
/// Longest piece of an answer in one streaming event.
pub const DELTA_MAX_BYTES: usize = 64 << 10;
/// Longest wait for something that a test expects to happen; only a broken test reaches it.
pub const TEST_WAIT_MAX_SECONDS: u64 = 120;
/// Longest life of a process that a test left behind: a failing test leaves nothing for long.
pub const LINGER_MAX_SECONDS: u64 = 900;
/// Length of a fake's long answer when the brief names none.
pub const GIANT_LINE_DEFAULT_BYTES: u64 = 2 << 20;
/// Where `64-KiB-cut` stops, and where `split-UTF-8` splits.
pub const PIPE_EDGE_BYTES: usize = 64 << 10;
/// Most zero bytes that a fake writes "without end", and most that it fills a file system with.
pub const ENDLESS_MAX_BYTES: u64 = 2 << 30;
/// How many processes a storm leaves when the brief names no number.
pub const STORM_DEFAULT_PROCESSES: u64 = 500;
