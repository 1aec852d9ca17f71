//! One way to define a closed vocabulary: an enum whose words are fixed, with parsing, printing and serde.

/// Returned when a word does not belong to a vocabulary. It names the vocabulary, never the word: a value from outside is
/// not echoed by this crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a word of the vocabulary {vocabulary} (known: {known})")]
pub struct UnknownWord {
    /// The type's name.
    pub vocabulary: &'static str,
    /// All words, separated by commas.
    pub known: &'static str,
}

macro_rules! vocabulary {
    ($(#[doc = $doc:literal])+ $name:ident { $($(#[doc = $variant_doc:literal])+ $variant:ident = $word:literal,)+ }) => {
        $(#[doc = $doc])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[doc = $variant_doc])+ $variant,)+ }

        impl $name {
            /// Every word, in the order of the definition.
            pub const ALL: &'static [$name] = &[$($name::$variant,)+];

            /// The word as it stands in records, answers and on the command line.
            pub const fn as_str(self) -> &'static str {
                match self { $($name::$variant => $word,)+ }
            }

            /// What the word means, as its documentation says.
            pub fn meaning(self) -> String {
                match self { $($name::$variant => $crate::vocabulary::sentence(&[$($variant_doc),+]),)+ }
            }
        }

        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                let words: Vec<serde_json::Value> = $name::ALL
                    .iter()
                    .map(|word| serde_json::json!({ "const": word.as_str(), "description": word.meaning() }))
                    .collect();
                schemars::json_schema!({
                    "description": $crate::vocabulary::sentence(&[$($doc),+]),
                    "type": "string",
                    "oneOf": words,
                })
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.pad(self.as_str())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::vocabulary::UnknownWord;

            fn from_str(word: &str) -> Result<Self, Self::Err> {
                match word {
                    $($word => Ok($name::$variant),)+
                    _ => Err($crate::vocabulary::UnknownWord {
                        vocabulary: stringify!($name),
                        known: $crate::vocabulary::comma_separated!($($word),+),
                    }),
                }
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let word = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
                word.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

macro_rules! comma_separated {
    ($first:literal $(, $rest:literal)*) => { concat!($first $(, ", ", $rest)*) };
}

pub(crate) use {comma_separated, vocabulary};

/// The lines of a doc comment as one text.
pub(crate) fn sentence(lines: &[&str]) -> String {
    lines.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ")
}
