//! Words and named numbers in a text of the vendor.

/// Whether a phrase stands in a text as words of its own.
pub(super) fn holds_word(text: &str, phrase: &str) -> bool {
    let is_part = |character: Option<char>| character.is_some_and(char::is_alphanumeric);
    text.match_indices(phrase).any(|(start, found)| {
        !is_part(text[..start].chars().next_back()) && !is_part(text[start + found.len()..].chars().next())
    })
}

/// Every status that is named as one in a text in lower case: `"statusCode": 402`, `status_code=503`.
pub(super) fn status_codes(text: &str) -> Vec<u16> {
    let mut codes = Vec::new();
    for name in ["statuscode", "status_code"] {
        for (start, found) in text.match_indices(name) {
            let rest = text[start + found.len()..].trim_start_matches(['"', '\'', '\\', ' ', ':', '=']);
            let digits =
                rest.find(|character: char| !character.is_ascii_digit()).map_or(rest, |end| &rest[..end]);
            codes.extend(
                Some(digits).filter(|digits| digits.len() == 3).and_then(|digits| digits.parse::<u16>().ok()),
            );
        }
    }
    codes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phrase_is_no_part_of_a_word() {
        assert!(holds_word("please login.", "login"));
        assert!(holds_word("/login", "login"));
        assert!(!holds_word("blogins", "login"));
        assert!(!holds_word("denylist", "deny"));
    }

    #[test]
    fn only_named_numbers_of_three_digits_are_statuses() {
        assert_eq!(
            status_codes(r#"{"statuscode": 402, "status_code":503} statuscode=5030 statuscode: x 429"#),
            [402, 503]
        );
    }
}
