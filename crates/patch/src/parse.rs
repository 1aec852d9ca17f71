//! The strict line grammar: one pass over the bytes, no allocation per line (patch-verifier.md 4.4, 8.3, 8.4).
//!
//! Whatever the grammar does not know is a finding. Memory is bounded by the number of headers, and that by the size of
//! the patch, which is checked before.

mod count;
mod form;
mod lines;
mod path;
mod section;

use std::borrow::Cow;
use std::ops::Range;

use serde::Serialize;

pub use lines::Lines;
pub use path::HeaderPath;

use crate::findings::Findings;
use crate::limits::PATH_MARGIN_MAX_BYTES;
use crate::policy::Policy;
use crate::rule::Rule;
use path::Field;
use section::Open;

/// What a section does to its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Operation {
    /// A new file.
    Add,
    /// A copy; always refused.
    Copy,
    /// A deletion.
    Delete,
    /// An edit.
    Modify,
    /// A rename; always refused.
    Rename,
}

impl Operation {
    /// The word of the receipt.
    pub fn word(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Copy => "copy",
            Self::Delete => "delete",
            Self::Modify => "modify",
            Self::Rename => "rename",
        }
    }
}

/// One hunk: what its header declares, and where its lines are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk {
    /// Number of the header's line in the patch, from 1.
    pub line: u64,
    /// First line on the old side, from 1; 0 or the line before where the count is 0.
    pub old_start: u32,
    /// Lines on the old side.
    pub old_count: u32,
    /// First line on the new side.
    pub new_start: u32,
    /// Lines on the new side.
    pub new_count: u32,
    /// Bytes of the body, with a marker line that follows it.
    pub body: Range<usize>,
}

/// One file section that has both headers.
#[derive(Debug, Clone)]
pub struct Section<'a> {
    /// Whether a `diff --git` line begins it.
    pub has_git_line: bool,
    /// The names of that line, where it is well formed.
    pub names: Option<(Cow<'a, str>, Cow<'a, str>)>,
    /// The old header.
    pub old: HeaderPath<'a>,
    /// The new header.
    pub new: HeaderPath<'a>,
    /// What it does.
    pub operation: Operation,
    /// Added lines.
    pub added: u64,
    /// Removed lines.
    pub removed: u64,
    /// Its hunks in [`Parsed::hunks`].
    pub hunks: Range<usize>,
}

/// A whole patch.
#[derive(Debug, Default)]
pub struct Parsed<'a> {
    /// The sections that survived, in order.
    pub sections: Vec<Section<'a>>,
    /// All hunks, in order.
    pub hunks: Vec<Hunk>,
    /// Number of lines; a last line without LF counts.
    pub lines: u64,
}

/// Parses a patch and reports what the grammar refuses.
pub fn parse<'a>(patch: &'a [u8], policy: &'a Policy, findings: &mut Findings) -> Parsed<'a> {
    let mut parser = Parser {
        patch,
        lines: Lines::new(patch),
        policy,
        path_max_bytes: policy.limits.max_path_bytes.saturating_add(PATH_MARGIN_MAX_BYTES),
        findings,
        parsed: Parsed::default(),
        open: None,
        hunk_completed: false,
        miscount_told: false,
    };
    parser.run();
    parser.parsed
}

struct Parser<'a, 'f> {
    patch: &'a [u8],
    lines: Lines<'a>,
    policy: &'a Policy,
    path_max_bytes: u64,
    findings: &'f mut Findings,
    parsed: Parsed<'a>,
    open: Option<Open<'a>>,
    /// The line before was the last of a hunk, or a marker after it.
    hunk_completed: bool,
    miscount_told: bool,
}

