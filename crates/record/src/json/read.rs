//! One pass over a text: serde_json knows the grammar, the visitor here refuses what is ambiguous or too much.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::error::DecodeError;
use super::keys::Keys;
use super::limits::{Limits, TEXT_MAX_DEPTH, TEXT_MAX_VALUES};
use super::tape::{Content, Span, Tape};

/// Reads the one value of a text into the tape, in place of what was there, and gives back the text.
pub(super) fn read<'a>(bytes: &'a [u8], limits: Limits, tape: &mut Tape) -> Result<&'a str, DecodeError> {
    tape.clear();
    let limit = limits.max_bytes.min(u32::MAX as usize);
    if bytes.len() > limit {
        return Err(DecodeError::TooLarge { found: bytes.len(), limit });
    }
    let text =
        std::str::from_utf8(bytes).map_err(|error| DecodeError::NotUtf8 { offset: error.valid_up_to() })?;
    let max_depth = limits.max_depth.min(TEXT_MAX_DEPTH);
    let mut scan = Scan { text, max_depth, allow_null: limits.allow_null, tape, refusal: None };
    let mut parser = serde_json::Deserializer::from_str(text);
    // Its own limit is one level below ours; `Node::enter` bounds the recursion instead.
    parser.disable_recursion_limit();
    Next { scan: &mut scan, depth: 0, key: Span::default() }
        .deserialize(&mut parser)
        .map_err(|error| scan.explain(&error))?;
    parser.end().map_err(|error| DecodeError::Trailing { offset: offset(&error, text) })?;
    Ok(text)
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
struct Scan<'de, 't> {
    text: &'de str,
    max_depth: usize,
    allow_null: bool,
    tape: &'t mut Tape,
    refusal: Option<Refusal>,
}

impl Scan<'_, '_> {
    fn refuse<E: Error>(&mut self, refusal: Refusal) -> E {
        self.refusal = Some(refusal);
        E::custom("refused")
    }

    fn explain(&self, error: &serde_json::Error) -> DecodeError {
        let offset = offset(error, self.text);
        match self.refusal {
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

/// The value that comes next, the key before it, and how many arrays and objects are open around it.
struct Next<'s, 'de, 't> {
    scan: &'s mut Scan<'de, 't>,
    depth: usize,
    key: Span,
}

impl<'s, 'de, 't> Next<'s, 'de, 't> {
    fn is<E>(self, content: Content) -> Result<(), E> {
        self.scan.tape.push(self.key, content);
        Ok(())
    }

    /// Begins an array or object, whose content is told when it ends: its node, and the depth inside.
    fn enter<E: Error>(self) -> Result<(&'s mut Scan<'de, 't>, usize, usize), E> {
        if self.depth >= self.scan.max_depth {
            return Err(self.scan.refuse(Refusal::Depth));
        }
        let node = self.scan.tape.nodes.len();
        self.scan.tape.push(self.key, Content::Null);
        Ok((self.scan, node, self.depth + 1))
    }
}

impl<'de> DeserializeSeed<'de> for Next<'_, 'de, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        if self.scan.tape.nodes.len() >= TEXT_MAX_VALUES {
            return Err(self.scan.refuse(Refusal::Values));
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Next<'_, 'de, '_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<(), E> {
        self.is(Content::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<(), E> {
        self.is(Content::Signed(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<(), E> {
        self.is(Content::Unsigned(value))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        if value.is_finite() {
            self.is(Content::Float(value))
        } else {
            Err(self.scan.refuse(Refusal::Number))
        }
    }

    fn visit_borrowed_str<E>(self, value: &'de str) -> Result<(), E> {
        let span = Span::borrowed(self.scan.text, value);
        self.is(Content::Text(span))
    }

    fn visit_str<E>(self, value: &str) -> Result<(), E> {
        let span = self.scan.tape.keep(value);
        self.is(Content::Text(span))
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        if self.scan.allow_null { self.is(Content::Null) } else { Err(self.scan.refuse(Refusal::Null)) }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<(), A::Error> {
        let (scan, node, depth) = self.enter()?;
        while elements.next_element_seed(Next { scan, depth, key: Span::default() })?.is_some() {}
        let end = scan.tape.nodes.len() as u32;
        scan.tape.nodes[node].content = Content::Array { end };
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        let (scan, node, depth) = self.enter()?;
        let mut keys = Keys::new(node, scan.tape);
        while let Some(key) = members.next_key_seed(NextKey { scan })? {
            if !keys.is_new(key, scan.text, scan.tape) {
                return Err(scan.refuse(Refusal::Key));
            }
            members.next_value_seed(Next { scan, depth, key })?;
        }
        keys.end(scan.tape);
        let end = scan.tape.nodes.len() as u32;
        scan.tape.nodes[node].content = Content::Object { end };
        Ok(())
    }
}

/// The key that comes next.
struct NextKey<'s, 'de, 't> {
    scan: &'s mut Scan<'de, 't>,
}

impl<'de> DeserializeSeed<'de> for NextKey<'_, 'de, '_> {
    type Value = Span;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Span, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for NextKey<'_, 'de, '_> {
    type Value = Span;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a key")
    }

    fn visit_borrowed_str<E>(self, key: &'de str) -> Result<Span, E> {
        Ok(Span::borrowed(self.scan.text, key))
    }

    fn visit_str<E>(self, key: &str) -> Result<Span, E> {
        Ok(self.scan.tape.keep(key))
    }
}
