//! What one file holds: text or not, how many lines, which marks.

use std::io::{self, Read};

use crate::limits::{FILE_HEAD_BYTES, FILE_HELD_MAX_BYTES};

/// What a mark says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Word {
    /// `TODO`
    Todo,
    /// `FIXME`
    Fixme,
}

/// What was read of one file.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Content {
    /// It holds a NUL byte near its start.
    pub(crate) is_binary: bool,
    /// Lines; a last line without line feed counts.
    pub(crate) lines: u64,
    /// Bytes taken from the file.
    pub(crate) read_bytes: u64,
}

/// Reads files one after the other into the same memory.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    held: Vec<u8>,
}

impl Reader {
    /// Reads at most `allowance` bytes of a file and calls `on_mark` with line number, word and
    /// the text from the mark to the end of its line, for each line that has a mark.
    ///
    /// Marks are looked for in the first [`FILE_HELD_MAX_BYTES`] bytes. A binary file is left at
    /// once.
    ///
    /// # Errors
    /// The file can not be read.
    pub(crate) fn read(
        &mut self,
        file: &mut dyn Read,
        allowance: u64,
        mut on_mark: impl FnMut(u64, Word, &[u8]),
    ) -> io::Result<Content> {
        let held = &mut self.held;
        held.clear();
        let mut file = file.take(allowance);
        (&mut file).take(FILE_HEAD_BYTES as u64).read_to_end(held)?;
        if held.contains(&0) {
            return Ok(Content { is_binary: true, lines: 0, read_bytes: held.len() as u64 });
        }
        let rest = (FILE_HELD_MAX_BYTES - held.len()) as u64;
        (&mut file).take(rest).read_to_end(held)?;

        let mut content = Content { read_bytes: held.len() as u64, ..Content::default() };
        for line in held.split_inclusive(|&byte| byte == b'\n') {
            if let Some((word, start)) = find_mark(line) {
                on_mark(content.lines + 1, word, line[start..].trim_ascii_end());
            }
            if line.ends_with(b"\n") {
                content.lines += 1;
            }
        }
        let mut last = held.last().copied();
        loop {
            held.clear();
            let got = (&mut file).take(FILE_HEAD_BYTES as u64).read_to_end(held)?;
            if got == 0 {
                break;
            }
            content.read_bytes += got as u64;
            content.lines += held.iter().filter(|&&byte| byte == b'\n').count() as u64;
            last = held.last().copied();
        }
        content.lines += u64::from(last.is_some_and(|byte| byte != b'\n'));
        Ok(content)
    }
}

/// The first mark of a line and where it starts: the word in capitals, on its own, and not in quotes,
/// where it is spoken of.
fn find_mark(line: &[u8]) -> Option<(Word, usize)> {
    let is_word_byte = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let mut is_held = false;
    for (index, byte) in line.iter().enumerate() {
        if !is_held && matches!(byte, b'T' | b'F') {
            let rest = &line[index..];
            for (text, word) in [(&b"TODO"[..], Word::Todo), (b"FIXME", Word::Fixme)] {
                if let Some(after) = rest.strip_prefix(text)
                    && !after.first().is_some_and(is_word_byte)
                {
                    return Some((word, index));
                }
            }
        }
        is_held = is_word_byte(byte) || matches!(byte, b'"' | b'\'' | b'`');
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> (Content, Vec<(u64, Word, String)>) {
        let mut marks = Vec::new();
        let content = Reader::default()
            .read(&mut &bytes[..], u64::MAX, |line, word, text| {
                marks.push((line, word, String::from_utf8_lossy(text).into_owned()));
            })
            .unwrap();
        (content, marks)
    }

    #[test]
    fn lines_are_counted_with_and_without_a_last_line_feed() {
        for (text, lines) in [("", 0), ("a", 1), ("a\n", 1), ("a\nb", 2), ("\n\n", 2)] {
            assert_eq!(read(text.as_bytes()).0.lines, lines, "{text:?}");
        }
    }

    #[test]
    fn a_binary_file_is_left_at_once() {
        let mut bytes = b"\x7fELF\0TODO\n".to_vec();
        bytes.resize(FILE_HEAD_BYTES * 4, b'\n');
        let (content, marks) = read(&bytes);
        assert!(content.is_binary);
        assert_eq!((content.lines, marks.len()), (0, 0));
        assert_eq!(content.read_bytes, FILE_HEAD_BYTES as u64);
    }

    #[test]
    fn lines_beyond_what_is_held_are_counted_in_passing() {
        let line = [&[b'x'; 99][..], b"\n"].concat();
        let count = FILE_HELD_MAX_BYTES / 100 * 3;
        let mut bytes = line.repeat(count);
        bytes.extend_from_slice(b"TODO: too far down");
        let (content, marks) = read(&bytes);
        assert_eq!(content.lines, count as u64 + 1);
        assert_eq!(content.read_bytes, bytes.len() as u64);
        assert!(marks.is_empty());
    }

    #[test]
    fn the_allowance_is_kept() {
        let bytes = b"a\n".repeat(100);
        let content = Reader::default().read(&mut &bytes[..], 10, |_, _, _| {}).unwrap();
        assert_eq!((content.read_bytes, content.lines), (10, 5));
    }

    #[test]
    fn a_file_that_can_not_be_read_is_an_error() {
        struct Broken;
        impl Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("broken"))
            }
        }
        assert!(Reader::default().read(&mut Broken, u64::MAX, |_, _, _| {}).is_err());
    }

    #[test]
    fn marks_are_words_in_capitals() {
        let text = b"// TODO: one  \r\nfn todo() {}\nTODOS = 1\nMY_TODO\nx = 1 # FIXME(me) two\n\
            A TODO and a FIXME\nTODO\n\"TODO\" 'FIXME' `TODO`";
        let expected = [
            (1, Word::Todo, "TODO: one"),
            (5, Word::Fixme, "FIXME(me) two"),
            (6, Word::Todo, "TODO and a FIXME"),
            (7, Word::Todo, "TODO"),
        ]
        .map(|(line, word, text)| (line, word, text.to_owned()));
        assert_eq!(read(text).1, expected);
    }
}
