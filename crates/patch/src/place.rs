//! Where each hunk lands, by git's own rules for an unlenient `git apply` (patch-verifier.md 8.7).
//!
//! A hunk matches where all its old lines stand, in lines that no earlier hunk wrote. One that begins at the first line
//! must match there, and one without context at its end must match at the end of the file. Where git would take a line
//! without line end for the beginning of a longer one, nothing matches here.

use serde::Serialize;

use crate::parse::{Hunk, Lines};

/// A hunk that lands away from its declared position.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Placement {
    /// The normalized path.
    pub path: String,
    /// Number of the hunk in its file, from 1.
    pub hunk: usize,
    /// The line that the header declares on the new side.
    pub declared_line: u64,
    /// The line where it lands.
    pub applied_line: u64,
    /// Applied less declared.
    pub offset: i64,
}

/// The first line of a hunk that does not match.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Mismatch {
    /// The normalized path.
    pub path: String,
    /// Number of the hunk in its file, from 1.
    pub hunk: usize,
    /// Number of the line in the patch, from 1.
    pub patch_line: u64,
    /// Number of the line in the target, from 1; one after the last where the target is too short.
    pub target_line: u64,
}

/// How the hunks of one file fare.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Placed {
    /// All match; those that land elsewhere are listed.
    Clean(Vec<Placement>),
    /// One matches at several places and not at the declared one.
    Ambiguous {
        /// Its number in the file.
        hunk: usize,
        /// Places where it matches.
        candidates: usize,
    },
    /// One matches nowhere.
    Mismatch(Mismatch),
}

/// One old or new line with its line end, if it has one.
type Text<'p> = &'p [u8];

#[derive(Debug, Default)]
struct Sides<'p> {
    old: Vec<(Text<'p>, u64)>,
    new: Vec<Text<'p>>,
    trailing_context: usize,
}

#[derive(Debug, Clone, Copy)]
struct Line<'p> {
    text: Text<'p>,
    /// An earlier hunk wrote it, so that no later one may match it.
    written: bool,
}

/// Replays the hunks of a file on the bytes that git compares.
pub fn place(path: &str, content: &[u8], hunks: &[Hunk], patch: &[u8]) -> Placed {
    let mut image: Vec<Line<'_>> = lines(content).map(|text| Line { text, written: false }).collect();
    let mut placements = Vec::new();
    for (index, hunk) in hunks.iter().enumerate() {
        let sides = sides(hunk, patch);
        let declared = declared(hunk);
        let found = candidates(hunk, &sides, &image, declared);
        let position = match found.as_slice() {
            [] => return Placed::Mismatch(mismatch(path, index + 1, hunk, &sides, content)),
            [one] => *one,
            several => return Placed::Ambiguous { hunk: index + 1, candidates: several.len() },
        };
        if position != declared {
            placements.push(Placement {
                path: path.to_owned(),
                hunk: index + 1,
                declared_line: declared as u64 + 1,
                applied_line: position as u64 + 1,
                offset: position as i64 - declared as i64,
            });
        }
        let end = position + sides.old.len();
        image.splice(position..end, sides.new.iter().map(|text| Line { text, written: true }));
    }
    Placed::Clean(placements)
}

/// The lines of a text with their line ends.
fn lines(content: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut lines = Lines::new(content);
    std::iter::from_fn(move || {
        let start = lines.at();
        lines.next()?;
        Some(&content[start..lines.at()])
    })
}

/// The index of the first line of a hunk in the file as the hunks before it leave it.
fn declared(hunk: &Hunk) -> usize {
    let line = if hunk.new_count == 0 { hunk.new_start } else { hunk.new_start.saturating_sub(1) };
    line as usize
}

