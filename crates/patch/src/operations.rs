//! What a patch does, and how much of it (patch-verifier.md 4.5, 4.9, 8.4).

use crate::findings::Findings;
use crate::parse::{Operation, Parsed};
use crate::policy::Policy;
use crate::rule::Rule;
use crate::shape::{self, File};

/// Reports a number above its limit.
fn bounded(rule: Rule, count: u64, max: u64, findings: &mut Findings) -> bool {
    let fits = count <= max;
    if !fits {
        findings.add_detail(rule, format!("{count}>{max}"));
    }
    fits
}

/// Whether there are few enough lines, at least one file, and few enough files; each is reported otherwise.
pub(crate) fn counts(parsed: &Parsed<'_>, policy: &Policy, findings: &mut Findings) -> [bool; 3] {
    let files = parsed.sections.len() as u64;
    if files == 0 {
        findings.add(Rule::NoFilesInPatch);
    }
    [
        bounded(Rule::PatchTooManyLines, parsed.lines, policy.limits.max_patch_lines, findings),
        files > 0,
        bounded(Rule::TooManyFiles, files, policy.limits.max_files, findings),
    ]
}

/// Whether the totals are within the limits; also judges the operation and size of each file.
pub(crate) fn judge(
    files: &[File<'_, '_>],
    policy: &Policy,
    allow_delete: bool,
    findings: &mut Findings,
) -> bool {
    let limits = &policy.limits;
    let delete_allowed = allow_delete && policy.operations.delete == "denied-by-default";
    let (mut added, mut hunks) = (0_u64, 0_u64);
    for File { path, section } in files {
        added += section.added;
        hunks += section.hunks.len() as u64;
        match section.operation {
            Operation::Add if section.removed > 0 => findings.add_path(Rule::RemovedLinesInNewFile, path),
            Operation::Add | Operation::Modify => {}
            Operation::Delete => {
                if section.added > 0 {
                    findings.add_path(Rule::AddedLinesInDeletedFile, path);
                }
                if !delete_allowed {
                    findings.add_path(Rule::DeleteNotPermitted, path);
                }
            }
            Operation::Rename => findings.add_path(Rule::RenameNotPermitted, path),
            Operation::Copy => findings.add_path(Rule::CopyNotPermitted, path),
        }
        if section.added > limits.max_added_lines_per_file {
            findings.add_path(Rule::FileExpansionExceeded, path);
        }
        if section.hunks.len() as u64 > limits.max_hunks_per_file {
            findings.add_path(Rule::TooManyHunksInFile, path);
        }
    }
    let lines_fit = bounded(Rule::TotalExpansionExceeded, added, limits.max_added_lines_total, findings);
    let hunks_fit = bounded(Rule::TooManyHunks, hunks, limits.max_hunks_total, findings);
    lines_fit && hunks_fit
}

/// Reports sections that git takes for a creation or deletion although both headers name a file (8.4).
pub(crate) fn one_sided(parsed: &Parsed<'_>, level: Option<u8>, findings: &mut Findings) {
    for section in &parsed.sections {
        let [hunk] = &parsed.hunks[section.hunks.clone()] else { continue };
        if section.has_git_line {
            continue;
        }
        if let Some(path) = section.old.real().filter(|_| hunk.old_count == 0) {
            findings.add_path(Rule::EmptyPreimage, named(path, level));
        }
        if let Some(path) = section.new.real().filter(|_| hunk.new_count == 0) {
            findings.add_path(Rule::EmptyPostimage, named(path, level));
        }
    }
}

fn named(path: &str, level: Option<u8>) -> &str {
    level.and_then(|level| shape::strip(path, level)).unwrap_or(path)
}
