//! The regular expressions of a policy: POSIX extended syntax without bounds, over bytes.
//!
//! A handful of short patterns meets short paths in each run of a short program, so that building a matcher must cost next
//! to nothing; a general engine takes longer to build than git takes to check a patch. Repetition is for single characters
//! only, which keeps matching polynomial, and every match is bounded in steps.

mod reader;

use reader::Reader;

/// Most steps of one match; a match that takes more is given up.
const MATCH_MAX_STEPS: u32 = 1 << 20;
/// Longest pattern, in bytes.
const PATTERN_MAX_BYTES: usize = 4096;

/// Any way from the start of a component.
const COMPONENT_START: &str = "(^|/)[^/]*";

/// Why a pattern can not be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the pattern {pattern:?} is not supported at byte {at}")]
pub struct PatternError {
    /// The pattern.
    pub pattern: String,
    /// Where reading stopped, in bytes from 0.
    pub at: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Bytes([u64; 4]);

impl Bytes {
    const ALL: Self = Self([u64::MAX; 4]);
    const NONE: Self = Self([0; 4]);

    fn add(&mut self, byte: u8) {
        self.0[usize::from(byte >> 6)] |= 1 << (byte & 63);
    }

    fn holds(&self, byte: u8) -> bool {
        self.0[usize::from(byte >> 6)] & (1 << (byte & 63)) != 0
    }

    fn united(self, other: &Self) -> Self {
        Self(std::array::from_fn(|word| self.0[word] | other.0[word]))
    }

    fn inverted(self) -> Self {
        Self(self.0.map(|word| !word))
    }
}

#[derive(Debug, Clone, Copy)]
enum Step {
    One(Bytes),
    Start,
    End,
    /// Tries the first way, then the second.
    Either(usize, usize),
    Jump(usize),
    Done,
}

/// A compiled pattern.
#[derive(Debug, Clone)]
pub(super) struct Pattern {
    steps: Vec<Step>,
    /// The bytes with which a match can begin elsewhere than at the start; absent when it can be empty there.
    first: Option<Bytes>,
}

impl Pattern {
    pub(super) fn new(pattern: &str) -> Result<Self, PatternError> {
        // What is searched for anywhere needs no way there from the start of its component.
        let at = if pattern.starts_with(COMPONENT_START) { COMPONENT_START.len() } else { 0 };
        let mut reader = Reader { bytes: pattern.as_bytes(), at, steps: Vec::new() };
        let read = pattern.len() <= PATTERN_MAX_BYTES && reader.alternatives(0).is_some();
        if !read || reader.at < pattern.len() {
            return Err(PatternError { pattern: pattern.to_owned(), at: reader.at });
        }
        reader.steps.push(Step::Done);
        let first = first(&reader.steps);
        Ok(Self { steps: reader.steps, first })
    }

    /// Whether the pattern is found anywhere; `None` when that takes too many steps.
    pub(super) fn is_in(&self, text: &[u8]) -> Option<bool> {
        let mut left = MATCH_MAX_STEPS;
        let mut open = Vec::new();
        for start in 0..=text.len() {
            let can_begin = |first: &Bytes| text.get(start).is_some_and(|byte| first.holds(*byte));
            if start > 0 && !self.first.as_ref().is_none_or(can_begin) {
                continue;
            }
            let mut next = Some((0, start));
            while let Some((step, at)) = next {
                if self.follow(step, at, text, &mut open, &mut left)? {
                    return Some(true);
                }
                next = open.pop();
            }
        }
        Some(false)
    }

    fn ends_at_once(&self, step: usize, at: usize, text: &[u8]) -> bool {
        match &self.steps[step] {
            Step::One(bytes) => !text.get(at).is_some_and(|byte| bytes.holds(*byte)),
            Step::Start => at > 0,
            Step::End => at < text.len(),
            Step::Either(..) | Step::Jump(_) | Step::Done => false,
        }
    }

