//! Words by which a vendor's program tells why it failed.

use std::sync::LazyLock;

use regex::bytes::Regex;

/// A pattern that is compiled when it is first needed.
pub type Words = LazyLock<Option<Regex>>;

/// Compiles a pattern for text in any case; ASCII alone.
pub fn words(pattern: &str) -> Option<Regex> {
    Regex::new(&format!("(?i-u){pattern}")).ok()
}

/// Whether a text holds the words.
pub fn says(text: &[u8], words: &Words) -> bool {
    words.as_ref().is_some_and(|words| words.is_match(text))
}
