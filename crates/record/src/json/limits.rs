//! How large and how deep a JSON text may be.

use crate::limits::{RECORD_MAX_BYTES, RECORD_MAX_DEPTH};

/// Longest line of a provider's event stream, in bytes.
pub const LINE_MAX_BYTES: usize = 64 << 20;
/// Deepest nesting of such a line, in levels.
pub const LINE_MAX_DEPTH: usize = 128;
/// Most values (scalars, arrays and objects) in one text, whatever its kind, counted singly.
///
/// A value of two bytes becomes hundreds in memory, so the length alone does not bound what reading costs. A record can
/// not reach this: its length forbids it.
pub const TEXT_MAX_VALUES: usize = 1 << 20;
/// Deepest nesting that is ever read, in levels: the use of the stack grows with it.
pub(super) const TEXT_MAX_DEPTH: usize = 128;

/// Bounds of one JSON text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Longest text, in bytes, white space included.
    pub max_bytes: usize,
    /// Most arrays and objects open at once, in levels: `[[]]` has two. More than 128 means 128.
    pub max_depth: usize,
    /// Whether `null` may occur.
    pub allow_null: bool,
}

impl Limits {
    /// A record of the state root: 1 MiB, 64 levels, no `null` (STATE.md 1).
    pub const RECORD: Self =
        Self { max_bytes: RECORD_MAX_BYTES, max_depth: RECORD_MAX_DEPTH, allow_null: false };
    /// A line of a provider's event stream: 64 MiB, 128 levels, `null` allowed (providers.md 1.9).
    pub const LINE: Self = Self { max_bytes: LINE_MAX_BYTES, max_depth: LINE_MAX_DEPTH, allow_null: true };
}
