//! The keys of one object, no two of which may be equal under Unicode simple case folding.

use std::collections::HashSet;

use super::fold;
use super::tape::{Span, Tape};

/// As many keys are compared one by one; more are put into a set.
const FEW_COUNT: usize = 24;

/// The keys of an object that is being read.
pub(super) struct Keys {
    /// The object's node: its keys are on the tape.
    node: usize,
    /// Where the hashes of its keys begin on the tape.
    first_hash: usize,
    /// The foldings of all keys once they are many.
    many: Option<HashSet<String>>,
}

impl Keys {
    /// For the object that began with that node.
    pub(super) fn new(node: usize, tape: &Tape) -> Self {
        Self { node, first_hash: tape.hashes.len(), many: None }
    }

    /// Takes the next key; false when the object has it already.
    pub(super) fn is_new(&mut self, key: Span, text: &str, tape: &mut Tape) -> bool {
        let key = key.of(text, &tape.unescaped);
        let hashes = &tape.hashes[self.first_hash..];
        if hashes.len() == FEW_COUNT {
            let taken = taken(self.node, text, tape);
            let many = self
                .many
                .get_or_insert_with(|| taken.map(|taken| fold::simple(taken).into_owned()).collect());
            return many.insert(fold::simple(key).into_owned());
        }
        let hash = hash(key);
        let is_taken = hashes.contains(&hash)
            && taken(self.node, text, tape).any(|taken| fold::simple(taken) == fold::simple(key));
        tape.hashes.push(hash);
        !is_taken
    }

    /// Takes leave of the object.
    pub(super) fn end(self, tape: &mut Tape) {
        tape.hashes.truncate(self.first_hash);
    }
}

/// The keys that an object has on the tape.
fn taken<'a>(node: usize, text: &'a str, tape: &'a Tape) -> impl Iterator<Item = &'a str> {
    let mut index = node + 1;
    std::iter::from_fn(move || {
        let node = tape.nodes.get(index)?;
        index = node.next(index);
        Some(node.key.of(text, &tape.unescaped))
    })
}

/// The same for keys that fold to the same, and mostly not for others.
fn hash(key: &str) -> u64 {
    if key.is_ascii() { hash_bytes(key.as_bytes()) } else { hash_bytes(fold::simple(key).as_bytes()) }
}

/// Mixes words of eight bytes, the last two of which may overlap.
fn hash_bytes(bytes: &[u8]) -> u64 {
    let seed = bytes.len() as u64;
    if let Some(last) = bytes.last_chunk() {
        let words =
            bytes.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().expect("eight bytes")));
        return mix(words.fold(seed, mix), u64::from_le_bytes(*last));
    }
    let word = match (bytes.first_chunk(), bytes.last_chunk()) {
        (Some(first), Some(last)) => {
            u64::from(u32::from_le_bytes(*first)) << 32 | u64::from(u32::from_le_bytes(*last))
        }
        _ => bytes.iter().fold(0, |word, byte| word << 8 | u64::from(*byte)),
    };
    mix(seed, word)
}

/// The bit by which ASCII letters differ in case is set in all bytes.
fn mix(hash: u64, word: u64) -> u64 {
    (hash ^ (word | 0x2020_2020_2020_2020)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
}
