//! Bounds of this crate.

use std::time::Duration;

/// Lines shown of each raw file by `logs` in its human form.
pub(crate) const LOG_TAIL_MAX_LINES: usize = 20;
/// Bytes read from the end of a raw file to find those lines.
pub(crate) const LOG_TAIL_MAX_BYTES: u64 = 64 << 10;
/// Bytes copied at a time when an answer is printed.
pub(crate) const COPY_BUFFER_BYTES: usize = 64 << 10;
/// Longest time without a progress line when standard error is no terminal.
pub(crate) const PROGRESS_INTERVAL: Duration = Duration::from_secs(10);
/// Width of a progress line when the terminal does not tell its own, in columns.
pub(crate) const PROGRESS_DEFAULT_COLUMNS: usize = 80;
/// Width of help texts, in columns.
pub(crate) const HELP_COLUMNS: usize = 80;
/// Silence after which a progress line mentions it, in seconds.
pub(crate) const SILENCE_WORTH_SAYING_SECONDS: f64 = 10.0;
/// Rhythm in which a count changes in place on a terminal.
pub(crate) const COUNT_INTERVAL: Duration = Duration::from_millis(200);
/// Tasks that `list` shows unasked.
pub(crate) const LIST_DEFAULT_COUNT: u32 = 20;
/// Most tasks in one list: an answer has at most 1 MiB.
pub(crate) const LIST_MAX_COUNT: u32 = 3000;
/// Bytes of each stream with which `logs --follow` begins in its human form.
pub(crate) const FOLLOW_TAIL_MAX_BYTES: u64 = 64 << 10;
/// Time after which a command that asks another program says so.
pub(crate) const PATIENCE_WORTH_SAYING: Duration = Duration::from_secs(2);
/// Narrowest width to which text is wrapped, in columns.
pub(crate) const WRAP_MIN_COLUMNS: usize = 40;
/// Largest file of settings, in bytes.
pub(crate) const SETTINGS_MAX_BYTES: u64 = 64 << 10;
