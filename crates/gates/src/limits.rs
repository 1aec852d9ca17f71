//! Every limit of this room.

/// Longest configuration file or artifact that is read, in bytes.
///
/// The shipped files are a few dozen KiB; a value of two bytes becomes dozens in memory, so the bound stays small.
pub const FILE_MAX_BYTES: u64 = 4 << 20;
/// Deepest nesting of such a file, in levels: `[[]]` has two.
pub const JSON_MAX_DEPTH: usize = 100;
/// Most findings named on the one line of standard error; `--json` lists them all.
pub const MESSAGE_MAX_FINDINGS: usize = 20;
