//! What the text alone says: grammar, counts, level, paths, operations (patch-verifier.md 4.4 to 4.9).

use crate::confine;
use crate::findings::{Findings, Violation};
use crate::input::decision;
use crate::operations;
use crate::parse::{self, Operation, Parsed};
use crate::policy::LoadedPolicy;
use crate::receipt::{Decision, DecisionResult, FileFacts};
use crate::rule::Rule;
use crate::shape::{self, File, Shape};
use crate::targets::Targets;

/// What the text of a patch says by itself.
#[derive(Debug, PartialEq, Eq)]
pub struct TextJudgement {
    /// What refuses it.
    pub violations: Vec<Violation>,
    /// Its files, without digests; none when the headers fix no level.
    pub files: Vec<FileFacts>,
}

/// Judges the text of a patch without a worktree and without git: one part of a check.
pub fn judge_text(patch: &[u8], policy: &LoadedPolicy, allow_delete: bool) -> TextJudgement {
    let mut findings = Findings::default();
    let mut judged = Judged::read(patch, policy, &mut findings);
    judged.judge(policy, allow_delete, &mut findings);
    TextJudgement { files: judged.facts(&Targets::new()), violations: findings.into_violations() }
}

/// A patch that was read and judged by its text.
#[derive(Debug)]
pub(super) struct Judged<'a> {
    pub(super) parsed: Parsed<'a>,
    pub(super) shape: Option<Shape>,
    pub(super) decisions: Vec<Decision>,
}

impl<'a> Judged<'a> {
    /// Reads it: what it names is known then.
    pub(super) fn read(patch: &'a [u8], policy: &'a LoadedPolicy, findings: &mut Findings) -> Self {
        let parsed = parse::parse(patch, &policy.policy, findings);
        let [lines, some, files] = operations::counts(&parsed, &policy.policy, findings);
        let mut decisions = vec![
            decision("patch_line_count_bounded", lines),
            decision("patch_declares_at_least_one_file", some),
            decision("file_count_bounded", files),
        ];
        let shape = match shape::uniform(&parsed.sections, findings) {
            Ok(shape) => {
                decisions.extend(shape.map(|_| decision("header_prefix_style_is_uniform", true)));
                shape
            }
            Err(()) => {
                decisions.push(decision("header_prefix_style_is_uniform", false));
                None
            }
        };
        Self { parsed, shape, decisions }
    }

    /// Judges the names and what is done to them.
    pub(super) fn judge(&mut self, policy: &LoadedPolicy, allow_delete: bool, findings: &mut Findings) {
        let Self { parsed, shape, decisions } = self;
        let level = shape.map(Shape::level);
        operations::one_sided(parsed, level, findings);
        // Without a level the later stages see no path.
        let named = level.map(|level| shape::normalize(parsed, level, findings)).unwrap_or_default();
        decisions.push(decision("each_path_appears_once", !findings.has(Rule::DuplicatePath)));
        let mut confined = true;
        for file in &named {
            confined &= confine::confine(file.path, policy, findings);
        }
        decisions.push(decision("every_path_confined", confined));
        let bounded = operations::judge(&named, &policy.policy, allow_delete, findings);
        decisions.push(Decision {
            rule: "deletions_permitted",
            result: match (findings.has(Rule::DeleteNotPermitted), allow_delete) {
                (true, _) => DecisionResult::Fail,
                (false, true) => DecisionResult::AllowedByFlag,
                (false, false) => DecisionResult::Pass,
            },
        });
        decisions.push(decision("expansion_bounded", bounded));
    }

    /// The files under their normalized paths; none without a level.
    pub(super) fn files(&self) -> Vec<File<'_, 'a>> {
        self.shape.map(|shape| shape::files(&self.parsed, shape.level()).collect()).unwrap_or_default()
    }

    /// An empty slot for each file whose content is to be attested.
    pub(super) fn targets(&self) -> Targets {
        self.files().iter().map(|file| (file.path.as_bytes().to_vec(), None)).collect()
    }

    /// The files as the receipt lists them.
    pub(super) fn facts(&self, targets: &Targets) -> Vec<FileFacts> {
        let before = |file: &File<'_, '_>| {
            let target = targets.get(file.path.as_bytes()).and_then(Option::as_ref);
            target
                .filter(|_| file.section.operation != Operation::Add)
                .and_then(|target| target.content.as_ref())
                .map(|content| content.sha256.to_string())
        };
        self.files()
            .iter()
            .map(|file| FileFacts {
                path: file.path.to_owned(),
                operation: file.section.operation,
                added_lines: file.section.added,
                removed_lines: file.section.removed,
                hunks: file.section.hunks.len(),
                sha256_before: before(file),
            })
            .collect()
    }
}
