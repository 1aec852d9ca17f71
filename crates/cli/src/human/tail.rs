//! The last lines of a raw file.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;

use super::safe;
use crate::limits::{LOG_TAIL_MAX_BYTES, LOG_TAIL_MAX_LINES};

/// The last [`LOG_TAIL_MAX_LINES`] lines of the file, safe for a terminal, and whether there was more before them.
///
/// # Errors
/// Those of reading; a symbolic link is not followed.
pub(crate) fn of_file(path: &Path) -> io::Result<(String, bool)> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let mut file = File::options().read(true).custom_flags(flags.bits() as i32).open(path)?;
    let length = file.metadata()?.len();
    let start = length.saturating_sub(LOG_TAIL_MAX_BYTES);
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    file.take(LOG_TAIL_MAX_BYTES).read_to_end(&mut bytes)?;
    let (tail, cut) = last_lines(&bytes);
    Ok((safe::bytes(tail), cut || start > 0))
}

fn last_lines(bytes: &[u8]) -> (&[u8], bool) {
    let end = bytes.len() - usize::from(bytes.ends_with(b"\n"));
    let borders = bytes[..end].iter().enumerate().rev();
    let start = borders
        .filter(|(_, byte)| **byte == b'\n')
        .nth(LOG_TAIL_MAX_LINES - 1)
        .map_or(0, |(position, _)| position + 1);
    (&bytes[start..end], start > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("stdout");
        let numbered = |from: usize, to: usize| {
            (from..=to).map(|number| format!("line {number}")).collect::<Vec<_>>().join("\n")
        };
        for (content, tail, cut) in [
            (String::new(), String::new(), false),
            ("one".to_owned(), "one".to_owned(), false),
            (numbered(1, 20) + "\n", numbered(1, 20), false),
            (numbered(1, 21), numbered(2, 21), true),
            ("\u{1b}c\n".to_owned(), "\\u{1b}c".to_owned(), false),
        ] {
            std::fs::write(&path, &content).unwrap();
            assert_eq!(of_file(&path).unwrap(), (tail, cut), "{content}");
        }
    }

    #[test]
    fn one_endless_line_is_bounded_and_links_are_not_followed() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("stdout");
        std::fs::write(&path, vec![b'x'; LOG_TAIL_MAX_BYTES as usize * 2]).unwrap();
        let (tail, cut) = of_file(&path).unwrap();
        assert_eq!((tail.len() as u64, cut), (LOG_TAIL_MAX_BYTES, true));

        let link = directory.path().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert!(of_file(&link).is_err());
    }
}
