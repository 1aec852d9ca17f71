//! Standard error of a CLI: log lines in no fixed form, which are evidence for people. No class of error is read from them, but from a
//! marker that a profile looks for, and from the last line where it is that of our own runner, whose form is a contract.

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read};

use crate::limits::{ERROR_LINE_MAX_BYTES, ERROR_LINES_MAX_COUNT};
use crate::screen;

/// What was seen on standard error.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct StandardError {
    /// Whether a line holds the marker that was looked for.
    pub(crate) marked: bool,
    /// The last lines with words, screened, as one text.
    pub(crate) last_words: Option<String>,
    /// The last of these lines by itself, screened.
    pub(crate) last_line: Option<String>,
}

impl StandardError {
    /// Reads all of it, in memory for a few lines.
    pub(crate) fn read(stream: &mut dyn Read, marker: &str) -> io::Result<Self> {
        let mut stream = BufReader::new(stream);
        let mut marked = false;
        let mut last = VecDeque::new();
        let mut line = Vec::new();
        loop {
            line.clear();
            if stream.by_ref().take(ERROR_LINE_MAX_BYTES as u64).read_until(b'\n', &mut line)? == 0 {
                let screened = |text: &str| Some(screen::message(text)).filter(|words| !words.is_empty());
                let last_line = last.back().and_then(|line: &String| screened(line));
                let last_words = screened(&Vec::from(last).join(" "));
                return Ok(Self { marked, last_words, last_line });
            }
            if line.last() != Some(&b'\n') {
                stream.skip_until(b'\n')?;
            }
            let text = String::from_utf8_lossy(&line);
            marked |= !marker.is_empty() && text.contains(marker);
            if !text.trim().is_empty() {
                last.push_back(text.trim().to_owned());
                if last.len() > ERROR_LINES_MAX_COUNT {
                    last.pop_front();
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marker_and_last_words() {
        let long = "x".repeat(ERROR_LINE_MAX_BYTES * 2);
        let many = (1..20).map(|number| format!("l{number}\n")).collect::<String>();
        for (text, marked, words, line) in [
            ("", false, None, None),
            (" \n\n", false, None, None),
            ("a MARK\n\n  \n", true, Some("a MARK"), Some("a MARK")),
            ("MARK\nlast ÿ", true, Some("MARK last ÿ"), Some("last ÿ")),
            (
                &format!("{long}MARK\nlast\n"),
                false,
                Some(&*format!("{} last", &long[..ERROR_LINE_MAX_BYTES])),
                Some("last"),
            ),
            (&many, false, Some("l12 l13 l14 l15 l16 l17 l18 l19"), Some("l19")),
        ] {
            let seen = StandardError::read(&mut text.as_bytes(), "MARK").unwrap();
            assert_eq!(
                (seen.marked, seen.last_words.as_deref(), seen.last_line.as_deref()),
                (marked, words, line)
            );
        }
    }
}
