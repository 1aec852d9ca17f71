//! The small forms inside header lines.

use crate::limits::HUNK_NUMBER_MAX_LINES;

/// The dates by which git knows a missing side.
const EPOCH_DATES: [&[u8]; 2] = [b"1970-01-01", b"1969-12-31"];

/// Exactly six octal digits.
pub(super) fn mode(text: &[u8]) -> Option<[u8; 6]> {
    let mode: [u8; 6] = text.try_into().ok()?;
    mode.iter().all(|digit| matches!(digit, b'0'..=b'7')).then_some(mode)
}

/// Whether a mode has a set-user-id, set-group-id or sticky bit: the third digit from the left is theirs.
pub(super) fn is_special(mode: [u8; 6]) -> bool {
    mode[2] != b'0'
}

/// What follows `index `: `HEX..HEX`, perhaps with a mode. Outer `None`: another form.
pub(super) fn index_mode(text: &[u8]) -> Option<Option<[u8; 6]>> {
    let (range, mode_text) = match text.iter().position(|byte| *byte == b' ') {
        Some(blank) => (&text[..blank], Some(&text[blank + 1..])),
        None => (text, None),
    };
    let dots = memchr::memmem::find(range, b"..")?;
    let is_hex = |part: &[u8]| !part.is_empty() && part.iter().all(u8::is_ascii_hexdigit);
    if !is_hex(&range[..dots]) || !is_hex(&range[dots + 2..]) {
        return None;
    }
    match mode_text {
        None => Some(None),
        Some(text) => mode(text).map(Some),
    }
}

/// The four numbers of `@@ -N[,N] +N[,N] @@…`: old start and count, new start and count.
pub(super) fn hunk_header(line: &[u8]) -> Option<[u32; 4]> {
    let (old_start, rest) = number(line.strip_prefix(b"@@ -")?)?;
    let (old_count, rest) = count(rest)?;
    let (new_start, rest) = number(rest.strip_prefix(b" +")?)?;
    let (new_count, rest) = count(rest)?;
    rest.starts_with(b" @@").then_some([old_start, old_count, new_start, new_count])
}

fn count(text: &[u8]) -> Option<(u32, &[u8])> {
    match text.strip_prefix(b",") {
        Some(text) => number(text),
        None => Some((1, text)),
    }
}

fn number(text: &[u8]) -> Option<(u32, &[u8])> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut value = 0_u32;
    for digit in &text[..digits] {
        value = value.checked_mul(10)?.checked_add(u32::from(digit - b'0'))?;
    }
    (digits > 0 && value <= HUNK_NUMBER_MAX_LINES).then_some((value, &text[digits..]))
}

/// Whether a line that starts with `@@` carries a number after a minus or plus.
pub(super) fn has_line_numbers(line: &[u8]) -> bool {
    line.windows(2).any(|pair| matches!(pair[0], b'-' | b'+') && pair[1].is_ascii_digit())
}

/// Whether a line belongs to a combined diff.
pub(super) fn is_combined(line: &[u8]) -> bool {
    line.starts_with(b"diff --cc ") || line.starts_with(b"diff --combined ") || line.starts_with(b"@@@")
}

/// Whether the text after a header path holds the date of the epoch.
pub(super) fn has_epoch(after: &[u8]) -> bool {
    EPOCH_DATES.iter().any(|date| memchr::memmem::find(after, date).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hunk_headers() {
        assert_eq!(hunk_header(b"@@ -1,2 +3,4 @@ fn main"), Some([1, 2, 3, 4]));
        assert_eq!(hunk_header(b"@@ -1 +3 @@"), Some([1, 1, 3, 1]));
        assert_eq!(hunk_header(b"@@ -0,0 +1,2147483647 @@"), Some([0, 0, 1, 2_147_483_647]));
        for wrong in [
            "@@ -1,2 +3,4",
            "@@ -1,2 +3,4@@",
            "@@ -,2 +3 @@",
            "@@ -1, +3 @@",
            "@@ -1 3 @@",
            "@@ -a +1 @@",
            "@@  -1 +1 @@",
            "@@ +1 -1 @@",
            "@@ -1 +2147483648 @@",
            "@@ -99999999999 +1 @@",
            "@@ ... @@",
            "@@ ",
        ] {
            assert_eq!(hunk_header(wrong.as_bytes()), None, "{wrong}");
        }
    }

    #[test]
    fn index_lines() {
        assert_eq!(index_mode(b"0a..fF"), Some(None));
        assert_eq!(index_mode(b"0a..ff 100644"), Some(Some(*b"100644")));
        for wrong in [
            "",
            "..",
            "0a..",
            "0a.ff",
            "0a..ff ",
            "0a..ff 10064",
            "0a..ff 100648",
            "0a..fg",
            "0a..ff 100644 ",
        ] {
            assert_eq!(index_mode(wrong.as_bytes()), None, "{wrong}");
        }
    }

    #[test]
    fn modes() {
        assert_eq!(mode(b"100644"), Some(*b"100644"));
        assert!([&b"10064"[..], b"1006440", b"100648", b""].into_iter().all(|text| mode(text).is_none()));
        assert!(is_special(*b"104755") && is_special(*b"102644") && is_special(*b"101644"));
        assert!(![*b"100644", *b"100755", *b"120000", *b"160000"].into_iter().any(is_special));
    }
}
