//! Lines of a byte slice, numbered, without copying.

use memchr::memchr;

/// Lines that end at LF; a last line without LF counts.
#[derive(Debug, Clone)]
pub struct Lines<'a> {
    bytes: &'a [u8],
    at: usize,
    number: u64,
}

impl<'a> Lines<'a> {
    /// From the start of `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0, number: 0 }
    }

    /// Offset of the next line.
    pub fn at(&self) -> usize {
        self.at
    }

    /// Number of the line given last, from 1.
    pub fn number(&self) -> u64 {
        self.number
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = &'a [u8];

    #[inline]
    fn next(&mut self) -> Option<&'a [u8]> {
        let rest = &self.bytes[self.at..];
        if rest.is_empty() {
            return None;
        }
        self.number += 1;
        match memchr(b'\n', rest) {
            Some(end) => {
                self.at += end + 1;
                Some(&rest[..end])
            }
            None => {
                self.at = self.bytes.len();
                Some(rest)
            }
        }
    }
}
