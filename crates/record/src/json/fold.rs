//! Keys under Unicode simple case folding.

use std::borrow::Cow;

/// The key with every character replaced by its simple case folding (one character to one).
///
/// Simple, since that is the promise (STATE.md 1): `ß` and `ss` stay two keys. The usual crates for comparing without
/// case fold fully.
pub(super) fn simple(key: &str) -> Cow<'_, str> {
    if key.chars().all(|character| fold(character) == character) {
        Cow::Borrowed(key)
    } else {
        Cow::Owned(key.chars().map(fold).collect())
    }
}

fn fold(character: char) -> char {
    if character.is_ascii() {
        return character.to_ascii_lowercase();
    }
    unicode_case_mapping::case_folded(character)
        .and_then(|folded| char::from_u32(folded.get()))
        .unwrap_or(character)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_under_simple_folding_only() {
        for (left, right) in [
            ("Straße", "STRAẞE"),
            ("k", "\u{212a}"),
            ("s", "\u{17f}"),
            ("å", "\u{212b}"),
            ("ς", "Σ"),
            ("\u{ab70}", "\u{13a0}"),
            ("\u{1c9}", "\u{1c8}"),
        ] {
            assert_eq!(simple(left), simple(right));
        }
        for (left, right) in [("ß", "ss"), ("\u{130}", "i"), ("\u{131}", "i"), ("ﬁ", "fi"), ("é", "e\u{301}")]
        {
            assert_ne!(simple(left), simple(right));
        }
    }

    #[test]
    fn folding_is_idempotent_and_agrees_with_ascii() {
        for character in '\0'..=char::MAX {
            let folded = fold(character);
            assert!(folded == character || fold(folded) == folded, "{character:?}");
        }
        for byte in 0..=0x7f_u8 {
            assert_eq!(
                Some(fold(char::from(byte))),
                unicode_case_mapping::case_folded(char::from(byte))
                    .map_or(Some(char::from(byte)), |folded| char::from_u32(folded.get())),
            );
        }
    }
}
