//! The order of the stages, and what runs beside what.

use std::path::Path;

use super::Request;
use super::judged::Judged;
use super::probe::Probe;
use crate::attest::{self, Look};
use crate::findings::Findings;
use crate::git::{Call, Discovery, Git, Isolation, Settings};
use crate::input::{PatchFile, Workdir, decision};
use crate::limits::KEPT_CONTENT_MAX_BYTES;
use crate::policy::LoadedPolicy;
use crate::receipt::Decision;
use crate::rule::{Rule, Stage};
use crate::targets::{self, Memory, Targets};
use crate::tree::Worktree;

/// One check whose inputs were read.
pub(super) struct Run<'r> {
    pub(super) request: &'r Request,
    pub(super) policy: &'r LoadedPolicy,
    pub(super) git: Git,
    pub(super) temporary: &'r Path,
    pub(super) patch: PatchFile,
    pub(super) workdir: Workdir,
}

/// Everything that the stages found out.
#[derive(Default)]
pub(super) struct Outcome<'p> {
    pub(super) findings: Findings,
    pub(super) decisions: Vec<Decision>,
    /// Whether git could be isolated; absent when nobody tried.
    pub(super) isolated: Option<bool>,
    /// The text, when it was judged.
    pub(super) judged: Option<Judged<'p>>,
    pub(super) targets: Targets,
    pub(super) probe: Probe,
    pub(super) before: Digests,
    pub(super) after: Digests,
    pub(super) version: Option<String>,
}

/// All digests at one moment.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Digests {
    pub(super) patch: Option<String>,
    pub(super) worktree: Option<String>,
    pub(super) index: Option<String>,
    pub(super) control: Option<String>,
}

impl Digests {
    /// Those of the git directory.
    fn of_git(discovery: &Discovery) -> Self {
        let index = attest::index(discovery);
        let control = attest::control(discovery, &index);
        Self { index: Some(index), control: Some(control), ..Self::default() }
    }
}

/// A worktree that git confirms, and the place from which git is asked.
pub(super) struct Ground {
    pub(super) isolation: Isolation,
    pub(super) worktree: Worktree,
    look: Look,
    memory: Memory,
    discovery: Discovery,
    pub(super) settings: Settings,
    /// git's reading of a patch whose text passed.
    pub(super) reading: Option<Call>,
}

impl Ground {
    /// Reads the targets. What attests the patch are the bytes in memory, so their digest can be taken beside that.
    pub(super) fn read(&self, targets: &mut Targets, patch: &PatchFile) -> Option<String> {
        targets::read(&self.worktree, targets, &self.memory, || patch.sha256())
    }
}

/// Calls under way while the inputs are read.
struct Calls {
    discovery: Call,
    settings: Option<Call>,
    /// Of a patch whose text passed.
    reading: Option<Call>,
}

