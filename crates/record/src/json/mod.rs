//! Strict JSON: a canonical encoding, and a decoder that refuses what is ambiguous (STATE.md 1).
//!
//! Accepted is one value in UTF-8, with white space around it, within [`Limits`]. Refused, at any depth: two keys of one
//! object that are equal or equal under Unicode simple case folding, a `null` where the limits allow none, a number that
//! no finite 64-bit floating-point number represents, an escape that is half of a surrogate pair.
//!
//! Objects read from lines keep no order; records are written in the declared order of their fields.

mod error;
mod fold;
mod keys;
mod limits;
mod read;
mod tape;
mod view;

use serde::de::{DeserializeOwned, Deserializer};
use serde::{Deserialize, Serialize};
use tape::Tape;

pub use error::{DecodeError, EncodeError};
pub use limits::{LINE_MAX_BYTES, LINE_MAX_DEPTH, Limits, TEXT_MAX_VALUES};
pub use view::{LineReader, Object, Value};

/// Name of the field that every record carries (STATE.md 1).
const SCHEMA_VERSION_FIELD: &str = "schema_version";

/// A record of the state root: an object with a `schema_version`.
///
/// Its encoding must be a function of its value: no set or map without order.
pub trait Record: Serialize + DeserializeOwned {
    /// The version of the schema that this type writes, and the only one that it reads.
    const SCHEMA_VERSION: u32 = 1;
}

/// The canonical bytes of a record: fields in declared order, no white space, one line feed at the end.
///
/// # Errors
/// When the value has no form in JSON, or when [`decode`] under [`Limits::RECORD`] would refuse the bytes: too long, too
/// deep, a `null` (an absent option must be skipped, a floating-point number must be finite), map keys equal but for case.
pub fn encode<T: Serialize + ?Sized>(record: &T) -> Result<Vec<u8>, EncodeError> {
    let mut bytes = serde_json::to_vec(record).map_err(|_| EncodeError::NoJsonForm)?;
    bytes.push(b'\n');
    check(&bytes, Limits::RECORD)?;
    Ok(bytes)
}

/// Reads one value of a type. Which fields are unknown or missing is decided by the type (`deny_unknown_fields`).
///
/// # Errors
/// What [`check`] refuses, and what does not fit the type.
pub fn decode<T: DeserializeOwned>(bytes: &[u8], limits: Limits) -> Result<T, DecodeError> {
    typed(value(bytes, limits)?)
}

/// Reads a record under [`Limits::RECORD`].
///
/// The version is looked at first, so that a record of another version is refused by name and not for its new fields.
/// What was read must encode to the same values again: types derived by serde also accept an array for an object, or a
/// default that is written out. The order of keys and white space are free.
///
/// # Errors
/// What [`schema_version`] and [`decode`] refuse, another version, or a form that is not canonical.
pub fn decode_record<T: Record>(bytes: &[u8]) -> Result<T, DecodeError> {
    let found = schema_version(bytes)?;
    if found != T::SCHEMA_VERSION {
        return Err(DecodeError::UnsupportedSchemaVersion { found, supported: T::SCHEMA_VERSION });
    }
    let value = value(bytes, Limits::RECORD)?;
    let record: T = typed(&value)?;
    match serde_json::to_value(&record) {
        Ok(again) if again == value => Ok(record),
        _ => Err(DecodeError::NotCanonical),
    }
}

/// Looks at the structure only: size, UTF-8, one value, depth, number of values, keys, numbers and `null`.
///
/// # Errors
/// The first fault, with its place where it has one.
pub fn check(bytes: &[u8], limits: Limits) -> Result<(), DecodeError> {
    read::read(bytes, limits, &mut Tape::default()).map(drop)
}

/// The `schema_version` at the top of a record, whatever else the record holds.
///
/// # Errors
/// What [`check`] refuses under [`Limits::RECORD`], but for `null`, which another version may allow; a value that is not an
/// object; a version that is missing or no unsigned 32-bit integer.
pub fn schema_version(bytes: &[u8]) -> Result<u32, DecodeError> {
    let value = value(bytes, Limits { allow_null: true, ..Limits::RECORD })?;
    let record = value.as_object().ok_or(DecodeError::NotAnObject)?;
    let version = record
        .get(SCHEMA_VERSION_FIELD)
        .ok_or_else(|| DecodeError::MissingField { field: SCHEMA_VERSION_FIELD.to_owned() })?;
    typed(version)
}

fn value(bytes: &[u8], limits: Limits) -> Result<serde_json::Value, DecodeError> {
    let mut tape = Tape::default();
    let text = read::read(bytes, limits, &mut tape)?;
    Ok(Value::root(text, &tape).to_owned())
}

/// Kinds are told apart by the wording that serde fixes for them. Of that text only the name of a missing field is kept:
/// it comes from the type, all else may repeat the input.
fn typed<'de, T: Deserialize<'de>>(
    value: impl Deserializer<'de, Error = serde_json::Error>,
) -> Result<T, DecodeError> {
    T::deserialize(value).map_err(|error| {
        let text = error.to_string();
        if let Some(rest) = text.strip_prefix("missing field `") {
            DecodeError::MissingField { field: rest.trim_end_matches('`').to_owned() }
        } else if text.starts_with("unknown field `") {
            DecodeError::UnknownField
        } else {
            DecodeError::InvalidValue
        }
    })
}
