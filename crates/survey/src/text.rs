//! Text of the report: names and lines of the workspace made harmless, numbers, tables.
//!
//! Whatever comes from the workspace is shown through [`visible`], and in Markdown only inside a
//! code span or a fenced block, where nothing of it is a link, an image or markup.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::limits::TEXT_SHOWN_MAX_CHARS;

/// Bytes of unknown origin as one line of text: characters that steer a terminal or hide text, and
/// bytes that are no UTF-8, are written as escapes; at most [`TEXT_SHOWN_MAX_CHARS`] characters of
/// the original are shown.
pub(crate) fn visible(bytes: &[u8]) -> String {
    let mut text = String::new();
    let mut shown = 0;
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            if shown == TEXT_SHOWN_MAX_CHARS {
                text.push('…');
                return text;
            }
            shown += 1;
            if is_hazardous(character) {
                text.extend(character.escape_default());
            } else {
                text.push(character);
            }
        }
        for byte in chunk.invalid() {
            if shown == TEXT_SHOWN_MAX_CHARS {
                text.push('…');
                return text;
            }
            shown += 1;
            text.push_str(&format!("\\x{byte:02x}"));
        }
    }
    text
}

/// Controls, and the invisible characters that reorder, hide or break what is seen.
fn is_hazardous(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}')
}

/// A path, made visible.
pub(crate) fn path(path: &Path) -> String {
    visible(path.as_os_str().as_bytes())
}

/// A name, made visible, in a code span.
pub(crate) fn code_name(name: &OsStr) -> String {
    code(&visible(name.as_bytes()))
}

/// A path, made visible, in a code span.
pub(crate) fn code_path(path: &Path) -> String {
    code_name(path.as_os_str())
}

/// Visible text as a Markdown code span, whatever it holds.
pub(crate) fn code(text: &str) -> String {
    let ticks = "`".repeat(longest_run_of_ticks(text) + 1);
    let padding = if text.is_empty() || text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{ticks}{padding}{text}{padding}{ticks}")
}

/// Visible lines as a fenced Markdown block, whatever they hold.
pub(crate) fn block(lines: &[String]) -> String {
    let longest = lines.iter().map(|line| longest_run_of_ticks(line)).max();
    let fence = "`".repeat(longest.map_or(3, |run| (run + 1).max(3)));
    format!("{fence}text\n{}\n{fence}\n", lines.join("\n"))
}

fn longest_run_of_ticks(text: &str) -> usize {
    text.split(|character| character != '`').map(str::len).max().unwrap_or(0)
}

/// A number with a comma between thousands.
pub(crate) fn number(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number and its noun, in the plural where it takes one.
pub(crate) fn count(value: u64, noun: &str) -> String {
    let plural = match noun.strip_suffix('y') {
        _ if value == 1 => noun.to_owned(),
        Some(stem) => format!("{stem}ies"),
        None => format!("{noun}s"),
    };
    format!("{} {plural}", number(value))
}

/// A size in the largest binary unit that keeps it at least 1.
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let mut unit_bytes = 1024_u128;
    let mut unit = UNITS[0];
    for larger in &UNITS[1..] {
        if u128::from(bytes) < unit_bytes * 1024 {
            break;
        }
        unit_bytes *= 1024;
        unit = larger;
    }
    let tenths = u128::from(bytes) * 10 / unit_bytes;
    format!("{}.{} {unit}", tenths / 10, tenths % 10)
}

/// A part of a whole in percent, with one digit after the point, rounded to the nearest.
pub(crate) fn share(part: u64, whole: u64) -> String {
    if whole == 0 {
        return "–".to_owned();
    }
    let tenths = (u128::from(part) * 2000 + u128::from(whole)) / (u128::from(whole) * 2);
    if tenths == 0 && part > 0 {
        return "< 0.1 %".to_owned();
    }
    format!("{}.{} %", tenths / 10, tenths % 10)
}

/// Words as an enumeration: `a`, `a and b`, `a, b and c`.
pub(crate) fn enumeration(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// How a column of a table is aligned.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
}

