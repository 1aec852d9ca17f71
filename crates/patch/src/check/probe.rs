//! What the worktree and git say about a patch whose text passed (patch-verifier.md 4.10, 8.5 to 8.7).

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::Read as _;

use super::judged::Judged;
use super::run::Ground;
use crate::endings::{self, Attributes};
use crate::findings::Findings;
use crate::git::Call;
use crate::input::{PatchFile, decision};
use crate::parse::Operation;
use crate::place::{self, Mismatch, Placed, Placement};
use crate::reading::GitReading;
use crate::receipt::{CheckResult, Decision, DecisionResult};
use crate::rule::Rule;
use crate::shape::{self, File, Shape};
use crate::targets::{Content, Targets};
use crate::tree::Worktree;

/// What was asked and answered.
#[derive(Debug)]
pub(super) struct Probe {
    /// Whether any path was examined in the worktree.
    pub(super) looked: bool,
    pub(super) reading: GitReading,
    pub(super) ran: bool,
    pub(super) result: CheckResult,
    pub(super) chosen: Option<u8>,
    pub(super) alternate: Option<u8>,
    pub(super) alternate_applies: Option<bool>,
    /// Whether the placement of hunks was judged.
    pub(super) placed: bool,
    pub(super) placements: Vec<Placement>,
    pub(super) first_mismatch: Option<Mismatch>,
    /// The version query, once started.
    pub(super) version: Option<Call>,
    /// Digest of the patch, once taken.
    pub(super) patch_sha256: Option<String>,
}

impl Default for Probe {
    fn default() -> Self {
        Self {
            looked: false,
            reading: GitReading::default(),
            ran: false,
            result: CheckResult::NotRun,
            chosen: None,
            alternate: None,
            alternate_applies: None,
            placed: false,
            placements: Vec::new(),
            first_mismatch: None,
            version: None,
            patch_sha256: None,
        }
    }
}

impl Probe {
    /// Asks the worktree, and git if nothing refuses the patch so far.
    pub(super) fn run(
        &mut self,
        ground: &mut Ground,
        patch: &PatchFile,
        judged: &Judged<'_>,
        targets: &mut Targets,
        findings: &mut Findings,
        decisions: &mut Vec<Decision>,
    ) {
        let reading = ground.reading.take();
        let ground = &*ground;
        let files = judged.files();
        let mut examiner = ground.worktree.examiner();
        for file in &files {
            if !findings.concern(file.path) {
                self.looked = true;
                // A target that was seen lies behind directories only.
                let seen = targets.get(file.path.as_bytes()).and_then(Option::as_ref);
                if seen.is_some_and(|target| !target.is_nested) {
                    continue;
                }
                examiner.examine(file.path, &mut |rule| findings.add_path(rule, file.path));
            }
        }
        if let (Some(shape), Some(reading), true) = (judged.shape, reading, findings.is_empty()) {
            let answers = Answers::ask(ground, &files, shape);
            self.version = Some(ground.isolation.version());
            // The targets are read while git works.
            self.patch_sha256 = ground.read(targets, patch);
            self.reading = GitReading::compare(&reading.finish(), &files);
            for difference in self.reading.differences() {
                findings.add_detail(Rule::GitReadsItDifferently, difference.to_owned());
            }
            // What git says of a patch that it reads differently is not heard.
            if findings.is_empty() {
                let patch = patch.bytes.as_deref().unwrap_or_default();
                let replay = Replay { ground, patch, judged, targets };
                self.apply(answers, &replay, &files, findings, decisions);
                return;
            }
        }
        decisions.push(Decision { rule: "git_apply_check", result: DecisionResult::NotRun });
    }

    fn apply(
        &mut self,
        answers: Answers,
        replay: &Replay<'_>,
        files: &[File<'_, '_>],
        findings: &mut Findings,
        decisions: &mut Vec<Decision>,
    ) {
        let Answers { shape, required, alternate } = answers;
        let level = shape.level();
        let other = 1 - level;
        let attributes = replay.attributes(files);
        let placed: Vec<Option<(Target, Placed)>> =
            files.iter().map(|file| replay.file(file, &attributes)).collect();
        let applies = required.finish().succeeded().is_some();
        let alternate_applies = alternate.is_some_and(|call| call.finish().succeeded().is_some());
        self.ran = true;
        self.alternate = Some(other);
        self.alternate_applies = Some(alternate_applies);
        let (result, alternate) = match (applies, alternate_applies, shape) {
            (false, _, _) => (CheckResult::NotApplicable, DecisionResult::NotRun),
            (true, false, _) => (CheckResult::Clean, DecisionResult::Pass),
            (true, true, Shape::GitPrefixed) => (CheckResult::Clean, DecisionResult::PrefixOnly),
            (true, true, Shape::Unprefixed) => (CheckResult::Ambiguous, DecisionResult::Fail),
        };
        self.result = result;
        self.chosen = (result == CheckResult::Clean).then_some(level);
        decisions.push(decision("git_apply_check", result == CheckResult::Clean));
        decisions.push(Decision { rule: "alternate_strip_level_cannot_redirect", result: alternate });
        match result {
            CheckResult::NotApplicable => {
                findings.add_detail(Rule::PatchDoesNotApply, format!("p{level}"));
            }
            CheckResult::Ambiguous => {
                let detail = format!("required=p{level} alternate=p{other}");
                findings.add_detail(Rule::AmbiguousStripLevel, detail);
            }
            CheckResult::Clean | CheckResult::NotRun => {}
        }
        if applies {
            self.judge_placement(files, placed, findings);
        } else {
            self.explain(files, placed, findings);
        }
    }

