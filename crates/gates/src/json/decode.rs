//! From a value to a type.
//!
//! Unlike serde_json this reads a record from an object only, never from an array, and no error repeats a value.

use std::fmt;

use serde::de::{self, DeserializeOwned, Deserializer, IntoDeserializer, Unexpected, Visitor};
use serde::forward_to_deserialize_any;

use super::{Json, pointer};

/// Where a value does not have the shape of its type, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{at}: {detail}")]
pub struct Fault {
    /// Pointer (RFC 6901) to the place; empty for the document itself.
    pub at: String,
    /// Keys from the document down to the place.
    pub path: Vec<String>,
    /// What is wrong, without any value of the document.
    pub detail: String,
}

/// Reads a type from a value that lies at `path` in its document.
///
/// # Errors
/// The first place whose shape is not that of the type.
pub fn decode<T: DeserializeOwned>(value: &Json, path: &[&str]) -> Result<T, Fault> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let mut full: Vec<String> = path.iter().map(|&key| key.to_owned()).collect();
        full.extend(error.path().iter().filter_map(|segment| match segment {
            serde_path_to_error::Segment::Seq { index } => Some(index.to_string()),
            serde_path_to_error::Segment::Map { key } => Some(key.clone()),
            serde_path_to_error::Segment::Enum { .. } | serde_path_to_error::Segment::Unknown => None,
        }));
        Fault { at: pointer(&full), detail: error.into_inner().0, path: full }
    })
}

/// Text of a shape error.
#[derive(Debug)]
pub struct ShapeError(String);

impl fmt::Display for ShapeError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for ShapeError {}

impl de::Error for ShapeError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(message.to_string())
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        Self(format!("{} where {expected} is expected", name(found)))
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        Self(format!("this {} is not {expected}", name(found)))
    }

    fn unknown_variant(_: &str, expected: &'static [&'static str]) -> Self {
        Self(format!("not one of {}", expected.join(", ")))
    }

    fn unknown_field(_: &str, _: &'static [&'static str]) -> Self {
        Self("unknown key".to_owned())
    }

    fn invalid_length(found: usize, _: &dyn de::Expected) -> Self {
        Self(format!("not the right number of elements ({found})"))
    }

    fn missing_field(field: &'static str) -> Self {
        Self(format!("missing key {field}"))
    }
}

fn name(found: Unexpected<'_>) -> &'static str {
    match found {
        Unexpected::Bool(_) => "boolean",
        Unexpected::Unsigned(_) | Unexpected::Signed(_) | Unexpected::Float(_) => "number",
        Unexpected::Char(_) | Unexpected::Str(_) => "string",
        Unexpected::Unit | Unexpected::Option => "null",
        Unexpected::Seq => "array",
        Unexpected::Map => "object",
        _ => "value",
    }
}

impl IntoDeserializer<'_, ShapeError> for &Json {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for &Json {
    type Error = ShapeError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ShapeError> {
        match self {
            Json::Null => visitor.visit_unit(),
            Json::Bool(value) => visitor.visit_bool(*value),
            Json::Number(number) => match (number.as_u64(), number.as_i64()) {
                (Some(value), _) => visitor.visit_u64(value),
                (None, Some(value)) => visitor.visit_i64(value),
                (None, None) => visitor.visit_f64(number.as_f64().unwrap_or(f64::MAX)),
            },
            Json::String(text) => visitor.visit_str(text),
            Json::Array(elements) => {
                let mut sequence = de::value::SeqDeserializer::new(elements.iter());
                let value = visitor.visit_seq(&mut sequence)?;
                // A type of fixed length leaves the rest unread.
                sequence.end().map(|()| value)
            }
            Json::Object(members) => visitor.visit_map(de::value::MapDeserializer::new(
                members.iter().map(|(key, value)| (key.as_str(), value)),
            )),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ShapeError> {
        if *self == Json::Null { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ShapeError> {
        if matches!(self, Json::Array(_)) {
            return Err(de::Error::invalid_type(Unexpected::Seq, &"an object"));
        }
        self.deserialize_any(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, ShapeError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ShapeError> {
        let word = self.as_str().ok_or_else(|| ShapeError::custom_kind(self))?;
        visitor.visit_enum(IntoDeserializer::<ShapeError>::into_deserializer(word))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq
        tuple tuple_struct map identifier ignored_any
    }
}

impl ShapeError {
    fn custom_kind(found: &Json) -> Self {
        Self(format!("{} where a word is expected", found.kind()))
    }
}
