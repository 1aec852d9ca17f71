//! Text from elsewhere made safe for a terminal: what could move the cursor, colour or reorder the text becomes visible.

use std::io::{self, Read, Write};

use crate::limits::COPY_BUFFER_BYTES;

/// Whether a terminal would obey the character instead of showing it: control characters, and the marks that turn the
/// direction of writing (Unicode bidirectional embeddings, overrides and isolates).
fn steers(character: char) -> bool {
    character.is_control() || matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn escaped(text: &str, keep: fn(char) -> bool) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        if steers(character) && !keep(character) {
            safe.extend(character.escape_default());
        } else {
            safe.push(character);
        }
    }
    safe
}

/// `text` with its line feeds and tabs, and everything else that steers escaped.
pub(crate) fn text(text: &str) -> String {
    escaped(text, |character| matches!(character, '\n' | '\t'))
}

/// `text` as one line, everything that steers escaped.
pub(crate) fn one_line(text: &str) -> String {
    escaped(text, |_| false)
}

/// `bytes` as safe text; bytes that are no UTF-8 become `\xNN`.
pub(crate) fn bytes(bytes: &[u8]) -> String {
    let mut safe = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        safe.push_str(&text(chunk.valid()));
        for byte in chunk.invalid() {
            safe.push_str(&format!("\\x{byte:02x}"));
        }
    }
    safe
}

/// Copies everything that `from` still gives, safely, whatever its size. The text is ended with a line feed.
///
/// # Errors
/// Those of the two streams.
pub(crate) fn copy(from: &mut dyn Read, to: &mut dyn Write) -> io::Result<()> {
    let mut buffer = vec![0; COPY_BUFFER_BYTES];
    let mut held = 0;
    let mut last = b'\n';
    loop {
        let count = match from.read(&mut buffer[held..]) {
            Ok(count) => count,
            Err(fault) if fault.kind() == io::ErrorKind::Interrupted => continue,
            Err(fault) => return Err(fault),
        };
        let filled = held + count;
        // A character may be split between two reads; its beginning, at most three bytes, waits for the rest.
        let ready = if count == 0 { filled } else { filled - unfinished(&buffer[..filled]) };
        if let Some(byte) = buffer[..ready].last() {
            last = *byte;
        }
        to.write_all(bytes(&buffer[..ready]).as_bytes())?;
        if count == 0 {
            break;
        }
        buffer.copy_within(ready..filled, 0);
        held = filled - ready;
    }
    if last != b'\n' {
        to.write_all(b"\n")?;
    }
    to.flush()
}

/// Length of the character that `bytes` ends in the middle of.
fn unfinished(bytes: &[u8]) -> usize {
    let Some(chunk) = bytes.utf8_chunks().last() else {
        return 0;
    };
    let end = chunk.invalid();
    match std::str::from_utf8(end) {
        Err(fault) if fault.error_len().is_none() => end.len(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn copied(input: &[u8]) -> String {
        let mut output = Vec::new();
        copy(&mut &*input, &mut output).unwrap();
        String::from_utf8(output).unwrap()
    }

    #[test]
    fn what_steers_is_shown() {
        assert_eq!(text("a\tb\n\u{1b}[2J\r\u{7}"), "a\tb\n\\u{1b}[2J\\r\\u{7}");
        assert_eq!(text("\u{9b}31m \u{7f} \u{202e}x"), "\\u{9b}31m \\u{7f} \\u{202e}x");
        assert_eq!(one_line("a\nb"), "a\\nb");
        assert_eq!(text("plain é 漢 ✓"), "plain é 漢 ✓");
    }

    #[test]
    fn bytes_that_are_no_text_are_shown() {
        assert_eq!(bytes(b"a\xff\x1bb\xe6\xbc"), "a\\xff\\u{1b}b\\xe6\\xbc");
    }

    #[test]
    fn copying_ends_with_a_line_feed() {
        assert_eq!(copied(b""), "");
        assert_eq!(copied(b"a"), "a\n");
        assert_eq!(copied(b"a\n"), "a\n");
        assert_eq!(copied(b"\xe6\xbc"), "\\xe6\\xbc\n");
    }

    #[test]
    fn characters_survive_a_border_between_reads() {
        struct OneByte<'a>(&'a [u8]);
        impl Read for OneByte<'_> {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                let count = self.0.len().min(1);
                buffer[..count].copy_from_slice(&self.0[..count]);
                self.0 = &self.0[count..];
                Ok(count)
            }
        }
        let text = "é漢𝄞\u{1b}x".repeat(3);
        let mut output = Vec::new();
        copy(&mut OneByte(text.as_bytes()), &mut output).unwrap();
        assert_eq!(String::from_utf8(output).unwrap(), format!("{}\n", "é漢𝄞\\u{1b}x".repeat(3)));

        let long = "漢".repeat(COPY_BUFFER_BYTES);
        assert_eq!(copied(long.as_bytes()), format!("{long}\n"));
    }
}