    fn judge_placement(
        &mut self,
        files: &[File<'_, '_>],
        placed: Vec<Option<(Target, Placed)>>,
        findings: &mut Findings,
    ) {
        self.placed = true;
        for (file, placed) in files.iter().zip(placed) {
            match placed {
                Some((_, Placed::Clean(placements))) => self.placements.extend(placements),
                Some((_, Placed::Ambiguous { hunk, candidates })) => findings.add_detail(
                    Rule::AmbiguousHunkPlacement,
                    format!("{} hunk={hunk} candidates={candidates}", file.path),
                ),
                // git found a place where, by the lines of the hunk, there is none.
                Some((_, Placed::Mismatch(_))) => {
                    findings.add_detail(Rule::GitReadsItDifferently, "placement".to_owned());
                }
                None => {}
            }
        }
    }

    fn explain(
        &mut self,
        files: &[File<'_, '_>],
        placed: Vec<Option<(Target, Placed)>>,
        findings: &mut Findings,
    ) {
        for (file, placed) in files.iter().zip(placed) {
            let Some((target, Placed::Mismatch(mismatch))) = placed else { continue };
            self.first_mismatch.get_or_insert(mismatch);
            if target.lacks_marker {
                findings.add_path(Rule::MissingNoNewlineMarker, file.path);
            }
            if target.keeps_carriage_returns {
                findings.add_path(Rule::TargetHasCarriageReturns, file.path);
            }
        }
    }
}

/// What may explain why a hunk does not match.
#[derive(Debug, Clone, Copy)]
struct Target {
    lacks_marker: bool,
    keeps_carriage_returns: bool,
}

/// Questions to git whether the patch applies, under way.
struct Answers {
    shape: Shape,
    required: Call,
    /// At the other level, unless it surely does not.
    alternate: Option<Call>,
}

impl Answers {
    fn ask(ground: &Ground, files: &[File<'_, '_>], shape: Shape) -> Self {
        let Ground { isolation, settings, worktree, .. } = ground;
        let (level, other) = (shape.level(), 1 - shape.level());
        let required = isolation.check(level, settings);
        let alternate = may_apply(worktree, files, other).then(|| isolation.check(other, settings));
        Self { shape, required, alternate }
    }
}

/// Whether git could apply the patch at a level at all: it can not where a file that must exist has no name or is
/// missing under both of its names. Then git need not be asked.
fn may_apply(worktree: &Worktree, files: &[File<'_, '_>], level: u8) -> bool {
    let missing = |file: &File<'_, '_>| {
        let sides = [&file.section.old, &file.section.new];
        let mut names = sides.into_iter().filter_map(|side| shape::strip(side.real()?, level));
        file.section.operation != Operation::Add && names.all(|name| worktree.lacks(name))
    };
    !files.iter().any(missing)
}

/// Our own application of the hunks to what lies in the worktree.
struct Replay<'r> {
    ground: &'r Ground,
    patch: &'r [u8],
    judged: &'r Judged<'r>,
    targets: &'r Targets,
}

impl Replay<'_> {
    fn content(&self, path: &str) -> Option<&Content> {
        self.targets.get(path.as_bytes())?.as_ref()?.content.as_ref()
    }

    /// The attributes of the targets that have carriage returns; the others need none.
    fn attributes(&self, files: &[File<'_, '_>]) -> HashMap<String, Attributes> {
        let has_return = |path: &str| self.content(path).is_some_and(|content| content.has_carriage_return);
        let paths: Vec<&str> = files.iter().map(|file| file.path).filter(|path| has_return(path)).collect();
        if paths.is_empty() {
            return HashMap::new();
        }
        let call = self.ground.isolation.attributes(&paths, &self.ground.settings);
        call.map(|call| Attributes::read(&call.finish())).unwrap_or_default().into_iter().collect()
    }

    /// `None` for an addition, and for a target that is missing or can not be read: no hunk is at fault there.
    fn file(
        &self,
        file: &File<'_, '_>,
        attributes: &HashMap<String, Attributes>,
    ) -> Option<(Target, Placed)> {
        if file.section.operation == Operation::Add {
            return None;
        }
        let content = match self.content(file.path).and_then(|content| content.bytes.as_deref()) {
            Some(kept) => Cow::Borrowed(kept),
            None => {
                let mut content = Vec::new();
                self.ground.worktree.file(file.path).ok()??.read_to_end(&mut content).ok()?;
                Cow::Owned(content)
            }
        };
        let declared = attributes.get(file.path).cloned().unwrap_or_default();
        let compared = endings::compared(&content, &declared, &self.ground.settings);
        let hunks = &self.judged.parsed.hunks[file.section.hunks.clone()];
        let target = Target {
            lacks_marker: place::lacks_marker(&compared, hunks, self.patch),
            keeps_carriage_returns: endings::has_crlf(&compared),
        };
        Some((target, place::place(file.path, &compared, hunks, self.patch)))
    }
}