/// Splits a hunk's body into its sides.
fn sides<'p>(hunk: &Hunk, patch: &'p [u8]) -> Sides<'p> {
    let body = &patch[hunk.body.clone()];
    let mut sides = Sides::default();
    let mut at = 0;
    let mut lines = Lines::new(body).peekable();
    let mut number = hunk.line;
    while let Some(line) = lines.next() {
        number += 1;
        let start = at;
        at += line.len() + 1;
        if line.first() == Some(&b'\\') {
            continue;
        }
        let has_end = lines.peek().is_none_or(|next| next.first() != Some(&b'\\'));
        // An empty line is an empty context line whose blank was lost.
        let first = start + usize::from(!line.is_empty());
        let text = &body[first..(start + line.len() + usize::from(has_end)).min(body.len())];
        let (is_old, is_new) = match line.first() {
            Some(b'+') => (false, true),
            Some(b'-') => (true, false),
            _ => (true, true),
        };
        if is_old {
            sides.old.push((text, number));
        }
        if is_new {
            sides.new.push(text);
        }
        sides.trailing_context = if is_old && is_new { sides.trailing_context + 1 } else { 0 };
    }
    sides
}

/// Where a hunk may land: its declared position alone if it matches there, else every other place.
fn candidates(hunk: &Hunk, sides: &Sides<'_>, image: &[Line<'_>], declared: usize) -> Vec<usize> {
    let Some(last) = image.len().checked_sub(sides.old.len()) else { return Vec::new() };
    let at_start = hunk.old_start <= 1;
    let at_end = sides.trailing_context == 0;
    let matches = |position: usize| {
        (!at_start || position == 0)
            && (!at_end || position == last)
            && position <= last
            && sides.old.iter().zip(&image[position..]).all(|((text, _), line)| same(text, line))
    };
    if matches(declared) {
        return vec![declared];
    }
    if at_start || at_end {
        let forced = if at_start { 0 } else { last };
        return if matches(forced) { vec![forced] } else { Vec::new() };
    }
    search(&sides.old, image)
}

fn same(text: Text<'_>, line: &Line<'_>) -> bool {
    !line.written && line.text == text
}

