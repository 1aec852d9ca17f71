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
    /// Hashes of the first keys. Keys that differ only in case have the same.
    hashes: [u64; FEW_COUNT],
    count: usize,
    /// The foldings of all keys once they are many.
    many: Option<HashSet<String>>,
}

impl Keys {
    pub(super) fn new(node: usize) -> Self {
        Self { node, hashes: [0; FEW_COUNT], count: 0, many: None }
    }

    /// Takes the next key; false when the object has it already.
    pub(super) fn is_new(&mut self, key: Span, text: &str, tape: &Tape) -> bool {
        let key = key.of(text, &tape.unescaped);
        if self.count == FEW_COUNT {
            let taken = taken(self.node, text, tape);
            let many = self
                .many
                .get_or_insert_with(|| taken.map(|taken| fold::simple(taken).into_owned()).collect());
            return many.insert(fold::simple(key).into_owned());
        }
        let hash = hash(key);
        let is_taken = self.hashes[..self.count].contains(&hash)
            && taken(self.node, text, tape).any(|taken| fold::simple(taken) == fold::simple(key));
        self.hashes[self.count] = hash;
        self.count += 1;
        !is_taken
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

/// Mixes words of eight bytes. The bit by which ASCII letters differ in case is set in all bytes.
fn hash_bytes(bytes: &[u8]) -> u64 {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    bytes.chunks(8).fold(bytes.len() as u64, |hash, chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        (hash ^ (u64::from_le_bytes(word) | 0x2020_2020_2020_2020)).wrapping_mul(ODD).rotate_left(29)
    })
}
