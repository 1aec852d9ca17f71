//! The three kinds of artifacts (executor-contract.md 3.5).

use gates::json::Json;
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Deserialize;

use super::sections::present;
use super::text::{FewNames, Names, Never, Pattern, Text};

/// The kinds of artifacts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EnvelopeKind {
    /// What a runner says of itself.
    Status,
    /// What a run that succeeded reports.
    Result,
    /// What a run that failed reports.
    Diagnostic,
}

impl EnvelopeKind {
    /// All three, in the order of the contract.
    pub const ALL: [Self; 3] = [Self::Status, Self::Result, Self::Diagnostic];

    /// The word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Status => "status",
            Self::Result => "result",
            Self::Diagnostic => "diagnostic",
        }
    }

    /// The kind of a word.
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.word() == word)
    }
}

/// The declarations of the three kinds.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Envelopes {
    /// What a runner says of itself.
    pub status: Envelope,
    /// What a run that succeeded reports.
    pub result: Envelope,
    /// What a run that failed reports.
    pub diagnostic: Envelope,
}

impl Envelopes {
    /// The declaration of a kind.
    pub fn get(&self, kind: EnvelopeKind) -> &Envelope {
        match kind {
            EnvelopeKind::Status => &self.status,
            EnvelopeKind::Result => &self.result,
            EnvelopeKind::Diagnostic => &self.diagnostic,
        }
    }
}

/// The declaration of one kind.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Envelope {
    /// The command that writes it.
    pub produced_by: Text,
    /// Fields of a vendor may stand beside the declared ones.
    pub extensions_permitted: Never<true>,
    /// Fields that every artifact has.
    pub required: FewNames,
    /// Fields that an artifact may have.
    pub common_optional: Names,
    /// The type of each.
    pub field_types: IndexMap<String, Text>,
    /// Fields whose values come from the vocabulary called `<field>_values`.
    #[serde(default, deserialize_with = "present")]
    #[schemars(with = "Names")]
    pub closed_value_fields: Option<Names>,
    /// Numbers that are not negative.
    #[serde(default, deserialize_with = "present")]
    #[schemars(with = "Names")]
    pub nonnegative_fields: Option<Names>,
    /// Two times, the earlier first.
    #[serde(default, deserialize_with = "present")]
    #[schemars(with = "[Text; 2]")]
    pub ordered_epoch_pair: Option<[Text; 2]>,
    /// The object of counters.
    #[serde(default, deserialize_with = "present")]
    #[schemars(with = "Text")]
    pub token_counter_field: Option<Text>,
    /// The type of each counter.
    #[serde(default, deserialize_with = "present")]
    #[schemars(with = "Text")]
    pub token_counter_value_type: Option<Text>,
    /// The form of `reason`.
    #[serde(default, deserialize_with = "present")]
    #[schemars(with = "Pattern")]
    pub reason_pattern: Option<Pattern>,
    /// Lists of lanes, and the statuses that a lane in each may have.
    #[serde(default, deserialize_with = "present")]
    #[schemars(with = "IndexMap<String, FewNames>")]
    pub lane_status_fields: Option<IndexMap<String, FewNames>>,
    /// The word for "no backend".
    #[serde(default, deserialize_with = "present")]
    #[schemars(with = "Text")]
    pub none_backend_value: Option<Text>,
    /// What may not stand in it, in words.
    #[serde(default, deserialize_with = "present")]
    #[schemars(with = "Text")]
    pub secrecy: Option<Text>,
}

impl Envelope {
    /// Whether a field is declared.
    pub fn names(&self, field: &str) -> bool {
        self.required.has(field) || self.common_optional.has(field)
    }

    /// Fields whose values come from a vocabulary.
    pub fn closed_value_fields(&self) -> &[String] {
        self.closed_value_fields.as_deref().unwrap_or_default()
    }

    /// Numbers that are not negative.
    pub fn nonnegative_fields(&self) -> &[String] {
        self.nonnegative_fields.as_deref().unwrap_or_default()
    }

    /// Lists of lanes, and the statuses that a lane in each may have.
    pub fn lane_status_fields(&self) -> impl Iterator<Item = (&str, &FewNames)> {
        self.lane_status_fields.iter().flatten().map(|(field, statuses)| (field.as_str(), statuses))
    }
}

/// A type that a declaration may give to a field: one of six kinds, each also with `|null`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldType {
    kind: Kind,
    or_null: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    String,
    Integer,
    Number,
    Boolean,
    Array,
    Object,
}

impl FieldType {
    /// The type of a word.
    pub fn of(word: &str) -> Option<Self> {
        let (kind, or_null) = match word.strip_suffix("|null") {
            Some(kind) => (kind, true),
            None => (word, false),
        };
        let kind = match kind {
            "string" => Kind::String,
            "integer" => Kind::Integer,
            "number" => Kind::Number,
            "boolean" => Kind::Boolean,
            "array" => Kind::Array,
            "object" => Kind::Object,
            _ => return None,
        };
        Some(Self { kind, or_null })
    }

    /// Whether a value is of this type. An integer is a number that equals its floor, as `1.0` does.
    pub fn accepts(self, value: &Json) -> bool {
        match (self.kind, value) {
            (_, Json::Null) => self.or_null,
            (Kind::Integer, Json::Number(_)) => value.as_f64().is_some_and(|number| number.fract() == 0.0),
            (Kind::String, Json::String(_))
            | (Kind::Number, Json::Number(_))
            | (Kind::Boolean, Json::Bool(_))
            | (Kind::Array, Json::Array(_))
            | (Kind::Object, Json::Object(_)) => true,
            _ => false,
        }
    }

    /// Names of the type in JSON Schema.
    pub(crate) fn schema_names(self) -> Vec<&'static str> {
        let kind = match self.kind {
            Kind::String => "string",
            Kind::Integer => "integer",
            Kind::Number => "number",
            Kind::Boolean => "boolean",
            Kind::Array => "array",
            Kind::Object => "object",
        };
        std::iter::once(kind).chain(self.or_null.then_some("null")).collect()
    }
}
