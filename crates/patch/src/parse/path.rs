//! Paths in header lines, plain or C-quoted (patch-verifier.md 8.3).

use std::borrow::Cow;

use crate::rule::Rule;

/// The name of a missing side.
pub(super) const NULL: &[u8] = b"/dev/null";

/// One side of a section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HeaderPath<'a> {
    /// `/dev/null`: the file does not exist on this side.
    Null,
    /// A name, with its prefix if it has one.
    Real(Cow<'a, str>),
}

impl<'a> HeaderPath<'a> {
    pub(super) fn new(path: Cow<'a, str>) -> Self {
        if path.as_bytes() == NULL { Self::Null } else { Self::Real(path) }
    }

    /// The name, unless the side is missing.
    pub fn real(&self) -> Option<&str> {
        match self {
            Self::Null => None,
            Self::Real(path) => Some(path),
        }
    }
}

/// A path as it stands in a line, or decoded from quotes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Field<'a> {
    Plain(&'a [u8]),
    Quoted(Vec<u8>),
}

impl<'a> Field<'a> {
    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Self::Plain(bytes) => bytes,
            Self::Quoted(bytes) => bytes,
        }
    }

    pub(super) fn is_quoted(&self) -> bool {
        matches!(self, Self::Quoted(_))
    }

    /// The path as text: not empty, at most `max_bytes` long, UTF-8, no white space, control character or double quote.
    pub(super) fn text(self, max_bytes: u64) -> Option<Cow<'a, str>> {
        let text = match self {
            Self::Plain(bytes) => Cow::Borrowed(str::from_utf8(bytes).ok()?),
            Self::Quoted(bytes) => Cow::Owned(String::from_utf8(bytes).ok()?),
        };
        let hidden =
            |character: char| character.is_control() || character.is_whitespace() || character == '"';
        let fits = !text.is_empty() && text.len() as u64 <= max_bytes;
        (fits && !text.chars().any(hidden)).then_some(text)
    }
}

/// The path of a `---`, `+++`, rename or copy line, and what follows it (nothing, or TAB and a timestamp).
pub(super) fn header(text: &[u8]) -> Result<(Field<'_>, &[u8]), Rule> {
    if text.first() == Some(&b'"') {
        let (path, rest) = unquote(text)?;
        return match rest.first() {
            None | Some(b'\t') => Ok((Field::Quoted(path), rest)),
            Some(_) => Err(Rule::MalformedQuotedPath),
        };
    }
    let end = memchr::memchr(b'\t', text).unwrap_or(text.len());
    Ok((Field::Plain(&text[..end]), &text[end..]))
}

/// The two names of a `diff --git` line.
pub(super) fn pair(text: &[u8]) -> Result<(Field<'_>, Field<'_>), Rule> {
    let text = skip_blanks(text);
    let (first, rest) = if text.first() == Some(&b'"') {
        let (path, rest) = unquote(text)?;
        match rest {
            [b' ', next, ..] if !is_blank(*next) => (Field::Quoted(path), &rest[1..]),
            _ => return Err(Rule::MalformedQuotedPath),
        }
    } else {
        let (name, rest) = word(text);
        (Field::Plain(name), skip_blanks(rest))
    };
    if rest.first() == Some(&b'"') {
        let (path, rest) = unquote(rest)?;
        return if rest.is_empty() {
            Ok((first, Field::Quoted(path)))
        } else {
            Err(Rule::MalformedQuotedPath)
        };
    }
    let (second, rest) = word(rest);
    if first.bytes().is_empty() && !first.is_quoted() || second.is_empty() || !skip_blanks(rest).is_empty() {
        return Err(Rule::MalformedDiffHeader);
    }
    Ok((first, Field::Plain(second)))
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

fn skip_blanks(text: &[u8]) -> &[u8] {
    &text[text.iter().take_while(|byte| is_blank(**byte)).count()..]
}

fn word(text: &[u8]) -> (&[u8], &[u8]) {
    text.split_at(text.iter().take_while(|byte| !is_blank(**byte)).count())
}

/// Decodes a C-quoted name; answers it and the rest of the line.
fn unquote(text: &[u8]) -> Result<(Vec<u8>, &[u8]), Rule> {
    let mut decoded = Vec::new();
    let mut rest = &text[1..];
    loop {
        match *rest {
            [b'"', ..] => return Ok((decoded, &rest[1..])),
            [b'\\', a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', ..] => {
                decoded.push((a - b'0') << 6 | (b - b'0') << 3 | (c - b'0'));
                rest = &rest[4..];
            }
            [b'\\', escape, ..] => {
                decoded.push(match escape {
                    b'a' => 0x07,
                    b'b' => 0x08,
                    b'f' => 0x0c,
                    b'n' => b'\n',
                    b'r' => b'\r',
                    b't' => b'\t',
                    b'v' => 0x0b,
                    b'\\' | b'"' => escape,
                    _ => return Err(Rule::MalformedQuotedPath),
                });
                rest = &rest[2..];
            }
            [b'\\'] | [] => return Err(Rule::MalformedQuotedPath),
            [byte, ..] => {
                decoded.push(byte);
                rest = &rest[1..];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_names_are_decoded_to_bytes() {
        let (path, rest) = unquote(br#""a\a\b\f\n\r\t\v\\\"\303\257z"rest"#).unwrap();
        assert_eq!(path, b"a\x07\x08\x0c\n\r\t\x0b\\\"\xc3\xafz");
        assert_eq!(rest, b"rest");
    }

    #[test]
    fn half_a_quotation_is_refused() {
        for wrong in [r#""a"#, r#""a\"#, r#""a\q""#, r#""a\40""#, r#""a\400""#, r#""a\389""#, r#"""#] {
            assert_eq!(unquote(wrong.as_bytes()), Err(Rule::MalformedQuotedPath), "{wrong}");
        }
    }

    #[test]
    fn pairs_of_names() {
        let plain =
            |a: &'static str, b: &'static str| Ok((Field::Plain(a.as_bytes()), Field::Plain(b.as_bytes())));
        assert_eq!(pair(b"a/x b/x"), plain("a/x", "b/x"));
        assert_eq!(pair(b" a/x \t b/x "), plain("a/x", "b/x"));
        assert_eq!(
            pair(br#""a/x" "b/x""#),
            Ok((Field::Quoted(b"a/x".to_vec()), Field::Quoted(b"b/x".to_vec())))
        );
        for wrong in [&b""[..], b"a/x", b"a/x b/x c", b"a/s p b/s p", br#""a/x" "#] {
            assert!(pair(wrong).is_err(), "{wrong:?}");
        }
        for quoted in [r#""a/x"  b/x"#, r#""a/x"b/x"#, r#""a/x" "b/x" "#, r#""a/x" "b/x"z"#, r#"a/x "b/x"#] {
            assert_eq!(pair(quoted.as_bytes()), Err(Rule::MalformedQuotedPath), "{quoted}");
        }
    }

    #[test]
    fn what_can_be_shown() {
        let shown = |bytes: &'static [u8]| Field::Plain(bytes).text(8);
        assert_eq!(shown(b"a/x"), Some(Cow::Borrowed("a/x")));
        assert_eq!(shown("ä/x".as_bytes()), Some(Cow::Borrowed("ä/x")));
        for hidden in [&b""[..], b"a b", b"a\"b", b"a\x7f", b"a\xff", "a\u{a0}".as_bytes(), b"123456789"] {
            assert_eq!(shown(hidden), None, "{hidden:?}");
        }
    }
}
