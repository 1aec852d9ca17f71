//! Why a text was refused. No message carries a value or a key of the input: both may be secret.

/// Why a JSON text was not accepted.
///
/// Each `offset` counts the bytes read when the fault was seen: it lies there or, but for white space and a closing
/// bracket, directly before.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The text is longer than allowed; both numbers are bytes.
    #[error("{found} bytes where at most {limit} are allowed")]
    TooLarge {
        /// Length of the text, in bytes.
        found: usize,
        /// Longest length allowed, in bytes.
        limit: usize,
    },
    /// The bytes are not UTF-8.
    #[error("not UTF-8 after byte {offset}")]
    NotUtf8 {
        /// Number of good bytes before the fault.
        offset: usize,
    },
    /// The text is not JSON (RFC 8259), or an escape stands for no Unicode character.
    #[error("not JSON at byte {offset}")]
    Syntax {
        /// Place of the fault, in bytes.
        offset: usize,
    },
    /// Something other than white space follows the value.
    #[error("more than one JSON value at byte {offset}")]
    Trailing {
        /// Place of the fault, in bytes.
        offset: usize,
    },
    /// Too many arrays and objects are open at once.
    #[error("nested more than {limit} levels deep at byte {offset}")]
    TooDeep {
        /// Place of the fault, in bytes.
        offset: usize,
        /// Deepest nesting allowed, in levels.
        limit: usize,
    },
    /// The text holds more values than [`TEXT_MAX_VALUES`](super::TEXT_MAX_VALUES).
    #[error("too many values at byte {offset}")]
    TooManyValues {
        /// Place of the fault, in bytes.
        offset: usize,
    },
    /// Two keys of one object are equal, or equal under Unicode simple case folding.
    #[error("duplicate key at byte {offset}")]
    DuplicateKey {
        /// Place of the second key, in bytes.
        offset: usize,
    },
    /// A `null` where none is allowed.
    #[error("null at byte {offset}")]
    Null {
        /// Place of the fault, in bytes.
        offset: usize,
    },
    /// A number too large for a finite 64-bit floating-point number.
    #[error("number out of range at byte {offset}")]
    NumberNotFinite {
        /// Place of the fault, in bytes.
        offset: usize,
    },
    /// The value is not an object.
    #[error("not a JSON object")]
    NotAnObject,
    /// The record was written under another version of its schema; it is never reinterpreted (STATE.md 1).
    #[error("schema version {found} where {supported} is supported")]
    UnsupportedSchemaVersion {
        /// Version that the record names.
        found: u32,
        /// The one version that this program reads.
        supported: u32,
    },
    /// A field that the type does not have.
    #[error("unknown field")]
    UnknownField,
    /// A field that the type needs.
    #[error("missing field `{field}`")]
    MissingField {
        /// Name of the field in the type.
        field: String,
    },
    /// A value of the wrong kind, outside its range or outside its vocabulary.
    #[error("invalid value")]
    InvalidValue,
    /// A record that spells something in another way than its own encoding: an object written as an array, a default
    /// written out, a number in another form.
    #[error("not in canonical form")]
    NotCanonical,
}

/// Why a record could not be written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EncodeError {
    /// The type has no form in JSON.
    #[error("has no form in JSON")]
    NoJsonForm,
    /// What would be written could not be read back. A floating-point number that is not finite shows as `Null`.
    #[error("could not be read back: {0}")]
    NotReadable(#[from] DecodeError),
}
