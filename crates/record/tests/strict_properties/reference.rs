//! The rules once more, in the most plain way: a reader that builds a tree and asks it for the keys that were there.

use std::cell::Cell;
use std::collections::HashSet;
use std::fmt;

use record::json::{DecodeError, Limits, TEXT_MAX_VALUES};
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// The one value of the text.
pub(crate) fn read(bytes: &[u8], limits: Limits) -> Result<Value, DecodeError> {
    if bytes.len() > limits.max_bytes {
        return Err(DecodeError::TooLarge { found: bytes.len(), limit: limits.max_bytes });
    }
    let text =
        std::str::from_utf8(bytes).map_err(|error| DecodeError::NotUtf8 { offset: error.valid_up_to() })?;
    let scan = Scan {
        max_depth: limits.max_depth.min(128),
        allow_null: limits.allow_null,
        values: Cell::new(0),
        refusal: Cell::new(None),
    };
    let mut parser = serde_json::Deserializer::from_str(text);
    // Its own limit is one level below ours; `Node::enter` bounds the recursion instead.
    parser.disable_recursion_limit();
    let value = Node { scan: &scan, depth: 0 }
        .deserialize(&mut parser)
        .map_err(|error| scan.explain(&error, text))?;
    parser.end().map_err(|error| DecodeError::Trailing { offset: offset(&error, text) })?;
    Ok(value)
}

fn offset(error: &serde_json::Error, text: &str) -> usize {
    let lines_before = error.line().saturating_sub(1);
    text.split_inclusive('\n').take(lines_before).map(str::len).sum::<usize>() + error.column()
}

/// What is refused although it is JSON.
#[derive(Clone, Copy)]
enum Refusal {
    Depth,
    Values,
    Key,
    Null,
    Number,
}

/// State of the whole pass. A refusal is left here, since serde_json carries nothing but text in its errors.
struct Scan {
    max_depth: usize,
    allow_null: bool,
    values: Cell<usize>,
    refusal: Cell<Option<Refusal>>,
}

impl Scan {
    fn refuse<E: serde::de::Error>(&self, refusal: Refusal) -> E {
        self.refusal.set(Some(refusal));
        E::custom("refused")
    }

    fn explain(&self, error: &serde_json::Error, text: &str) -> DecodeError {
        let offset = offset(error, text);
        match self.refusal.get() {
            Some(Refusal::Depth) => DecodeError::TooDeep { offset, limit: self.max_depth },
            Some(Refusal::Values) => DecodeError::TooManyValues { offset },
            Some(Refusal::Key) => DecodeError::DuplicateKey { offset },
            Some(Refusal::Null) => DecodeError::Null { offset },
            Some(Refusal::Number) => DecodeError::NumberNotFinite { offset },
            // serde_json has no public kind for this; its wording is held by a test.
            None if error.to_string().starts_with("number out of range") => {
                DecodeError::NumberNotFinite { offset }
            }
            None => DecodeError::Syntax { offset },
        }
    }
}

/// A value about to be read, and how many arrays and objects are open around it.
#[derive(Clone, Copy)]
struct Node<'scan> {
    scan: &'scan Scan,
    depth: usize,
}

impl Node<'_> {
    fn enter<E: serde::de::Error>(self) -> Result<Self, E> {
        if self.depth >= self.scan.max_depth {
            return Err(self.scan.refuse(Refusal::Depth));
        }
        Ok(Self { depth: self.depth + 1, ..self })
    }
}

impl<'de> DeserializeSeed<'de> for Node<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        let values = self.scan.values.get() + 1;
        if values > TEXT_MAX_VALUES {
            return Err(self.scan.refuse(Refusal::Values));
        }
        self.scan.values.set(values);
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Node<'_> {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| self.scan.refuse(Refusal::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<Value, E> {
        if self.scan.allow_null { Ok(Value::Null) } else { Err(self.scan.refuse(Refusal::Null)) }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Value, A::Error> {
        let inner = self.enter()?;
        let mut array = Vec::new();
        while let Some(element) = elements.next_element_seed(inner)? {
            array.push(element);
        }
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let inner = self.enter()?;
        let mut object = Map::new();
        let mut foldings = HashSet::new();
        while let Some(key) = members.next_key::<String>()? {
            if !foldings.insert(folded(&key)) {
                return Err(self.scan.refuse(Refusal::Key));
            }
            object.insert(key, members.next_value_seed(inner)?);
        }
        Ok(Value::Object(object))
    }
}

fn folded(key: &str) -> String {
    let fold = |character| {
        unicode_case_mapping::case_folded(character).and_then(|folded| char::from_u32(folded.get()))
    };
    key.chars().map(|character| fold(character).unwrap_or(character)).collect()
}
