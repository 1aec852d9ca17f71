//! Texts and lists that can not be of another form.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::Deref;

use regex::Regex;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};

/// A text type with a condition on its content.
macro_rules! text_type {
    ($(#[$doc:meta])* $name:ident, $pattern:literal, $accepts:expr) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
        #[serde(try_from = "String")]
        pub struct $name(#[schemars(regex(pattern = $pattern))] String);

        impl TryFrom<String> for $name {
            type Error = &'static str;

            fn try_from(text: String) -> Result<Self, Self::Error> {
                let accepts: fn(&str) -> bool = $accepts;
                if accepts(&text) { Ok(Self(text)) } else { Err(concat!("does not match ", $pattern)) }
            }
        }

        impl Deref for $name {
            type Target = str;

            fn deref(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(&self.0)
            }
        }
    };
}

text_type!(
    /// A text that is not empty.
    Text, "^(?s:.)+$", |text| !text.is_empty()
);
text_type!(
    /// A version of three numbers.
    Version, "^[0-9]+\\.[0-9]+\\.[0-9]+$", |text| {
        text.split('.').count() == 3 && text.split('.').all(is_number)
    }
);
text_type!(
    /// A moment in UTC, to the second.
    Time, "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$", |text| {
        let form = b"0000-00-00T00:00:00Z";
        text.len() == form.len()
            && text.bytes().zip(form).all(|(byte, &form)| match form {
                b'0' => byte.is_ascii_digit(),
                other => byte == other,
            })
    }
);
text_type!(
    /// Name of a program of this system.
    RunnerName, "^delegation-[a-z0-9-]+$", |text| {
        text.strip_prefix("delegation-").is_some_and(|rest| {
            !rest.is_empty() && rest.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-'))
        })
    }
);
text_type!(
    /// Name of a JSON file without any directory.
    GateFile, "^[A-Za-z0-9._-]+\\.json$", |text| {
        text.strip_suffix(".json").is_some_and(|stem| {
            !stem.is_empty()
                && stem.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'))
        })
    }
);
text_type!(
    /// A short name in lower snake case.
    Slug, "^[a-z][a-z0-9_]*$", |text| {
        text.starts_with(|first: char| first.is_ascii_lowercase())
            && text.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_'))
    }
);

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Distinct texts, none of them empty; there may be none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(try_from = "Vec<String>")]
pub struct Names(#[schemars(extend("uniqueItems" = true), inner(length(min = 1)))] Vec<String>);

/// Distinct texts, none of them empty, at least one.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(try_from = "Vec<String>")]
pub struct FewNames(
    #[schemars(length(min = 1), extend("uniqueItems" = true), inner(length(min = 1)))] Vec<String>,
);

/// Texts, none of them empty, at least one.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(try_from = "Vec<String>")]
pub struct Texts(#[schemars(length(min = 1), inner(length(min = 1)))] Vec<String>);

/// Distinct numbers, at least one.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(try_from = "Vec<u32>")]
pub struct FewNumbers(#[schemars(length(min = 1), extend("uniqueItems" = true))] Vec<u32>);

fn distinct<T: Ord>(members: &[T]) -> Result<(), &'static str> {
    let distinct: BTreeSet<&T> = members.iter().collect();
    if distinct.len() == members.len() { Ok(()) } else { Err("a member stands twice") }
}

fn filled(members: &[String]) -> Result<(), &'static str> {
    if members.iter().any(String::is_empty) { Err("a member is empty") } else { Ok(()) }
}

fn some<T>(members: &[T]) -> Result<(), &'static str> {
    if members.is_empty() { Err("no member") } else { Ok(()) }
}

macro_rules! list_type {
    ($name:ident, $member:ty, $($condition:ident),+) => {
        impl TryFrom<Vec<$member>> for $name {
            type Error = &'static str;

            fn try_from(members: Vec<$member>) -> Result<Self, Self::Error> {
                $($condition(&members)?;)+
                Ok(Self(members))
            }
        }

        impl Deref for $name {
            type Target = [$member];

            fn deref(&self) -> &[$member] {
                &self.0
            }
        }
    };
}

list_type!(Names, String, distinct, filled);
list_type!(FewNames, String, distinct, filled, some);
list_type!(Texts, String, filled, some);
list_type!(FewNumbers, u32, distinct, some);

impl Names {
    /// Whether a name is one of them.
    pub fn has(&self, name: &str) -> bool {
        self.iter().any(|own| own == name)
    }
}

impl FewNames {
    /// Whether a name is one of them.
    pub fn has(&self, name: &str) -> bool {
        self.iter().any(|own| own == name)
    }
}

/// A truth value that is always the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Never<const VALUE: bool>;

impl<'de, const VALUE: bool> Deserialize<'de> for Never<VALUE> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if bool::deserialize(deserializer)? == VALUE {
            Ok(Self)
        } else {
            Err(serde::de::Error::custom(format_args!("must be {VALUE}")))
        }
    }
}

impl<const VALUE: bool> JsonSchema for Never<VALUE> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        if VALUE { "AlwaysTrue".into() } else { "AlwaysFalse".into() }
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "const": VALUE })
    }
}

/// Version 1 of a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(try_from = "u64")]
pub struct Versioned(#[schemars(extend("const" = 1))] u64);

impl TryFrom<u64> for Versioned {
    type Error = &'static str;

    fn try_from(version: u64) -> Result<Self, Self::Error> {
        if version == 1 { Ok(Self(version)) } else { Err("must be 1") }
    }
}

impl Versioned {
    /// The number.
    pub const fn number(self) -> u64 {
        self.0
    }
}

/// Why a text is no pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PatternError;

impl fmt::Display for PatternError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("not a regular expression")
    }
}

/// A regular expression. `^` and `$` are the ends of the whole text, never of a line.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "String")]
pub struct Pattern(Regex);

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.0.as_str() == other.0.as_str()
    }
}

impl TryFrom<String> for Pattern {
    type Error = PatternError;

    fn try_from(text: String) -> Result<Self, PatternError> {
        Regex::new(&text).map(Self).map_err(|_| PatternError)
    }
}

impl JsonSchema for Pattern {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Pattern".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "format": "regex" })
    }
}

impl Pattern {
    /// Whether the pattern is found in the text.
    pub fn matches(&self, text: &str) -> bool {
        self.0.is_match(text)
    }

    /// The same, where one line feed at the end does not count (executor-contract.md 8.1).
    pub fn matches_before_line_feed(&self, text: &str) -> bool {
        self.0.is_match(text) || text.strip_suffix('\n').is_some_and(|line| self.0.is_match(line))
    }

    /// The expression.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}
