//! Which bytes of a target git compares: line ends may be turned to LF first (gitattributes(5), `text` and `eol`).

use std::borrow::Cow;

use crate::git::{Answer, Settings};

/// The attributes of one path that decide over its line ends, as `git check-attr` words them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Attributes {
    text: String,
    crlf: String,
    eol: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Conversion {
    Undefined,
    Never,
    Guessed,
    Always,
}

impl Attributes {
    /// Reads the answer of `git check-attr -z text crlf eol`: triples of path, name and value.
    pub(crate) fn read(answer: &Answer) -> Vec<(String, Attributes)> {
        let Some(text) = answer.succeeded().and_then(|bytes| str::from_utf8(bytes).ok()) else {
            return Vec::new();
        };
        let fields: Vec<&str> = text.split_terminator('\0').collect();
        let mut read: Vec<(String, Attributes)> = Vec::new();
        for triple in fields.chunks_exact(3) {
            if read.last().is_none_or(|(path, _)| path != triple[0]) {
                read.push((triple[0].to_owned(), Attributes::default()));
            }
            if let Some((_, attributes)) = read.last_mut() {
                match triple[1] {
                    "text" => attributes.text = triple[2].to_owned(),
                    "crlf" => attributes.crlf = triple[2].to_owned(),
                    "eol" => attributes.eol = triple[2].to_owned(),
                    _ => {}
                }
            }
        }
        read
    }

    fn conversion(&self, settings: &Settings) -> Conversion {
        let declared = match word(&self.text) {
            Conversion::Undefined => word(&self.crlf),
            declared => declared,
        };
        match declared {
            Conversion::Undefined if matches!(self.eol.as_str(), "lf" | "crlf") => Conversion::Always,
            Conversion::Undefined if converts_by_default(settings) => Conversion::Guessed,
            Conversion::Undefined => Conversion::Never,
            declared => declared,
        }
    }
}

fn word(value: &str) -> Conversion {
    match value {
        "set" | "input" => Conversion::Always,
        "unset" => Conversion::Never,
        "auto" => Conversion::Guessed,
        _ => Conversion::Undefined,
    }
}

/// Whether `core.autocrlf` is on or `input`.
fn converts_by_default(settings: &Settings) -> bool {
    let value = settings.autocrlf.as_ref().map(|value| value.to_string_lossy().to_ascii_lowercase());
    match value.as_deref() {
        None | Some("false" | "no" | "off" | "") => false,
        Some(number) => number.parse::<i64>().ok() != Some(0),
    }
}

/// The bytes that git compares.
pub(crate) fn compared<'c>(content: &'c [u8], attributes: &Attributes, settings: &Settings) -> Cow<'c, [u8]> {
    let conversion = attributes.conversion(settings);
    let converts = match conversion {
        Conversion::Always => true,
        Conversion::Guessed => !looks_binary(content),
        Conversion::Never | Conversion::Undefined => false,
    };
    if !converts || !has_crlf(content) {
        return Cow::Borrowed(content);
    }
    let mut kept = Vec::with_capacity(content.len());
    for (index, byte) in content.iter().enumerate() {
        if *byte != b'\r' || content.get(index + 1) != Some(&b'\n') {
            kept.push(*byte);
        }
    }
    Cow::Owned(kept)
}

/// Whether a CRLF line end is in the bytes.
pub(crate) fn has_crlf(content: &[u8]) -> bool {
    memchr::memmem::find(content, b"\r\n").is_some()
}

/// git's guess: a lone carriage return, a NUL, or more than one unprintable byte in 128 printable ones.
fn looks_binary(content: &[u8]) -> bool {
    let (mut printable, mut unprintable) = (0_usize, 0_usize);
    for (index, byte) in content.iter().enumerate() {
        match byte {
            0 => return true,
            b'\r' if content.get(index + 1) != Some(&b'\n') => return true,
            b'\r' | b'\n' => {}
            0x08 | b'\t' | 0x1b | 0x0c => printable += 1,
            1..32 | 127 => unprintable += 1,
            _ => printable += 1,
        }
    }
    if content.last() == Some(&0x1a) {
        unprintable -= 1;
    }
    (printable >> 7) < unprintable
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attributes(text: &str, crlf: &str, eol: &str) -> Attributes {
        Attributes { text: text.to_owned(), crlf: crlf.to_owned(), eol: eol.to_owned() }
    }

    #[test]
    fn conversion_by_attribute_and_setting() {
        let none = "unspecified";
        let on = Settings { autocrlf: Some("true".into()), eol: None };
        let off = Settings { autocrlf: Some("false".into()), eol: None };
        let unset = Settings::default();
        for (values, settings, converted) in [
            ((none, none, none), &unset, false),
            ((none, none, none), &off, false),
            ((none, none, none), &on, true),
            (("set", none, none), &unset, true),
            (("unset", none, none), &on, false),
            (("unset", none, "lf"), &on, false),
            (("auto", none, none), &unset, true),
            ((none, "input", none), &unset, true),
            ((none, "unset", none), &on, false),
            ((none, none, "crlf"), &unset, true),
        ] {
            let (text, crlf, eol) = values;
            let compared = compared(b"a\r\nb\r\n", &attributes(text, crlf, eol), settings);
            assert_eq!(compared.as_ref() == b"a\nb\n", converted, "{values:?} {settings:?}");
        }
    }

    #[test]
    fn a_guess_spares_binary_files() {
        let auto = attributes("auto", "", "");
        for content in [&b"a\r\n\0"[..], b"a\rb\r\n", b"\x01\r\n"] {
            assert_eq!(compared(content, &auto, &Settings::default()).as_ref(), content);
        }
        assert_eq!(compared(b"a\r\n\x1a", &auto, &Settings::default()).as_ref(), b"a\n\x1a");
        assert_eq!(
            compared(b"a\rb\r\n", &attributes("set", "", ""), &Settings::default()).as_ref(),
            b"a\rb\n"
        );
    }
}