impl Run<'_> {
    /// Runs the stages that can be reached. The digests are taken first and last.
    pub(super) fn stages(&self, findings: Findings, decisions: Vec<Decision>) -> Outcome<'_> {
        let mut outcome = Outcome { findings, decisions, ..Outcome::default() };
        let Some(isolation) = self.isolate(&mut outcome) else {
            outcome.before.patch = self.patch.sha256();
            outcome.after.patch = self.patch.sha256_now(outcome.before.patch.as_deref());
            return outcome;
        };
        // git looks at the repository while the text is judged and the worktree is read.
        let discovery = isolation.discovery();
        let settings = self.workdir.path.as_deref().filter(|top| !Settings::plainly_absent(top));
        let settings = settings.map(|_| isolation.settings());
        let mut text_findings = Findings::default();
        let bytes = self.patch.bytes.as_deref().unwrap_or_default();
        let mut judged = Judged::read(bytes, self.policy, &mut text_findings);
        outcome.targets = judged.targets();
        let worktree = self.workdir.path.as_deref().and_then(|top| Worktree::open(top).ok());
        let memory = Memory::new(KEPT_CONTENT_MAX_BYTES);
        let mut reading = None;
        let look = {
            let Outcome { findings, targets, .. } = &mut outcome;
            let meanwhile = || {
                judged.judge(self.policy, self.request.allow_delete, &mut text_findings);
                let passed = judged.shape.filter(|_| findings.is_empty() && text_findings.is_empty());
                reading = passed.map(|shape| isolation.reading(shape.level()));
            };
            Look::take(worktree.as_ref(), targets, &memory, meanwhile)
        };
        let calls = Calls { discovery, settings, reading };
        let ground = self.ground(isolation, worktree.zip(look), calls, memory, &mut outcome);
        let proceeds = outcome.findings.is_empty() && self.patch.bytes.is_some();
        match ground {
            Some(mut ground) => {
                if proceeds {
                    outcome.findings = text_findings;
                    outcome.decisions.extend(judged.decisions.iter().copied());
                    outcome.probe(&mut ground, &self.patch, &judged);
                }
                self.attest(ground, &mut outcome);
            }
            None => {
                outcome.before.patch = self.patch.sha256();
                outcome.after.patch = self.patch.sha256_now(outcome.before.patch.as_deref());
            }
        }
        outcome.judged = Some(judged).filter(|_| proceeds);
        outcome
    }

    /// Makes the private place for git, if the worktree is worth asking about.
    fn isolate(&self, outcome: &mut Outcome<'_>) -> Option<Isolation> {
        let workdir = self.workdir.path.as_deref().filter(|_| !outcome.findings.has_stage(Stage::Workdir))?;
        let made = Isolation::new(&self.git, self.temporary, workdir, self.patch.bytes.as_deref());
        outcome.isolated = Some(made.is_ok());
        if made.is_err() {
            outcome.findings.add(Rule::GitIsolationFailed);
        }
        made.ok()
    }

    /// Hears what git says about the worktree.
    fn ground(
        &self,
        isolation: Isolation,
        worktree: Option<(Worktree, Look)>,
        calls: Calls,
        memory: Memory,
        outcome: &mut Outcome<'_>,
    ) -> Option<Ground> {
        let discovery = self.confirm(Discovery::read(&calls.discovery.finish()), outcome)?;
        let settings = calls.settings.map(|call| Settings::read(&call.finish())).unwrap_or_default();
        let (worktree, look) = worktree?;
        outcome.before = Digests::of_git(&discovery);
        Some(Ground { isolation, worktree, look, memory, discovery, settings, reading: calls.reading })
    }

    /// Completes the digests before, and takes those after.
    fn attest(&self, ground: Ground, outcome: &mut Outcome<'_>) {
        let patch = outcome.probe.patch_sha256.take();
        let patch = patch.or_else(|| ground.read(&mut outcome.targets, &self.patch));
        outcome.after = Digests {
            patch: self.patch.sha256_now(patch.as_deref()),
            // A digest that could not be taken differs from the one before.
            worktree: attest::worktree_again(&ground.worktree, &outcome.targets).ok(),
            ..Digests::of_git(&ground.discovery)
        };
        outcome.before.patch = patch;
        outcome.before.worktree = Some(ground.look.digest(&outcome.targets));
        let version = outcome.probe.version.take().unwrap_or_else(|| ground.isolation.version());
        let answer = version.finish();
        outcome.version = answer
            .succeeded()
            .and_then(|text| str::from_utf8(text).ok())
            .map(|text| text.trim_end().to_owned());
    }

    /// Judges what git says about the worktree.
    fn confirm(&self, discovery: Option<Discovery>, outcome: &mut Outcome<'_>) -> Option<Discovery> {
        let Some(discovery) = discovery else {
            outcome.findings.add(Rule::WorkdirIsNotAGitWorktree);
            outcome.decisions.push(decision("workdir_is_a_git_worktree", false));
            return None;
        };
        let is_top = discovery.top.canonicalize().is_ok_and(|top| Some(&top) == self.workdir.path.as_ref());
        if !is_top {
            outcome.findings.add(Rule::WorkdirIsNotTheWorktreeToplevel);
            outcome.decisions.push(decision("workdir_is_the_worktree_toplevel", false));
            return None;
        }
        outcome.decisions.push(decision("workdir_is_a_git_worktree", true));
        outcome.decisions.push(decision("workdir_is_the_worktree_toplevel", true));
        Some(discovery)
    }
}

impl<'p> Outcome<'p> {
    fn probe(&mut self, ground: &mut Ground, patch: &PatchFile, judged: &Judged<'p>) {
        self.probe.run(ground, patch, judged, &mut self.targets, &mut self.findings, &mut self.decisions);
    }
}