    /// Follows one way to its end; ways not taken yet are left in `open`.
    fn follow(
        &self,
        mut step: usize,
        mut at: usize,
        text: &[u8],
        open: &mut Vec<(usize, usize)>,
        left: &mut u32,
    ) -> Option<bool> {
        loop {
            *left = left.checked_sub(1)?;
            match &self.steps[step] {
                Step::One(bytes) => match text.get(at) {
                    Some(byte) if bytes.holds(*byte) => (step, at) = (step + 1, at + 1),
                    _ => return Some(false),
                },
                Step::Start if at == 0 => step += 1,
                Step::End if at == text.len() => step += 1,
                Step::Start | Step::End => return Some(false),
                // Most ways end at their first character, and need not be noted.
                Step::Either(first, second) if self.ends_at_once(*second, at, text) => step = *first,
                Step::Either(first, second) if self.ends_at_once(*first, at, text) => step = *second,
                Step::Either(first, second) => {
                    open.push((*second, at));
                    step = *first;
                }
                Step::Jump(to) => step = *to,
                Step::Done => return Some(true),
            }
        }
    }
}

fn first(steps: &[Step]) -> Option<Bytes> {
    let mut first = Bytes::NONE;
    let mut seen = vec![false; steps.len()];
    let mut open = vec![0];
    while let Some(step) = open.pop() {
        if std::mem::replace(&mut seen[step], true) {
            continue;
        }
        match &steps[step] {
            Step::One(bytes) => first = first.united(bytes),
            Step::Start => {}
            Step::End | Step::Done => return None,
            Step::Either(one, other) => open.extend([*one, *other]),
            Step::Jump(to) => open.push(*to),
        }
    }
    Some(first)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found(pattern: &str, text: &str) -> bool {
        Pattern::new(pattern).unwrap().is_in(text.as_bytes()).unwrap()
    }

    #[test]
    fn the_forms() {
        for (pattern, inside, outside) in [
            ("(^|/)\\.git(/|$)", &[".git", "a/.git/b", ".git/x"][..], &["a.git", ".gitx", "x/.gi"][..]),
            ("^[A-Za-z._][a-c^-]*$", &["Z", "a^-b", "._"][..0], &["", "1", "aé"]),
            ("a(b|cd|)e?$", &["a", "ab", "acd", "acde", "xae"], &["abc", "acx"]),
            ("(a|b|c|d)+x", &[][..], &[][..]),
            ("x[^/]*y+", &["xy", "x..yy"], &["x/y", "x"]),
        ] {
            if pattern.contains(")+") {
                assert!(Pattern::new(pattern).is_err());
                continue;
            }
            assert!(inside.iter().all(|text| found(pattern, text)), "{pattern}");
            assert!(!outside.iter().any(|text| found(pattern, text)), "{pattern}");
        }
        assert!(found("^[]a]$", "]") && !found("^[]a]$", "b"));
        assert!(found("^(((a)?)?b)$", "ab"));
    }

    #[test]
    fn what_is_not_supported_is_refused() {
        for pattern in [
            "(",
            ")",
            "a)",
            "[",
            "[]",
            "[b-a]",
            "*a",
            "a**",
            "a{2}",
            "(a)*",
            "(a)+",
            "(?i)a",
            "\\d",
            "\\",
            "[[:alpha:]]",
            "[\\w]",
        ] {
            assert!(Pattern::new(pattern).is_err(), "{pattern}");
        }
        assert!(Pattern::new(&"(".repeat(40)).is_err());
    }

    #[test]
    fn a_match_is_bounded() {
        let pattern = Pattern::new("a*a*a*a*a*a*a*a*b").unwrap();
        assert_eq!(pattern.is_in(&[b'a'; 300]), None);
    }

    /// Patterns of the supported syntax.
    fn patterns() -> impl Strategy<Value = String> {
        let character = prop_oneof![
            "[ab/.]",
            Just("[^/]".to_owned()),
            Just("[a-b_-]".to_owned()),
            Just("\\.".to_owned())
        ];
        let atom = prop_oneof![
            6 => (character, "[*+?]?").prop_map(|(character, sign)| character + &sign),
            1 => Just("^".to_owned()),
            1 => Just("$".to_owned()),
        ];
        atom.prop_recursive(3, 24, 4, |inner| {
            let sequence = prop::collection::vec(inner, 0..4).prop_map(|parts| parts.concat());
            prop_oneof![
                sequence.clone(),
                (prop::collection::vec(sequence, 1..4), "\\??")
                    .prop_map(|(ways, sign)| format!("({}){sign}", ways.join("|"))),
            ]
        })
    }

    proptest! {
        #[test]
        fn a_general_engine_finds_the_same(
            start in prop_oneof![3 => Just(""), 1 => Just(COMPONENT_START)],
            rest in patterns(),
            text in "[ab/._c]{0,12}",
        ) {
            let pattern = format!("{start}{rest}");
            let known = regex::bytes::RegexBuilder::new(&pattern).unicode(false).dot_matches_new_line(true).build().unwrap();
            let ours = Pattern::new(&pattern).unwrap();
            if let Some(found) = ours.is_in(text.as_bytes()) {
                prop_assert_eq!(found, known.is_match(text.as_bytes()), "{} {}", pattern, text);
            }
        }
    }
}
