//! Standard error of a CLI: log lines in no fixed form. It is evidence for people; no class of error is read from it.

use std::io::{self, BufRead, BufReader, Read};

use crate::limits::ERROR_LINE_MAX_BYTES;
use crate::screen;

/// What was seen on standard error.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct StandardError {
    /// Whether a line holds the marker that was looked for.
    pub(crate) marked: bool,
    /// The last line with words, screened.
    pub(crate) last_line: Option<String>,
}

impl StandardError {
    /// Reads all of it, in memory for one line.
    pub(crate) fn read(stream: &mut dyn Read, marker: &str) -> io::Result<Self> {
        let mut stream = BufReader::new(stream);
        let mut marked = false;
        let mut last = String::new();
        let mut line = Vec::new();
        loop {
            line.clear();
            if stream.by_ref().take(ERROR_LINE_MAX_BYTES as u64).read_until(b'\n', &mut line)? == 0 {
                let last_line = Some(screen::message(&last)).filter(|line| !line.is_empty());
                return Ok(Self { marked, last_line });
            }
            if line.last() != Some(&b'\n') {
                stream.skip_until(b'\n')?;
            }
            let text = String::from_utf8_lossy(&line);
            marked |= !marker.is_empty() && text.contains(marker);
            if !text.trim().is_empty() {
                last = text.into_owned();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marker_and_last_line() {
        let long = "x".repeat(ERROR_LINE_MAX_BYTES * 2);
        for (text, marked, last) in [
            ("", false, None),
            ("a MARK\n\n  \n", true, Some("a MARK")),
            ("MARK\nlast ÿ", true, Some("last ÿ")),
            (&format!("first\n{long}MARK\nlast\n"), false, Some("last")),
        ] {
            let seen = StandardError::read(&mut text.as_bytes(), "MARK").unwrap();
            assert_eq!((seen.marked, seen.last_line.as_deref()), (marked, last));
        }
    }
}
