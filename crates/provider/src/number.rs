//! Numbers of a provider that are kept as decimal text (providers.md 1.11).

use record::json::Value;

use crate::limits::DECIMAL_MAX_BYTES;

/// A number that is not negative as decimal text, without an exponent; `None` for anything else, or when that would be too
/// long.
pub(crate) fn decimal_text(value: Value<'_>) -> Option<String> {
    let text = match value.as_u64() {
        Some(whole) => whole.to_string(),
        None => value.as_f64().filter(|number| *number >= 0.0)?.abs().to_string(),
    };
    (text.len() <= DECIMAL_MAX_BYTES).then_some(text)
}

#[cfg(test)]
mod tests {
    use record::json::LineReader;

    use super::*;

    #[test]
    fn plain_decimals_only() {
        for (number, text) in [
            ("0", Some("0")),
            ("-0.0", Some("0")),
            ("18446744073709551615", Some("18446744073709551615")),
            ("0.25", Some("0.25")),
            ("12.50", Some("12.5")),
            ("1e-7", Some("0.0000001")),
            ("-1", None),
            ("-0.5", None),
            ("1e200", None),
            ("1e-300", None),
            ("\"1\"", None),
            ("null", None),
        ] {
            let line = format!("{{\"n\":{number}}}");
            let mut reader = LineReader::default();
            let value = reader.read(line.as_bytes()).unwrap().get("n").unwrap();
            assert_eq!(decimal_text(value).as_deref(), text, "{number}");
        }
    }
}
