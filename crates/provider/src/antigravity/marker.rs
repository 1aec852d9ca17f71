//! Looks for words in a stream that somebody else reads.

use std::io::{self, Read};

/// Hands a stream on unchanged and sees whether it holds the marker, wherever that is cut.
pub(super) struct MarkerSeen<'a> {
    stream: &'a mut dyn Read,
    marker: &'static [u8],
    /// What the marker could have begun in: the last bytes that were read.
    tail: Vec<u8>,
    pub(super) seen: bool,
}

impl<'a> MarkerSeen<'a> {
    pub(super) fn new(stream: &'a mut dyn Read, marker: &'static [u8]) -> Self {
        Self { stream, marker, tail: Vec::new(), seen: false }
    }
}

impl Read for MarkerSeen<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.stream.read(buffer)?;
        if !self.seen {
            self.tail.extend_from_slice(&buffer[..length]);
            self.seen = self.tail.windows(self.marker.len()).any(|window| window == self.marker);
            let kept = self.tail.len().min(self.marker.len() - 1);
            self.tail.drain(..self.tail.len() - kept);
        }
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(pieces: &[&str]) -> bool {
        let mut stream = pieces.iter().fold(Box::new(io::empty()) as Box<dyn Read>, |stream, piece| {
            Box::new(stream.chain(piece.as_bytes()))
        });
        let mut looked_at = MarkerSeen::new(&mut stream, b"abcab");
        let mut text = String::new();
        looked_at.read_to_string(&mut text).unwrap();
        assert_eq!(text, pieces.concat());
        looked_at.seen
    }

    #[test]
    fn a_marker_is_seen_however_it_is_cut() {
        for pieces in
            [&["abcab"][..], &["xabc", "abx"], &["a", "b", "c", "a", "b"], &["abcabcab"], &["ab", "cacabcab"]]
        {
            assert!(seen(pieces), "{pieces:?}");
        }
        for pieces in [&[""][..], &["abca"], &["abca", "xb"], &["ABCAB"], &["abc", "", "aab"]] {
            assert!(!seen(pieces), "{pieces:?}");
        }
    }
}
