//! Identifiers. Random bytes come from the caller: this crate has no source of randomness.

/// An identifier's text has not the right form. The text itself is not repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidId(pub(crate) &'static str);

/// Lowercase hexadecimal characters of `bytes`.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes
        .iter()
        .flat_map(|byte| [DIGITS[usize::from(byte >> 4)] as char, DIGITS[usize::from(byte & 15)] as char])
        .collect()
}

/// The inverse of [`hexadecimal`]; `None` for any other length or character.
pub(crate) fn parse_hexadecimal<const LENGTH: usize>(text: &str) -> Option<[u8; LENGTH]> {
    fn digit(character: u8) -> Option<u8> {
        match character {
            b'0'..=b'9' => Some(character - b'0'),
            b'a'..=b'f' => Some(character - b'a' + 10),
            _ => None,
        }
    }
    let text = text.as_bytes();
    if text.len() != LENGTH * 2 {
        return None;
    }
    let mut bytes = [0; LENGTH];
    for (byte, pair) in bytes.iter_mut().zip(text.chunks_exact(2)) {
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Some(bytes)
}

/// Gives a newtype its one text form: Display, Debug, FromStr, serde, and the schema with its meaning and its pattern, which
/// may allow more than is parsed.
macro_rules! text_form {
    ($name:ident, $print:expr, $parse:expr, $meaning:literal, $pattern:literal) => {
        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "description": $meaning, "type": "string", "pattern": $pattern })
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let print: fn(&$name) -> String = $print;
                formatter.pad(&print(self))
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(formatter, "{}({self})", stringify!($name))
            }
        }

        impl std::str::FromStr for $name {
            type Err = crate::id::InvalidId;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                let parse: fn(&str) -> Result<$name, crate::id::InvalidId> = $parse;
                parse(text)
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}
pub(crate) use text_form;

macro_rules! random_id {
    ($(#[$meta:meta])* $name:ident, $complaint:literal, $meaning:literal) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name([u8; 16]);

        impl $name {
            /// The id made of 16 random bytes.
            pub const fn from_random(bytes: [u8; 16]) -> Self {
                Self(bytes)
            }

            /// The 16 bytes of the id.
            pub const fn bytes(&self) -> &[u8; 16] {
                &self.0
            }
        }

        text_form!($name, |id| hexadecimal(&id.0), |text| parse_hexadecimal(text).map($name).ok_or(InvalidId($complaint)), $meaning, "^[0-9a-f]{32}$");
    };
}

random_id! {
    /// Names one task. Text form: 32 lowercase hexadecimal characters (predecessor-core 2.2).
    TaskId, "a task id is 32 lowercase hexadecimal characters", "Names one task."
}
random_id! {
    /// Names one state root. Text form: 32 lowercase hexadecimal characters.
    RootId, "a root id is 32 lowercase hexadecimal characters", "Names one state root."
}
random_id! {
    /// Tells one writer of a record from another with the same content (STATE.md 2).
    Nonce, "a nonce is 32 lowercase hexadecimal characters", "Tells one writer from another."
}

/// Names a provider profile: `name:transport`, each half a letter followed by letters, digits, `-`, `_` or `.`, all lower
/// case (predecessor-core 1.2). Shape only; the catalogue decides what exists.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProfileId(String);

impl ProfileId {
    /// The text of the id.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The half before the colon.
    pub fn name(&self) -> &str {
        self.0.split_once(':').map_or(&self.0, |(name, _)| name)
    }
}

fn parse_profile_id(text: &str) -> Result<ProfileId, InvalidId> {
    fn half(text: &str) -> bool {
        text.len() <= 64
            && text.starts_with(|first: char| first.is_ascii_lowercase())
            && text.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.'))
    }
    match text.split_once(':') {
        Some((name, transport)) if half(name) && half(transport) => Ok(ProfileId(text.to_owned())),
        _ => Err(InvalidId("a provider is written name:transport, in lower case, for example codex:exec")),
    }
}

text_form!(
    ProfileId,
    |id| id.0.clone(),
    parse_profile_id,
    "Names a provider profile, for example codex:exec.",
    "^[a-z][a-z0-9._-]{0,63}:[a-z][a-z0-9._-]{0,63}$"
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_have_one_spelling() {
        let id = TaskId::from_random([0xab; 16]);
        assert_eq!(id.to_string(), "ab".repeat(16));
        assert_eq!(id.to_string().parse(), Ok(id));
        for wrong in ["", "ab", &"AB".repeat(16), &"ab".repeat(17), &"zz".repeat(16), &"é".repeat(16)] {
            assert!(wrong.parse::<TaskId>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn profile_ids_have_two_halves() {
        for right in ["codex:exec", "a:b", "a1-_.:b2"] {
            assert_eq!(right.parse::<ProfileId>().map(|id| id.to_string()), Ok(right.to_owned()));
        }
        for wrong in ["", "codex", ":", "a:", ":b", "a:b:c", "A:b", "1a:b", "a:é", "a b:c"] {
            assert!(wrong.parse::<ProfileId>().is_err(), "{wrong}");
        }
    }
}