/// A Markdown table whose columns also line up where it is read as plain text.
pub(crate) fn table(columns: &[(&str, Align)], rows: &[Vec<String>]) -> String {
    let rows: Vec<Vec<String>> =
        rows.iter().map(|row| row.iter().map(|cell| cell.replace('|', "\\|")).collect()).collect();
    let width = |index: usize| {
        rows.iter()
            .map(|row| row[index].chars().count())
            .chain([columns[index].0.chars().count(), 3])
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns.len()).map(width).collect();
    let mut text = String::new();
    let mut push_row = |cells: &[String]| {
        for ((cell, (_, align)), width) in cells.iter().zip(columns).zip(&widths) {
            let padding = " ".repeat(width - cell.chars().count());
            match align {
                Align::Left => text.push_str(&format!("| {cell}{padding} ")),
                Align::Right => text.push_str(&format!("| {padding}{cell} ")),
            }
        }
        text.push_str("|\n");
    };
    let titles: Vec<String> = columns.iter().map(|(title, _)| (*title).to_owned()).collect();
    push_row(&titles);
    let rules: Vec<String> = columns
        .iter()
        .zip(&widths)
        .map(|((_, align), width)| match align {
            Align::Left => "-".repeat(*width),
            Align::Right => format!("{}:", "-".repeat(width - 1)),
        })
        .collect();
    push_row(&rules);
    for row in &rows {
        push_row(row);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_a_terminal_or_hides_text_is_escaped() {
        assert_eq!(visible(b"a\x1b[31mb\n\t\x07\x7f"), r"a\u{1b}[31mb\n\t\u{7}\u{7f}");
        assert_eq!(visible("x\u{202e}y\u{200b}z\u{9b}".as_bytes()), r"x\u{202e}y\u{200b}z\u{9b}");
        assert_eq!(visible(b"caf\xc3\xa9 \xff\xfe"), r"café \xff\xfe");
    }

    #[test]
    fn long_text_is_cut_in_characters_and_bytes_alike() {
        let long = "é".repeat(TEXT_SHOWN_MAX_CHARS + 1);
        assert_eq!(visible(long.as_bytes()).chars().count(), TEXT_SHOWN_MAX_CHARS + 1);
        let exact = "é".repeat(TEXT_SHOWN_MAX_CHARS);
        assert_eq!(visible(exact.as_bytes()), exact);
        let broken = vec![0xff; TEXT_SHOWN_MAX_CHARS + 1];
        assert_eq!(visible(&broken).len(), TEXT_SHOWN_MAX_CHARS * 4 + '…'.len_utf8());
    }

    #[test]
    fn no_text_can_leave_its_code_span_or_block() {
        assert_eq!(code("a"), "`a`");
        assert_eq!(code("a``b"), "```a``b```");
        assert_eq!(code("`a"), "`` `a ``");
        assert_eq!(code(""), "`  `");
        assert_eq!(block(&["````".to_owned()]), "`````text\n````\n`````\n");
        assert_eq!(block(&["a".to_owned(), "b".to_owned()]), "```text\na\nb\n```\n");
    }

    #[test]
    fn numbers_read_well() {
        assert_eq!(number(0), "0");
        assert_eq!(number(999), "999");
        assert_eq!(number(1_000), "1,000");
        assert_eq!(number(1_234_567), "1,234,567");
        assert_eq!(count(1, "file"), "1 file");
        assert_eq!(count(1_000, "file"), "1,000 files");
        assert_eq!(count(2, "nested repository"), "2 nested repositories");
        assert_eq!(size(1023), "1023 B");
        assert_eq!(size(1024), "1.0 KiB");
        assert_eq!(size(1_572_864), "1.5 MiB");
        assert_eq!(size(u64::MAX), "16777215.9 TiB");
        assert_eq!(share(1, 3), "33.3 %");
        assert_eq!(share(2, 3), "66.7 %");
        assert_eq!(share(3, 3), "100.0 %");
        assert_eq!(share(1, 1_000_000), "< 0.1 %");
        assert_eq!(share(0, 0), "–");
    }

    #[test]
    fn enumerations_read_well() {
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(enumeration(&words("")), "");
        assert_eq!(enumeration(&words("a")), "a");
        assert_eq!(enumeration(&words("a b c")), "a, b and c");
    }

    #[test]
    fn tables_line_up_and_keep_their_columns() {
        let rows = vec![vec!["`a|b`".to_owned(), "1".to_owned()], vec!["c".to_owned(), "1,000".to_owned()]];
        assert_eq!(
            table(&[("Name", Align::Left), ("Size", Align::Right)], &rows),
            concat!(
                "| Name   |  Size |\n",
                "| ------ | ----: |\n",
                "| `a\\|b` |     1 |\n",
                "| c      | 1,000 |\n",
            )
        );
    }
}
