//! Looking at what was read of a line.

use serde_json::Map;

use super::error::DecodeError;
use super::limits::Limits;
use super::read;
use super::tape::{Content, Span, Tape};

/// Reads lines of a provider's event stream, one after the other in the same memory.
#[derive(Debug, Default)]
pub struct LineReader(Tape);

impl LineReader {
    /// Reads one line, an object, under [`Limits::LINE`] (providers.md 1.9).
    ///
    /// # Errors
    /// What [`check`](super::check) refuses, or a value that is not an object. A blank line is a syntax error.
    pub fn read<'a>(&'a mut self, line: &'a [u8]) -> Result<Object<'a>, DecodeError> {
        let text = read::read(line, Limits::LINE, &mut self.0)?;
        Value::root(text, &self.0).as_object().ok_or(DecodeError::NotAnObject)
    }
}

/// A JSON value, with its texts where they were read.
#[derive(Clone, Copy, Debug)]
pub struct Value<'a> {
    source: Source<'a>,
    index: usize,
}

/// A JSON object.
#[derive(Clone, Copy, Debug)]
pub struct Object<'a>(Members<'a>);

/// The values of an array or object, and their keys, from one index to another.
#[derive(Clone, Copy, Debug)]
struct Members<'a> {
    source: Source<'a>,
    next: usize,
    end: usize,
}

#[derive(Clone, Copy, Debug)]
struct Source<'a> {
    text: &'a str,
    tape: &'a Tape,
}

impl<'a> Source<'a> {
    fn at(self, span: Span) -> &'a str {
        span.of(self.text, &self.tape.unescaped)
    }
}

impl<'a> Value<'a> {
    /// The one value of a text.
    pub(super) fn root(text: &'a str, tape: &'a Tape) -> Self {
        Self { source: Source { text, tape }, index: 0 }
    }

    fn content(self) -> Content {
        self.source.tape.nodes[self.index].content
    }

    fn members(self, end: u32) -> Members<'a> {
        Members { source: self.source, next: self.index + 1, end: end as usize }
    }

    /// The text that this is.
    pub fn as_str(self) -> Option<&'a str> {
        match self.content() {
            Content::Text(span) => Some(self.source.at(span)),
            _ => None,
        }
    }

    /// The whole number from zero that this is: one written without a fraction or exponent, of at most 64 bits.
    pub fn as_u64(self) -> Option<u64> {
        match self.content() {
            Content::Unsigned(number) => Some(number),
            _ => None,
        }
    }

    /// The number that this is, as near as 64 bits of floating point come to it.
    pub fn as_f64(self) -> Option<f64> {
        match self.content() {
            Content::Unsigned(number) => Some(number as f64),
            Content::Signed(number) => Some(number as f64),
            Content::Float(number) => Some(number),
            _ => None,
        }
    }

    /// The truth value that this is.
    pub fn as_bool(self) -> Option<bool> {
        match self.content() {
            Content::Bool(value) => Some(value),
            _ => None,
        }
    }

    /// Whether this is `null`.
    pub fn is_null(self) -> bool {
        matches!(self.content(), Content::Null)
    }

    /// The object that this is.
    pub fn as_object(self) -> Option<Object<'a>> {
        match self.content() {
            Content::Object { end } => Some(Object(self.members(end))),
            _ => None,
        }
    }

    /// The elements of the array that this is.
    pub fn as_array(self) -> Option<impl Iterator<Item = Self>> {
        match self.content() {
            Content::Array { end } => Some(self.members(end).map(|(_, value)| value)),
            _ => None,
        }
    }

    /// A copy that needs the text no more.
    pub fn to_owned(self) -> serde_json::Value {
        use serde_json::Value as Owned;
        match self.content() {
            Content::Null => Owned::Null,
            Content::Bool(value) => value.into(),
            Content::Unsigned(number) => number.into(),
            Content::Signed(number) => number.into(),
            Content::Float(number) => number.into(),
            Content::Text(span) => self.source.at(span).into(),
            Content::Array { end } => self.members(end).map(|(_, value)| value.to_owned()).collect(),
            Content::Object { end } => Object(self.members(end)).to_owned().into(),
        }
    }
}

impl<'a> Object<'a> {
    /// The value of a key.
    pub fn get(self, key: &str) -> Option<Value<'a>> {
        let Members { source, next: mut index, end } = self.0;
        while index < end {
            let node = &source.tape.nodes[index];
            if source.at(node.key) == key {
                return Some(Value { source, index });
            }
            index = node.next(index);
        }
        None
    }

    /// The text of a key; nothing when there is no value or one of another kind.
    pub fn text(self, key: &str) -> Option<&'a str> {
        self.get(key)?.as_str()
    }

    /// All keys and values, in the order of the text.
    pub fn iter(self) -> impl Iterator<Item = (&'a str, Value<'a>)> {
        self.0
    }

    /// A copy that needs the text no more.
    pub fn to_owned(self) -> Map<String, serde_json::Value> {
        self.iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
    }
}

impl<'a> Iterator for Members<'a> {
    type Item = (&'a str, Value<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        if self.next == self.end {
            return None;
        }
        let index = self.next;
        let node = &self.source.tape.nodes[index];
        self.next = node.next(index);
        Some((self.source.at(node.key), Value { source: self.source, index }))
    }
}
