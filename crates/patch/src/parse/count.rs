//! Hunks: their headers, their lines, and counts that do not agree.

use super::{Hunk, Lines, Parser, form};
use crate::rule::Rule;

impl Parser<'_, '_> {
    /// A line that starts a hunk, and the lines of the hunk.
    pub(super) fn hunk(&mut self, line: &[u8]) {
        let header = form::hunk_header(line);
        if header.is_none() && !form::has_line_numbers(line) {
            self.findings.add(Rule::UnnumberedHunkHeader);
        }
        let ready =
            self.open.as_ref().is_some_and(|open| open.bad || open.old.is_some() && open.new.is_some());
        if !ready {
            self.findings.add(Rule::HunkWithoutFileHeaders);
            return;
        }
        let Some([old_start, old_count, new_start, new_count]) = header else {
            self.findings.add(Rule::MalformedHunkHeader);
            return;
        };
        let start = self.lines.at();
        let line = self.lines.number();
        self.parsed.hunks.push(Hunk { line, old_start, old_count, new_start, new_count, body: start..start });
        self.body(old_count, new_count);
    }

    fn body(&mut self, old_count: u32, new_count: u32) {
        let (mut old, mut new) = (old_count, new_count);
        let (mut added, mut removed) = (0_u64, 0_u64);
        let mut refused = None;
        while old > 0 || new > 0 {
            let Some(line) = self.lines.next() else {
                refused = Some(Rule::TruncatedHunk);
                break;
            };
            let (takes_old, takes_new) = match line.first() {
                None | Some(b' ') => (1, 1),
                Some(b'+') => {
                    added += 1;
                    (0, 1)
                }
                Some(b'-') => {
                    removed += 1;
                    (1, 0)
                }
                Some(b'\\') => (0, 0),
                Some(_) => {
                    if form::is_combined(line) {
                        self.findings.add(Rule::CombinedDiff);
                    }
                    refused = Some(Rule::MalformedHunkLine);
                    break;
                }
            };
            if takes_old > old || takes_new > new {
                refused = Some(Rule::HunkLineCountOverrun);
                break;
            }
            old -= takes_old;
            new -= takes_new;
        }
        let end = self.lines.at();
        if let Some(hunk) = self.parsed.hunks.last_mut() {
            hunk.body.end = end;
        }
        let open = self.open();
        open.added += added;
        open.removed += removed;
        match refused {
            Some(rule) => {
                self.findings.add(rule);
                self.miscounted();
            }
            None => self.hunk_completed = true,
        }
    }

    /// Reports the numbers of the last hunk, once in a patch.
    pub(super) fn miscounted(&mut self) {
        if std::mem::replace(&mut self.miscount_told, true) {
            return;
        }
        let Some(hunk) = self.parsed.hunks.last() else { return };
        let first = self.open.as_ref().map_or(0, |open| open.first_hunk);
        let (old, new) = counted(&self.patch[hunk.body.start..]);
        let detail = format!(
            "hunk={} declared=-{}+{} counted=-{old}+{new}",
            self.parsed.hunks.len() - first,
            hunk.old_count,
            hunk.new_count
        );
        self.findings.add_detail(Rule::HunkCountMismatch, detail);
    }
}

/// The lines on each side that follow a hunk header, up to what begins something else (patch-verifier.md 8.4).
fn counted(body: &[u8]) -> (u64, u64) {
    let (mut old, mut new) = (0, 0);
    let mut lines = Lines::new(body);
    while let Some(line) = lines.next() {
        if line.starts_with(b"--- ") {
            let mut ahead = lines.clone();
            if ahead.next().is_some_and(|next| next.starts_with(b"+++ "))
                && ahead.next().is_some_and(|next| next.starts_with(b"@@ "))
            {
                break;
            }
        }
        match line.first() {
            None | Some(b' ') => {
                old += 1;
                new += 1;
            }
            Some(b'+') => new += 1,
            Some(b'-') => old += 1,
            Some(b'\\') => {}
            Some(_) => break,
        }
    }
    (old, new)
}