impl<'a> Parser<'a, '_> {
    fn run(&mut self) {
        while let Some(line) = self.lines.next() {
            let completed = std::mem::take(&mut self.hunk_completed);
            self.outside(line, completed);
        }
        self.close();
        self.parsed.lines = self.lines.number();
        if self.patch.last().is_some_and(|last| *last != b'\n') {
            self.findings.add(Rule::MissingFinalNewline);
        }
    }

    /// A line outside of hunks; the first form that fits is taken.
    fn outside(&mut self, line: &'a [u8], completed: bool) {
        if line.is_empty() {
            return;
        }
        if line[0] == b'\\' {
            if completed && let Some(hunk) = self.parsed.hunks.last_mut() {
                hunk.body.end = self.lines.at();
                self.hunk_completed = true;
            }
            return;
        }
        if let Some(text) = line.strip_prefix(b"diff --git ") {
            self.git_line(text);
        } else if let Some(text) = line.strip_prefix(b"index ") {
            match form::index_mode(text) {
                Some(mode) => self.mode(mode, false),
                None => self.findings.add(Rule::MalformedIndexHeader),
            }
        } else if let Some(mode) = line.strip_prefix(b"new file mode ").and_then(form::mode) {
            self.open().declared = Some(Operation::Add);
            self.mode(Some(mode), true);
        } else if let Some(mode) = line.strip_prefix(b"deleted file mode ").and_then(form::mode) {
            self.open().declared = Some(Operation::Delete);
            self.mode(Some(mode), false);
        } else if let Some(mode) = line.strip_prefix(b"old mode ").or_else(|| line.strip_prefix(b"new mode "))
        {
            self.findings.add(Rule::ModeChange);
            if form::mode(mode).is_some_and(form::is_special) {
                self.findings.add(Rule::SpecialModeBits);
            }
        } else if line.starts_with(b"similarity index ") || line.starts_with(b"dissimilarity index ") {
        } else if let Some(text) = line.strip_prefix(b"rename from ") {
            self.moved(text, Operation::Rename, Some(Rule::RenameNotPermitted));
        } else if let Some(text) = line.strip_prefix(b"rename to ") {
            self.moved(text, Operation::Rename, None);
        } else if let Some(text) = line.strip_prefix(b"copy from ") {
            self.moved(text, Operation::Copy, Some(Rule::CopyNotPermitted));
        } else if let Some(text) = line.strip_prefix(b"copy to ") {
            self.moved(text, Operation::Copy, None);
        } else if line == b"GIT binary patch" || line.starts_with(b"Binary files ") {
            self.findings.add(Rule::BinaryPatch);
        } else if let Some(text) = line.strip_prefix(b"--- ") {
            self.old_header(text);
        } else if let Some(text) = line.strip_prefix(b"+++ ") {
            self.new_header(text);
        } else if line.starts_with(b"@@ ") {
            self.hunk(line);
        } else {
            self.unexpected(line, completed);
        }
    }

    fn unexpected(&mut self, line: &[u8], completed: bool) {
        self.findings.add(Rule::UnexpectedLine);
        if form::is_combined(line) {
            self.findings.add(Rule::CombinedDiff);
        } else if line.starts_with(b"@@") && !form::has_line_numbers(line) {
            self.findings.add(Rule::UnnumberedHunkHeader);
        }
        if completed && matches!(line[0], b' ' | b'+' | b'-') {
            self.miscounted();
        }
    }

    /// The open section, made when there is none.
    fn open(&mut self) -> &mut Open<'a> {
        let first_hunk = self.parsed.hunks.len();
        self.open.get_or_insert_with(|| Open::new(first_hunk))
    }

    fn reopen(&mut self) -> &mut Open<'a> {
        self.close();
        self.open()
    }

    fn git_line(&mut self, text: &'a [u8]) {
        self.reopen().has_git_line = true;
        let (first, second) = match path::pair(text) {
            Ok(pair) => pair,
            Err(rule) => {
                self.findings.add(rule);
                self.open().bad = true;
                return;
            }
        };
        match (self.real_path(first), self.real_path(second)) {
            (Some(first), Some(second)) => self.open().names = Some((first, second)),
            _ => self.open().bad = true,
        }
    }

    fn moved(&mut self, text: &'a [u8], operation: Operation, rule: Option<Rule>) {
        self.open().declared = Some(operation);
        if let Some(rule) = rule {
            self.findings.add(rule);
        }
        match path::header(text) {
            Ok((field, _)) => {
                self.real_path(field);
            }
            Err(rule) => self.findings.add(rule),
        }
    }

    fn old_header(&mut self, text: &'a [u8]) {
        if self
            .open
            .as_ref()
            .is_some_and(|open| open.old.is_some() || open.bad || open.first_hunk < self.parsed.hunks.len())
        {
            self.close();
        }
        let path = self.header_path(text);
        let open = self.open();
        match path {
            Some(path) => open.old = Some(path),
            None => open.bad = true,
        }
    }

    fn new_header(&mut self, text: &'a [u8]) {
        if self.open.is_none() {
            self.findings.add(Rule::HeaderWithoutSource);
            return;
        }
        let path = self.header_path(text);
        let open = self.open();
        match path {
            Some(path) => open.new = Some(path),
            None => open.bad = true,
        }
    }

    /// The path of a `---` or `+++` line; `None` after a finding that makes the section unusable.
    fn header_path(&mut self, text: &'a [u8]) -> Option<HeaderPath<'a>> {
        let (field, after) = match path::header(text) {
            Ok(split) => split,
            Err(rule) => {
                self.findings.add(rule);
                return None;
            }
        };
        let path = HeaderPath::new(self.real_path(field)?);
        if path != HeaderPath::Null && form::has_epoch(after) {
            self.findings.add(Rule::EpochTimestampHeader);
        }
        Some(path)
    }

    /// A decoded path as text, when it can be shown.
    fn real_path(&mut self, field: Field<'a>) -> Option<Cow<'a, str>> {
        if field.is_quoted() && field.bytes().contains(&0) {
            self.findings.add(Rule::NulInQuotedPath);
        }
        let absolute = field.bytes().starts_with(b"/") && field.bytes() != path::NULL;
        let text = field.text(self.path_max_bytes);
        match (&text, absolute) {
            (Some(path), true) => self.findings.add_path(Rule::AbsoluteHeaderPath, path),
            (None, true) => self.findings.add(Rule::AbsoluteHeaderPath),
            _ => {}
        }
        if text.is_none() {
            self.findings.add(Rule::PathNotRepresentable);
        }
        text
    }

    fn mode(&mut self, mode: Option<[u8; 6]>, is_new: bool) {
        let Some(mode) = mode else { return };
        let modes = &self.policy.file_modes;
        let allowed = if is_new { &modes.new_file_allowed } else { &modes.existing_file_allowed };
        if form::is_special(mode) {
            self.findings.add(Rule::SpecialModeBits);
        }
        if allowed.iter().any(|entry| entry.as_bytes() == mode) {
            return;
        }
        self.findings.add(match &mode {
            b"120000" => Rule::SymlinkMode,
            b"160000" => Rule::Submodule,
            b"100755" if is_new => Rule::ExecutableNewFile,
            _ => Rule::DeniedFileMode,
        });
    }

    fn close(&mut self) {
        if let Some(open) = self.open.take() {
            open.close(&mut self.parsed, self.findings);
        }
    }
}