/// Every place where the old lines stand, in time linear in both (Knuth, Morris and Pratt).
fn search(old: &[(Text<'_>, u64)], image: &[Line<'_>]) -> Vec<usize> {
    let mut borders = vec![0; old.len()];
    let mut length = 0;
    for index in 1..old.len() {
        while length > 0 && old[index].0 != old[length].0 {
            length = borders[length - 1];
        }
        length += usize::from(old[index].0 == old[length].0);
        borders[index] = length;
    }
    let mut found = Vec::new();
    let mut length = 0;
    for (index, line) in image.iter().enumerate() {
        while length > 0 && (length == old.len() || !same(old[length].0, line)) {
            length = borders[length - 1];
        }
        if length < old.len() && same(old[length].0, line) {
            length += 1;
        }
        if length == old.len() {
            found.push(index + 1 - length);
        }
    }
    found
}

/// The first old line that is not at the declared old position, or the place after them when git wants more than that.
fn mismatch(path: &str, number: usize, hunk: &Hunk, sides: &Sides<'_>, content: &[u8]) -> Mismatch {
    let original: Vec<&[u8]> = lines(content).collect();
    let begin = hunk.old_start.saturating_sub(1) as usize;
    let wrong = sides
        .old
        .iter()
        .enumerate()
        .find(|(index, (text, _))| original.get(begin + index).is_none_or(|line| line != text));
    let (patch_line, target) = match wrong {
        Some((index, (_, line))) => (*line, begin + index),
        None => (hunk.line, begin + sides.old.len()),
    };
    Mismatch {
        path: path.to_owned(),
        hunk: number,
        patch_line,
        target_line: target.min(original.len()) as u64 + 1,
    }
}

/// Whether a hunk reaches the last line of a target without final line end and says that it has one.
pub(crate) fn lacks_marker(content: &[u8], hunks: &[Hunk], patch: &[u8]) -> bool {
    if content.is_empty() || content.ends_with(b"\n") {
        return false;
    }
    let lines = lines(content).count() as u64;
    hunks.iter().any(|hunk| {
        let reaches = u64::from(hunk.old_start) + u64::from(hunk.old_count) > lines;
        reaches && sides(hunk, patch).old.last().is_some_and(|(text, _)| text.ends_with(b"\n"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::Findings;
    use crate::policy::LoadedPolicy;

    fn placed(content: &str, hunks: &str) -> Placed {
        let text = format!("--- a/x\n+++ b/x\n{hunks}");
        let policy = LoadedPolicy::embedded().unwrap();
        let mut findings = Findings::default();
        let parsed = crate::parse::parse(text.as_bytes(), &policy.policy, &mut findings);
        assert!(findings.is_empty(), "{findings:?}");
        place("x", content.as_bytes(), &parsed.hunks, text.as_bytes())
    }

    fn offsets(placed: &Placed) -> Vec<(usize, i64)> {
        match placed {
            Placed::Clean(placements) => placements.iter().map(|p| (p.hunk, p.offset)).collect(),
            other => panic!("{other:?}"),
        }
    }

    const EDIT: &str = " a\n-b\n+B\n c\n";

    #[test]
    fn at_its_place_and_away_from_it() {
        assert_eq!(offsets(&placed("0\na\nb\nc\n", &format!("@@ -2,3 +2,3 @@\n{EDIT}"))), []);
        assert_eq!(offsets(&placed("0\na\nb\nc\n", &format!("@@ -40,3 +40,3 @@\n{EDIT}"))), [(1, -38)]);
        assert_eq!(
            placed("0\na\nb\nc\na\nb\nc\n", &format!("@@ -40,3 +40,3 @@\n{EDIT}")),
            Placed::Ambiguous { hunk: 1, candidates: 2 }
        );
        assert_eq!(offsets(&placed("0\na\nb\nc\na\nb\nc\n", &format!("@@ -5,3 +5,3 @@\n{EDIT}"))), []);
    }

    #[test]
    fn first_lines_stand_first_and_last_lines_last() {
        let Placed::Mismatch(first) = placed("0\na\nb\nc\n", &format!("@@ -1,3 +1,3 @@\n{EDIT}")) else {
            panic!()
        };
        assert_eq!((first.patch_line, first.target_line), (4, 1));
        let Placed::Mismatch(last) = placed("0\na\nb\nc\n", "@@ -2,2 +2,2 @@\n a\n-b\n+B\n") else {
            panic!()
        };
        assert_eq!((last.patch_line, last.target_line), (3, 4));
        assert_eq!(offsets(&placed("0\na\nb\n", "@@ -9,2 +9,2 @@\n a\n-b\n+B\n")), [(1, -7)]);
    }

    #[test]
    fn lines_written_before_do_not_match_again() {
        let hunks = "@@ -2,2 +2,3 @@\n a\n+q\n b\n@@ -4,2 +5,3 @@\n q\n+r\n z\n";
        assert!(matches!(placed("0\na\nb\nz\n", hunks), Placed::Mismatch(Mismatch { hunk: 2, .. })));
        assert_eq!(offsets(&placed("0\na\nb\nq\nz\n", hunks)), []);
    }

    #[test]
    fn a_line_without_end_is_no_beginning_of_a_longer_one() {
        let hunk = "@@ -1,2 +1,2 @@\n-a\n+b\n foo\n\\ No newline at end of file\n";
        assert!(matches!(placed("a\nfoo\nbar\n", hunk), Placed::Mismatch(_)));
        assert_eq!(offsets(&placed("a\nfoo", hunk)), []);
    }

    #[test]
    fn overlapping_occurrences_are_counted() {
        let old: Vec<(&[u8], u64)> = vec![(b"a\n", 0), (b"a\n", 0)];
        let image = vec![Line { text: &b"a\n"[..], written: false }; 5];
        assert_eq!(search(&old, &image), [0, 1, 2, 3]);
    }

    #[test]
    fn blank_context_whose_blank_was_lost() {
        assert_eq!(offsets(&placed("0\n\nb\nc\n", "@@ -2,3 +2,3 @@\n\n-b\n+B\n c\n")), []);
    }

    #[test]
    fn removal_of_everything() {
        assert_eq!(offsets(&placed("a\nb\n", "@@ -1,2 +0,0 @@\n-a\n-b\n")), []);
    }
}
