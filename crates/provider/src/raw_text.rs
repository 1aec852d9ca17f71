//! The inside of a JSON string, as it is written and perhaps not yet whole.

use memchr::memchr2;

/// The text of a raw JSON string whose end may be cut off.
pub(crate) fn decode(raw: &[u8], text: &mut String) {
    text.clear();
    let valid = match std::str::from_utf8(raw) {
        Ok(raw) => raw,
        Err(error) => std::str::from_utf8(&raw[..error.valid_up_to()]).expect("it was looked at"),
    };
    if valid.bytes().any(|byte| byte == b'\\' || byte < b' ') {
        let (length, _) = whole(valid.as_bytes());
        *text = serde_json::from_str(&format!("\"{}\"", &valid[..length])).unwrap_or_default();
    } else {
        text.push_str(valid);
    }
}

/// How many bytes of a raw JSON string are whole characters and escapes, and whether its quotation mark follows them.
pub(crate) fn whole(bytes: &[u8]) -> (usize, bool) {
    let mut position = 0;
    while let Some(distance) = memchr2(b'"', b'\\', &bytes[position..]) {
        let found = position + distance;
        let escape = match &bytes[found..] {
            [b'"', ..] => return (found, true),
            // Half of a pair of surrogates: the other half belongs to it.
            [b'\\', b'u', b'd' | b'D', b'8' | b'9' | b'a' | b'A' | b'b' | b'B', ..] => "\\ud83d\\ude00".len(),
            [b'\\', b'u', ..] => "\\u00e9".len(),
            _ => "\\n".len(),
        };
        position = found + escape;
        if position > bytes.len() {
            return (found, false);
        }
    }
    match std::str::from_utf8(&bytes[position..]) {
        Err(error) if error.error_len().is_none() => (position + error.valid_up_to(), false),
        _ => (bytes.len(), false),
    }
}
