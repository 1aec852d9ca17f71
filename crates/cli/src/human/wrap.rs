//! Lines that fit a terminal.

use std::os::fd::AsFd;

use super::block::LABEL_COLUMNS;
use crate::limits::WRAP_MIN_COLUMNS;

/// Columns of a terminal; `None` when the stream is none, or does not tell.
pub(crate) fn columns_of(stream: impl AsFd) -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(stream).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

/// `text` broken between words so that it fits between `indent` and the last of `columns`; the lines behind the first begin
/// below it. A word that is too long stays whole: it is there to be copied.
pub(crate) fn hanging(text: &str, indent: usize, columns: Option<usize>) -> String {
    let Some(columns) = columns.filter(|columns| *columns >= indent + WRAP_MIN_COLUMNS) else {
        return text.to_owned();
    };
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in text.split(' ') {
        let width = word.chars().count();
        if used > 0 && indent + used + 1 + width > columns {
            lines.push(" ".repeat(indent));
            used = 0;
        }
        let line = lines.last_mut().expect("there is a first line");
        if used > 0 {
            line.push(' ');
            used += 1;
        }
        line.push_str(word);
        used += width;
    }
    lines.join("\n")
}

/// The lines of a [`Block`](super::block::Block) with labels of the usual width, each value broken between words where it is
/// too long for a terminal of so many columns.
pub(crate) fn block(text: &str, columns: Option<usize>) -> String {
    let mut wrapped = String::with_capacity(text.len());
    for line in text.lines() {
        let (label, value) = line.split_at_checked(LABEL_COLUMNS).unwrap_or((line, ""));
        wrapped.push_str(label);
        wrapped.push_str(&hanging(value, LABEL_COLUMNS, columns));
        wrapped.push('\n');
    }
    wrapped
}

/// `text` cut to so many columns, with a mark where something is missing.
pub(crate) fn cut(text: &str, columns: usize) -> String {
    if text.chars().count() <= columns {
        return text.to_owned();
    }
    let kept: String = text.chars().take(columns.saturating_sub(1)).collect();
    format!("{kept}…")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_go_to_the_next_line() {
        let text = "one two three four five six seven eight nine ten eleven twelve";
        assert_eq!(hanging(text, 4, None), text);
        assert_eq!(hanging(text, 4, Some(20)), text, "too narrow to be of use");
        let wrapped = hanging(text, 4, Some(44));
        assert_eq!(wrapped, "one two three four five six seven eight\n    nine ten eleven twelve");
        let path = "/a".repeat(40);
        assert_eq!(hanging(&format!("see {path} there"), 0, Some(40)), format!("see\n{path}\nthere"));
    }

    #[test]
    fn values_are_broken_below_their_labels() {
        let path = "/a".repeat(30);
        let text =
            format!("needs       --one-flag --two-flags --three-flags --four-flags\nanswer      {path}\n");
        assert_eq!(block(&text, None), text);
        assert_eq!(block(&text, Some(80)), text);
        let wrapped = text.replace(" --four", "\n            --four");
        assert_eq!(block(&text, Some(52)), wrapped, "a path is there to be copied");
    }

    #[test]
    fn a_cut_is_marked() {
        assert_eq!((cut("abc", 3).as_str(), cut("abcd", 3).as_str()), ("abc", "ab…"));
    }
}
