//! Words and named numbers in a text of the vendor.

/// Whether a phrase stands in a text as words of its own.
pub(super) fn holds_word(text: &str, phrase: &str) -> bool {
    let is_part = |character: Option<char>| character.is_some_and(char::is_alphanumeric);
    text.match_indices(phrase).any(|(start, found)| {
        !is_part(text[..start].chars().next_back()) && !is_part(text[start + found.len()..].chars().next())
    })
}

/// Every status that is named as one in a text in lower case: `"statusCode": 402`, `status_code=503`, `provider.api_error: 402`.
pub(super) fn status_codes(text: &str) -> Vec<u16> {
    let behind =
        |name: &'static str| text.match_indices(name).map(|(start, found)| &text[start + found.len()..]);
    let named = behind("statuscode").chain(behind("status_code"));
    let named = named.map(|rest| rest.trim_start_matches(['"', '\'', '\\', ' ', ':', '=']));
    let of_vendor = behind("provider.").filter_map(|rest| {
        rest.trim_start_matches(|character: char| character.is_ascii_lowercase() || character == '_')
            .strip_prefix(": ")
    });
    named.chain(of_vendor).filter_map(leading_status).collect()
}

fn leading_status(text: &str) -> Option<u16> {
    let end = text.find(|character: char| !character.is_ascii_digit()).unwrap_or(text.len());
    if end == 3 { text[..end].parse().ok() } else { None }
}

/// A text without its paths and addresses.
pub(super) fn without_paths(text: &str) -> String {
    let parts = text.split(|character: char| {
        character.is_whitespace() || matches!(character, '"' | '\'' | ',' | '(' | ')')
    });
    let words =
        parts.filter(|part| !part.is_empty() && part.bytes().filter(|byte| *byte == b'/').count() < 2);
    words.collect::<Vec<_>>().join(" ")
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
    fn a_command_is_no_path() {
        assert_eq!(without_paths("run /login, see /a/b (https://x)"), "run /login see");
    }

    #[test]
    fn only_named_numbers_of_three_digits_are_statuses() {
        assert_eq!(
            status_codes(r#"{"statuscode": 402, "status_code":503} statuscode=5030 statuscode: x 429"#),
            [402, 503]
        );
    }
}
