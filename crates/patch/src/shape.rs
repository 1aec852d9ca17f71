//! The strip level, from the shape of the headers alone (patch-verifier.md 4.6, 4.7).

use std::collections::HashSet;

use serde::Serialize;

use crate::findings::Findings;
use crate::parse::{HeaderPath, Parsed, Section};
use crate::rule::Rule;

/// How the names of a patch are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shape {
    /// `a/NAME` and `b/NAME`: level 1.
    GitPrefixed,
    /// Bare names: level 0.
    Unprefixed,
}

impl Shape {
    /// Leading components to take away.
    pub fn level(self) -> u8 {
        match self {
            Self::GitPrefixed => 1,
            Self::Unprefixed => 0,
        }
    }

    /// The word of the receipt.
    pub fn word(self) -> &'static str {
        match self {
            Self::GitPrefixed => "git-prefixed",
            Self::Unprefixed => "unprefixed",
        }
    }
}

/// The shape of one section; `None` when it does not say what is a prefix.
pub(crate) fn shape(old: &HeaderPath<'_>, new: &HeaderPath<'_>) -> Option<Shape> {
    // Outer `None`: no prefix, or nothing after it. Inner `None`: the side is missing.
    fn rest<'s>(side: &'s HeaderPath<'_>, prefix: &str) -> Option<Option<&'s str>> {
        match side.real() {
            None => Some(None),
            Some(path) => path.strip_prefix(prefix).filter(|rest| !rest.is_empty()).map(Some),
        }
    }
    match (rest(old, "a/"), rest(new, "b/")) {
        (Some(None), Some(None)) => None,
        (Some(Some(old)), Some(Some(new))) if old != new => None,
        (Some(_), Some(_)) => Some(Shape::GitPrefixed),
        _ => {
            let bare = |path: &HeaderPath<'_>| {
                path.real().is_none_or(|path| !path.starts_with("a/") && !path.starts_with("b/"))
            };
            (bare(old) && bare(new)).then_some(Shape::Unprefixed)
        }
    }
}

/// The one shape of all sections. `Err` reports why there is none; `Ok(None)`: there are no sections.
pub(crate) fn uniform(sections: &[Section<'_>], findings: &mut Findings) -> Result<Option<Shape>, ()> {
    let mut seen = HashSet::new();
    for section in sections {
        match shape(&section.old, &section.new) {
            Some(shape) => seen.insert(shape),
            None => {
                findings.add(Rule::UnpairedPathPrefixes);
                return Err(());
            }
        };
    }
    if seen.len() > 1 {
        findings.add(Rule::MixedPathPrefixes);
        return Err(());
    }
    Ok(seen.into_iter().next())
}

/// A path without `level` leading components; nothing is collapsed.
pub(crate) fn strip(path: &str, level: u8) -> Option<&str> {
    let mut rest = path;
    for _ in 0..level {
        rest = rest.split_once('/')?.1;
    }
    (!rest.is_empty()).then_some(rest)
}

/// A section under the name that it has in the worktree.
#[derive(Debug)]
pub(crate) struct File<'p, 'a> {
    /// The normalized path.
    pub path: &'p str,
    /// Its section.
    pub section: &'p Section<'a>,
}

/// The sections under the names that they have in the worktree; one whose level leaves no name is not among them.
pub(crate) fn files<'p, 'a>(parsed: &'p Parsed<'a>, level: u8) -> impl Iterator<Item = File<'p, 'a>> {
    parsed.sections.iter().filter_map(move |section| {
        let mut names = sides(section).flatten().map(|path| strip(path, level));
        let first = names.next()??;
        names.all(|name| name.is_some()).then_some(File { path: first, section })
    })
}

fn sides<'p>(section: &'p Section<'_>) -> impl Iterator<Item = Option<&'p str>> {
    [section.old.real(), section.new.real()].into_iter()
}

/// Normalizes every section, and reports names that are empty, do not agree or occur twice.
pub(crate) fn normalize<'p, 'a>(
    parsed: &'p Parsed<'a>,
    level: u8,
    findings: &mut Findings,
) -> Vec<File<'p, 'a>> {
    let files: Vec<File<'p, 'a>> = files(parsed, level).collect();
    if files.len() < parsed.sections.len() {
        findings.add(Rule::StripLevelUnderflow);
    }
    for file in &files {
        if sides(file.section).flatten().any(|path| strip(path, level) != Some(file.path)) {
            findings.add_path(Rule::PathPairMismatch, file.path);
        }
    }
    repeated(&files, findings);
    files
}

fn repeated(files: &[File<'_, '_>], findings: &mut Findings) {
    let mut exact = HashSet::new();
    let mut folded = HashSet::new();
    for file in files {
        if !exact.insert(file.path) {
            findings.add(Rule::DuplicatePath);
        }
        if !folded.insert(file.path.to_ascii_lowercase()) {
            findings.add_path(Rule::DuplicateFileSection, file.path);
        }
    }
    for file in files {
        let path = file.path.to_ascii_lowercase();
        for (slash, _) in path.match_indices('/') {
            if folded.contains(&path[..slash]) {
                findings.add_path(Rule::PathBlocksPath, &file.path[..slash]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;

    fn side(path: &'static str) -> HeaderPath<'static> {
        if path == "/dev/null" { HeaderPath::Null } else { HeaderPath::Real(Cow::Borrowed(path)) }
    }

    #[test]
    fn every_shape() {
        let null = "/dev/null";
        let (prefixed, bare) = (Some(Shape::GitPrefixed), Some(Shape::Unprefixed));
        for (old, new, expected) in [
            ("a/x", "b/x", prefixed),
            ("a/x", null, prefixed),
            (null, "b/x", prefixed),
            ("a//x", "b//x", prefixed),
            ("x", "x", bare),
            ("x", "y", bare),
            (null, "x", bare),
            ("src/x", null, bare),
            ("a", "a", bare),
            (null, null, None),
            ("a/x", "b/y", None),
            ("b/x", "a/x", None),
            (null, "a/x", None),
            ("b/x", null, None),
            ("a/x", "a/x", None),
            ("a/x", "x", None),
            ("x", "b/x", None),
            ("a/", "b/", None),
        ] {
            assert_eq!(shape(&side(old), &side(new)), expected, "{old} {new}");
        }
    }

    #[test]
    fn stripping_collapses_nothing() {
        assert_eq!(strip("a/x", 1), Some("x"));
        assert_eq!(strip("a//x", 1), Some("/x"));
        assert_eq!(strip("x/y", 0), Some("x/y"));
        assert_eq!((strip("a", 1), strip("a/", 1), strip("", 0)), (None, None, None));
    }

    #[test]
    fn a_level_that_leaves_nothing_is_reported() {
        let section = Section {
            has_git_line: false,
            names: None,
            old: side("x"),
            new: side("x"),
            operation: crate::parse::Operation::Modify,
            added: 0,
            removed: 0,
            hunks: 0..0,
        };
        let parsed = Parsed { sections: vec![section], ..Parsed::default() };
        let mut findings = Findings::default();
        assert!(normalize(&parsed, 1, &mut findings).is_empty());
        assert!(findings.has(Rule::StripLevelUnderflow));
        let mut none = Findings::default();
        assert_eq!(normalize(&parsed, 0, &mut none).len(), 1);
        assert!(none.is_empty());
    }
}
