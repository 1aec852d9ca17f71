//! A section that is being read, and what it is when it ends.

use std::borrow::Cow;

use super::{HeaderPath, Hunk, Operation, Parsed, Section};
use crate::findings::Findings;
use crate::rule::Rule;
use crate::shape::{self, Shape};

/// A section whose end was not seen yet.
#[derive(Debug)]
pub(super) struct Open<'a> {
    pub(super) has_git_line: bool,
    pub(super) names: Option<(Cow<'a, str>, Cow<'a, str>)>,
    pub(super) old: Option<HeaderPath<'a>>,
    pub(super) new: Option<HeaderPath<'a>>,
    pub(super) declared: Option<Operation>,
    /// A finding made it unusable; it is dropped at its end.
    pub(super) bad: bool,
    pub(super) added: u64,
    pub(super) removed: u64,
    pub(super) first_hunk: usize,
}

impl<'a> Open<'a> {
    pub(super) fn new(first_hunk: usize) -> Self {
        Self {
            has_git_line: false,
            names: None,
            old: None,
            new: None,
            declared: None,
            bad: false,
            added: 0,
            removed: 0,
            first_hunk,
        }
    }

    /// Ends the section: keeps it in `parsed`, or drops it with a finding (patch-verifier.md 4.4).
    pub(super) fn close(self, parsed: &mut Parsed<'a>, findings: &mut Findings) {
        let hunks = self.first_hunk..parsed.hunks.len();
        if !in_order(&parsed.hunks[hunks.clone()]) {
            findings.add(Rule::HunksOutOfOrder);
        }
        if self.bad {
            return;
        }
        let (Some(old), Some(new)) = (self.old, self.new) else {
            findings.add(Rule::MissingFileHeaders);
            return;
        };
        let operation = match (self.declared, &old, &new) {
            (Some(moved @ (Operation::Rename | Operation::Copy)), _, _) => moved,
            (_, HeaderPath::Null, HeaderPath::Null) => {
                findings.add(Rule::MissingFileHeaders);
                return;
            }
            (_, HeaderPath::Null, _) => Operation::Add,
            (_, _, HeaderPath::Null) => Operation::Delete,
            _ => Operation::Modify,
        };
        if hunks.is_empty() && !matches!(operation, Operation::Rename | Operation::Copy) {
            findings.add(Rule::NoHunks);
        }
        if let Some((first, second)) = &self.names
            && !names_agree(first, second, &old, &new)
        {
            findings.add(Rule::DiffHeaderPathMismatch);
        }
        parsed.sections.push(Section {
            has_git_line: self.has_git_line,
            names: self.names,
            old,
            new,
            operation,
            added: self.added,
            removed: self.removed,
            hunks,
        });
    }
}

/// Whether the names of the `diff --git` line are those of the headers, or pair where a side is missing.
fn names_agree(first: &str, second: &str, old: &HeaderPath<'_>, new: &HeaderPath<'_>) -> bool {
    let same = |name: &str, side: &HeaderPath<'_>| side.real().is_none_or(|path| path == name);
    if !same(first, old) || !same(second, new) {
        return false;
    }
    if old.real().is_some() && new.real().is_some() {
        return true;
    }
    let pair = |name: &str| HeaderPath::new(Cow::Owned(name.to_owned()));
    let named = shape::shape(&pair(first), &pair(second));
    first != "/dev/null"
        && second != "/dev/null"
        && named == shape::shape(old, new)
        && (named != Some(Shape::Unprefixed) || first == second)
}

/// Whether each hunk begins after the one before it in the old file.
fn in_order(hunks: &[Hunk]) -> bool {
    // A hunk without old lines stands after its start line and takes none.
    let begin = |hunk: &Hunk| u64::from(hunk.old_start) + u64::from(hunk.old_count == 0);
    let end = |hunk: &Hunk| begin(hunk) + u64::from(hunk.old_count);
    hunks.windows(2).all(|pair| begin(&pair[1]) >= end(&pair[0]))
}
