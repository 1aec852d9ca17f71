//! Reads the one object that antigravity prints without having its answer in memory: the text of `response` goes on as it
//! comes, the rest is kept.

use std::io::{self, Read, Write};

use record::json::LINE_MAX_BYTES;

use crate::raw_text::whole;

const PIECE_BYTES: usize = 64 << 10;
const ANSWER_KEY: &str = "response";

/// What was printed, but for the answer.
pub(super) struct Printed {
    /// All bytes but those of the text of `response`, as far as that is well-formed: they are one unambiguous object if,
    /// and only if, all bytes together are.
    pub(super) rest: Vec<u8>,
    /// More was printed than an object may have.
    pub(super) is_too_long: bool,
    /// The answer has nothing but white space.
    pub(super) is_blank: bool,
}

/// Reads all, and writes the text of `response`; whether it is the answer is not known before the end.
pub(super) fn read(stdout: &mut dyn Read, answer: &mut dyn Write) -> io::Result<Printed> {
    read_in_pieces(stdout, answer, PIECE_BYTES)
}

/// The same with pieces of some size, which changes nothing.
pub(super) fn read_in_pieces(
    stdout: &mut dyn Read,
    answer: &mut dyn Write,
    piece_bytes: usize,
) -> io::Result<Printed> {
    let mut stdout = stdout.take(LINE_MAX_BYTES as u64 + 1);
    let mut split =
        Split { rest: Vec::new(), place: Place::Between, depth: 0, text_start: 0, is_blank: true, answer };
    let mut total = 0;
    let mut pending = Vec::new();
    loop {
        let length = stdout.by_ref().take(piece_bytes as u64).read_to_end(&mut pending)?;
        let taken = split.take(&pending)?;
        pending.drain(..taken);
        total += length;
        if length == 0 {
            split.rest.append(&mut pending);
            let Split { rest, is_blank, .. } = split;
            return Ok(Printed { rest, is_too_long: total > LINE_MAX_BYTES, is_blank });
        }
    }
}

/// Tells the answer from the rest.
struct Split<'a> {
    rest: Vec<u8>,
    place: Place,
    depth: usize,
    /// Where the last text begins in the rest.
    text_start: usize,
    is_blank: bool,
    answer: &'a mut dyn Write,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Outside of texts.
    Between,
    Text,
    /// Behind a backslash in a text.
    Escape,
    /// Behind the text that is the answer's key, if a colon follows.
    BehindKey,
    /// Behind that colon.
    BeforeAnswer,
    Answer,
}

impl Split<'_> {
    /// Takes bytes, but perhaps not the last ones, which are to come again with what follows them.
    fn take(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut taken = 0;
        while let Some(&byte) = bytes.get(taken) {
            match self.place {
                Place::Answer => {
                    let (length, ended) = self.take_answer(&bytes[taken..])?;
                    taken += length;
                    if !ended {
                        break;
                    }
                }
                _ => {
                    self.rest.push(byte);
                    self.place = self.after(byte);
                    taken += 1;
                }
            }
        }
        Ok(taken)
    }

    fn after(&mut self, byte: u8) -> Place {
        match (self.place, byte) {
            (Place::Text, b'\\') => Place::Escape,
            (Place::Text, b'"') if self.depth == 1 && self.is_answer_key() => Place::BehindKey,
            (Place::Text, b'"') => Place::Between,
            (Place::Text | Place::Escape, _) => Place::Text,
            (Place::BeforeAnswer, b'"') => Place::Answer,
            (place, b' ' | b'\t' | b'\r' | b'\n') => place,
            (_, b'"') => {
                self.text_start = self.rest.len() - 1;
                Place::Text
            }
            (Place::BehindKey, b':') => Place::BeforeAnswer,
            (_, b'{' | b'[') => {
                self.depth += 1;
                Place::Between
            }
            (_, b'}' | b']') => {
                self.depth = self.depth.saturating_sub(1);
                Place::Between
            }
            _ => Place::Between,
        }
    }

    /// Whether the text that just ended is the key of the answer.
    fn is_answer_key(&self) -> bool {
        serde_json::from_slice::<String>(&self.rest[self.text_start..]).is_ok_and(|key| key == ANSWER_KEY)
    }

    /// Takes bytes of the answer, and says whether more of these bytes can be taken as something else.
    fn take_answer(&mut self, bytes: &[u8]) -> io::Result<(usize, bool)> {
        let (length, ended) = whole(bytes);
        match serde_json::from_slice::<String>(&[b"\"", &bytes[..length], b"\""].concat()) {
            Ok(text) => {
                self.is_blank &= text.trim().is_empty();
                self.answer.write_all(text.as_bytes())?;
                if ended {
                    self.place = Place::Between;
                }
                Ok((length, ended))
            }
            Err(_) => {
                // The fault stays in the rest, and so will be found.
                self.place = Place::Text;
                Ok((0, true))
            }
        }
    }
}
