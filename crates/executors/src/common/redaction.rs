//! Raw material without keys and tokens: a provider or its program may repeat what it was given (runners.md 1.7).

use std::sync::LazyLock;

use regex::bytes::{Captures, Regex};

const REDACTED: &[u8] = b"[redacted]";

/// A text without the tokens that are known and without what looks like one.
pub fn redacted(bytes: &[u8], secrets: &[String]) -> Vec<u8> {
    static MEMBERS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let names = "token|secret|password|api_?key|authorization|cookie";
        Regex::new(&format!(r#"(?i-u)((?:{names})\\*"[ \t]*:[ \t]*\\*")[^"\\]+"#)).ok()
    });
    static VALUES: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let keys = r"\b(?:sk|xai|gsk|ghp)[-_][a-z0-9_-]{16,}";
        let signed = r"\beyJ[a-z0-9_-]+\.[a-z0-9_.-]+";
        Regex::new(&format!(r#"(?i-u)(bearer[ \t]+)[^\s"\\]+|{keys}|{signed}"#)).ok()
    });
    let known = secrets.iter().filter(|secret| !secret.is_empty());
    let known = known.filter_map(|secret| Regex::new(&format!("(?-u){}", regex::escape(secret))).ok());
    let mut text = bytes.to_vec();
    for pattern in known.collect::<Vec<_>>().iter().chain([&*MEMBERS, &*VALUES].into_iter().flatten()) {
        let kept = |found: &Captures<'_>| {
            let kept = found.get(1).map_or(&b""[..], |kept| kept.as_bytes());
            [kept, REDACTED].concat()
        };
        text = pattern.replace_all(&text, kept).into_owned();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_token_is_kept() {
        let secrets = ["known-secret-value".to_owned(), String::new()];
        for (text, expected) in [
            ("plain text", "plain text"),
            (r#"{"a":"known-secret-value"}"#, r#"{"a":"[redacted]"}"#),
            (r#"{"access_token": "abc","b":1}"#, r#"{"access_token": "[redacted]","b":1}"#),
            (r#"{"x":"{\"refreshToken\":\"abc\"}"}"#, r#"{"x":"{\"refreshToken\":\"[redacted]\"}"}"#),
            ("Authorization: Bearer abc.def", "Authorization: Bearer [redacted]"),
            ("key sk-0123456789abcdefg.", "key [redacted]."),
            ("eyJhbGciOi.eyJzdWIi.sig x", "[redacted] x"),
            ("tokens: 12, plain text", "tokens: 12, plain text"),
        ] {
            assert_eq!(String::from_utf8_lossy(&redacted(text.as_bytes(), &secrets)), expected);
        }
    }

    #[test]
    fn both_patterns_are_valid() {
        assert_ne!(redacted(br#""token":"x""#, &[]), br#""token":"x""#);
        assert_ne!(redacted(b"Bearer x", &[]), b"Bearer x");
    }
}
