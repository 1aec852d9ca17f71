//! JSON that keeps the order of its keys, read strictly.
//!
//! Refused beside what is no JSON: two equal keys in one object, nesting deeper than
//! [`JSON_MAX_DEPTH`](crate::limits::JSON_MAX_DEPTH), a number that no finite value represents. Numbers have one form: an
//! integral number is an integer however it was spelled, so that `1.0` equals `1`.

mod decode;
mod parse;

use indexmap::IndexMap;
use serde::{Serialize, Serializer};

pub use decode::{Fault, decode};
pub use parse::{ParseError, parse};

/// An object in file order.
pub type Object = IndexMap<String, Json>;

/// A JSON value.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Json {
    /// `null`
    #[default]
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A finite number; integral ones up to 2^53 are held as integers.
    Number(serde_json::Number),
    /// A string.
    String(String),
    /// An array.
    Array(Vec<Json>),
    /// An object.
    Object(Object),
}

impl Json {
    /// The members, where this is an object.
    pub fn as_object(&self) -> Option<&Object> {
        if let Self::Object(members) = self { Some(members) } else { None }
    }

    /// The elements, where this is an array.
    pub fn as_array(&self) -> Option<&[Json]> {
        if let Self::Array(elements) = self { Some(elements) } else { None }
    }

    /// The text, where this is a string.
    pub fn as_str(&self) -> Option<&str> {
        if let Self::String(text) = self { Some(text) } else { None }
    }

    /// The number, where this is one.
    pub fn as_f64(&self) -> Option<f64> {
        if let Self::Number(number) = self { number.as_f64() } else { None }
    }

    /// The truth value, where this is one.
    pub fn as_bool(&self) -> Option<bool> {
        if let Self::Bool(value) = self { Some(*value) } else { None }
    }

    /// A member of an object; nothing where it is missing or this is no object.
    pub fn get(&self, key: &str) -> Option<&Json> {
        self.as_object()?.get(key)
    }

    /// The value at a path of keys; an empty path is the value itself.
    pub fn at(&self, path: &[&str]) -> Option<&Json> {
        path.iter().try_fold(self, |value, key| value.get(key))
    }

    /// Name of the kind of this value in the vocabulary of JSON.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "boolean",
            Self::Number(_) => "number",
            Self::String(_) => "string",
            Self::Array(_) => "array",
            Self::Object(_) => "object",
        }
    }

    /// Two-space indented text, keys in their order, no line feed at the end.
    pub fn pretty(&self) -> String {
        pretty(self)
    }
}

/// Two-space indented JSON of anything, no line feed at the end.
///
/// # Panics
/// Never for the types of this room: their keys are strings and their numbers finite.
pub fn pretty<T: Serialize + ?Sized>(value: &T) -> String {
    serde_json::to_string_pretty(value).expect("string keys and finite numbers have a form in JSON")
}

/// A pointer (RFC 6901) to a place in a document.
pub fn pointer<S: AsRef<str>>(segments: impl IntoIterator<Item = S>) -> String {
    segments
        .into_iter()
        .map(|segment| format!("/{}", segment.as_ref().replace('~', "~0").replace('/', "~1")))
        .collect()
}

impl From<&str> for Json {
    fn from(text: &str) -> Self {
        Self::String(text.to_owned())
    }
}

impl From<bool> for Json {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<u64> for Json {
    fn from(value: u64) -> Self {
        Self::Number(value.into())
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Number(number) => number.serialize(serializer),
            Self::String(text) => serializer.serialize_str(text),
            Self::Array(elements) => serializer.collect_seq(elements),
            Self::Object(members) => serializer.collect_map(members),
        }
    }
}

impl schemars::JsonSchema for Json {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "AnyValue".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!(true)
    }
}
