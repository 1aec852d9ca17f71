//! From bytes to a value, in one bounded pass.

use std::cell::Cell;
use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::Number;

use super::{Json, Object};
use crate::limits::JSON_MAX_DEPTH;

/// Why a text was not taken. No message repeats the text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// The text is not UTF-8.
    #[error("not UTF-8")]
    NotUtf8,
    /// The text is empty or only white space.
    #[error("empty")]
    Empty,
    /// The text is no JSON, holds more than one value, or a number that no finite value represents.
    #[error("not JSON at line {line}, column {column}")]
    Syntax {
        /// Line of the fault, from 1.
        line: usize,
        /// Column of the fault, in bytes, from 1.
        column: usize,
    },
    /// More arrays and objects are open at once than [`JSON_MAX_DEPTH`].
    #[error("nested more than {JSON_MAX_DEPTH} levels deep at line {line}, column {column}")]
    TooDeep {
        /// Line of the fault, from 1.
        line: usize,
        /// Column of the fault, in bytes, from 1.
        column: usize,
    },
    /// One object names a key twice: readers would disagree about its value.
    #[error("duplicate key at line {line}, column {column}")]
    DuplicateKey {
        /// Line of the fault, from 1.
        line: usize,
        /// Column of the fault, in bytes, from 1.
        column: usize,
    },
}

/// Reads the one value of a text.
///
/// # Errors
/// The first fault, with its place.
pub fn parse(bytes: &[u8]) -> Result<Json, ParseError> {
    let text = std::str::from_utf8(bytes).map_err(|_| ParseError::NotUtf8)?;
    if text.trim_ascii().is_empty() {
        return Err(ParseError::Empty);
    }
    let refusal = Cell::new(None);
    let mut parser = serde_json::Deserializer::from_str(text);
    Node { depth: 0, refusal: &refusal }
        .deserialize(&mut parser)
        .and_then(|value| parser.end().map(|()| value))
        .map_err(|error| {
            let (line, column) = (error.line(), error.column());
            match refusal.get() {
                Some(Refusal::Depth) => ParseError::TooDeep { line, column },
                Some(Refusal::Key) => ParseError::DuplicateKey { line, column },
                None => ParseError::Syntax { line, column },
            }
        })
}

/// What is refused although it is JSON.
#[derive(Clone, Copy)]
enum Refusal {
    Depth,
    Key,
}

/// A value about to be read. A refusal is left in the cell: serde_json carries nothing but text in its errors.
#[derive(Clone, Copy)]
struct Node<'pass> {
    depth: usize,
    refusal: &'pass Cell<Option<Refusal>>,
}

impl Node<'_> {
    fn refuse<E: Error>(self, refusal: Refusal) -> E {
        self.refusal.set(Some(refusal));
        E::custom("refused")
    }

    fn enter<E: Error>(self) -> Result<Self, E> {
        if self.depth == JSON_MAX_DEPTH {
            return Err(self.refuse(Refusal::Depth));
        }
        Ok(Self { depth: self.depth + 1, ..self })
    }
}

impl<'de> DeserializeSeed<'de> for Node<'_> {
    type Value = Json;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Json, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Node<'_> {
    type Value = Json;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(Json::Number(value.into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Json, E> {
        number(value).map(Json::Number).ok_or_else(|| E::custom("not finite"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Json, E> {
        Ok(Json::String(value.to_owned()))
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Json, A::Error> {
        let inner = self.enter()?;
        let mut array = Vec::new();
        while let Some(element) = elements.next_element_seed(inner)? {
            array.push(element);
        }
        Ok(Json::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Json, A::Error> {
        let inner = self.enter()?;
        let mut object = Object::new();
        while let Some(key) = members.next_key::<String>()? {
            if object.contains_key(&key) {
                return Err(self.refuse(Refusal::Key));
            }
            object.insert(key, members.next_value_seed(inner)?);
        }
        Ok(Json::Object(object))
    }
}

/// The one form of a finite number.
fn number(value: f64) -> Option<Number> {
    const EXACT_BELOW: f64 = 9_007_199_254_740_992.0;
    if value.fract() == 0.0 && value.abs() < EXACT_BELOW {
        // Exact: integral, and below the bound up to which every integer has its own number.
        #[expect(clippy::cast_possible_truncation, reason = "integral and in range")]
        let integer = value as i64;
        Some(integer.into())
    } else {
        Number::from_f64(value)
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Node { depth: 0, refusal: &Cell::new(None) })
    }
}
