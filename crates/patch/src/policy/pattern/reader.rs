//! Reading a pattern: from its text to the steps of a matcher.

use super::{Bytes, Step};

/// Deepest nesting of groups, in levels.
const NESTING_MAX_LEVELS: usize = 16;

/// Where reading stands.
pub(super) struct Reader<'p> {
    pub(super) bytes: &'p [u8],
    /// The next byte.
    pub(super) at: usize,
    /// What was made so far.
    pub(super) steps: Vec<Step>,
}

/// Each part answers `None` where the syntax is not known.
impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn take(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    /// Reads alternatives, each a sequence, up to the end of the group or of the pattern.
    pub(super) fn alternatives(&mut self, level: usize) -> Option<()> {
        let start = self.steps.len();
        let mut ends = Vec::new();
        self.sequence(level)?;
        while self.peek() == Some(b'|') {
            self.at += 1;
            self.insert(start);
            ends.push(self.steps.len());
            self.steps.push(Step::Jump(0));
            let next = self.steps.len();
            self.steps[start] = Step::Either(start + 1, next);
            // The ways so far are one alternative; what follows is the other.
            ends.iter_mut().rev().skip(1).for_each(|end| *end += 1);
            self.sequence(level)?;
        }
        let end = self.steps.len();
        for jump in ends {
            self.steps[jump] = Step::Jump(end);
        }
        Some(())
    }

    /// Makes room for one step, and moves what pointed behind it.
    fn insert(&mut self, place: usize) {
        for step in &mut self.steps[place..] {
            match step {
                Step::Either(first, second) => {
                    *first += 1;
                    *second += 1;
                }
                Step::Jump(to) => *to += 1,
                _ => {}
            }
        }
        self.steps.insert(place, Step::Done);
    }

    fn sequence(&mut self, level: usize) -> Option<()> {
        while let Some(byte) = self.peek().filter(|byte| !matches!(byte, b'|' | b')')) {
            self.at += 1;
            let start = self.steps.len();
            match byte {
                b'^' => self.steps.push(Step::Start),
                b'$' => self.steps.push(Step::End),
                b'(' if level < NESTING_MAX_LEVELS && self.peek() != Some(b'?') => {
                    self.alternatives(level + 1)?;
                    (self.take() == Some(b')')).then_some(())?;
                    self.optional(start);
                }
                b'*' | b'+' | b'?' | b'{' | b'}' | b'(' => return None,
                other => {
                    let bytes = self.character(other)?;
                    self.repeated(bytes);
                }
            }
        }
        Some(())
    }

    fn character(&mut self, byte: u8) -> Option<Bytes> {
        let mut bytes = Bytes::NONE;
        match byte {
            b'.' => return Some(Bytes::ALL),
            b'[' => return self.class(),
            b'\\' => bytes.add(self.take().filter(u8::is_ascii_punctuation)?),
            _ => bytes.add(byte),
        }
        Some(bytes)
    }

    fn class(&mut self) -> Option<Bytes> {
        let mut bytes = Bytes::NONE;
        let inverted = self.peek() == Some(b'^');
        self.at += usize::from(inverted);
        let first = self.at;
        loop {
            let low = self.take()?;
            match low {
                b']' if self.at > first + 1 => break,
                // Named classes and escapes are read differently by different engines.
                b'[' | b'\\' => return None,
                _ => {}
            }
            let is_range =
                self.peek() == Some(b'-') && self.bytes.get(self.at + 1).is_some_and(|next| *next != b']');
            let high = if is_range {
                self.at += 1;
                self.take().filter(|high| *high >= low && !matches!(high, b'[' | b'\\'))?
            } else {
                low
            };
            (low..=high).for_each(|byte| bytes.add(byte));
        }
        Some(if inverted { bytes.inverted() } else { bytes })
    }

    /// One character, with the sign of repetition that follows it.
    fn repeated(&mut self, bytes: Bytes) {
        let start = self.steps.len();
        match self.peek() {
            Some(b'*') => {
                self.at += 1;
                self.steps.extend([Step::Either(start + 1, start + 3), Step::One(bytes), Step::Jump(start)]);
            }
            Some(b'+') => {
                self.at += 1;
                self.steps.extend([Step::One(bytes), Step::Either(start, start + 2)]);
            }
            _ => {
                self.steps.push(Step::One(bytes));
                self.optional(start);
            }
        }
    }

    /// Lets what was read since `start` be left out when a question mark follows.
    fn optional(&mut self, start: usize) {
        if self.peek() == Some(b'?') {
            self.at += 1;
            self.insert(start);
            self.steps[start] = Step::Either(start + 1, self.steps.len());
        }
    }
}
