//! The order of the stages, and what runs beside what.

use std::path::Path;
use std::thread;

use super::Request;
use super::judged::Judged;
use super::probe::Probe;
use crate::attest::{self, Targets};
use crate::findings::Findings;
use crate::git::{Call, Discovery, Git, Isolation, Settings};
use crate::input::{PatchFile, Workdir, decision};
use crate::limits::KEPT_CONTENT_MAX_BYTES;
use crate::policy::LoadedPolicy;
use crate::receipt::Decision;
use crate::rule::{Rule, Stage};
use crate::shape::Shape;
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
    fn take(patch: Option<String>, worktree: Option<String>, discovery: &Discovery) -> Self {
        let index = attest::index(discovery);
        let control = attest::control(discovery, &index);
        Self { patch, worktree, index: Some(index), control: Some(control) }
    }
}

/// A worktree that git confirms, and the place from which git is asked.
pub(super) struct Ground {
    pub(super) isolation: Isolation,
    pub(super) worktree: Worktree,
    pub(super) discovery: Discovery,
    pub(super) settings: Settings,
    /// git's reading of a patch whose text passed.
    pub(super) reading: Option<Call>,
}

impl Run<'_> {
    /// Runs the stages that can be reached. The digests are taken first and last.
    pub(super) fn stages(&self, findings: Findings, decisions: Vec<Decision>) -> Outcome<'_> {
        let mut outcome = Outcome { findings, decisions, ..Outcome::default() };
        let Some(isolation) = self.isolate(&mut outcome) else {
            outcome.before.patch = self.patch.sha256();
            outcome.after.patch = self.patch.sha256_now();
            return outcome;
        };
        // git looks at the repository while the text is judged and the worktree is read.
        let discovery = isolation.discovery();
        let mut text_findings = Findings::default();
        let bytes = self.patch.bytes.as_deref().unwrap_or_default();
        let judged = Judged::read(bytes, self.policy, self.request.allow_delete, &mut text_findings);
        outcome.targets = judged.targets();
        let passed = judged.shape.filter(|_| outcome.findings.is_empty() && text_findings.is_empty());
        let ground = self.ground(isolation, discovery, passed, &mut outcome);
        let proceeds = outcome.findings.is_empty() && self.patch.bytes.is_some();
        if let Some(mut ground) = ground {
            if proceeds {
                outcome.findings = text_findings;
                outcome.decisions.extend(judged.decisions.iter().copied());
                outcome.probe(&mut ground, bytes, &judged);
            }
            thread::scope(|scope| {
                let patch = scope.spawn(|| self.patch.sha256_now());
                let again = attest::worktree_again(&ground.worktree, &outcome.targets).ok();
                // A digest that could not be taken differs from the one before.
                outcome.after = Digests::take(patch.join().unwrap_or_default(), again, &ground.discovery);
            });
            let version = outcome.probe.version.take().unwrap_or_else(|| ground.isolation.version());
            let answer = version.finish();
            outcome.version = answer
                .succeeded()
                .and_then(|text| str::from_utf8(text).ok())
                .map(|text| text.trim_end().to_owned());
        } else {
            outcome.after.patch = self.patch.sha256_now();
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

    /// Takes the digests before, and hears what git says about the worktree.
    fn ground(
        &self,
        isolation: Isolation,
        discovery: Call,
        passed: Option<Shape>,
        outcome: &mut Outcome<'_>,
    ) -> Option<Ground> {
        let top = self.workdir.path.as_deref()?;
        let reading = passed.map(|shape| isolation.reading(shape.level()));
        let settings = (!Settings::plainly_absent(top)).then(|| isolation.settings());
        let worktree = Worktree::open(top).ok();
        let (patch, before) = thread::scope(|scope| {
            let patch = scope.spawn(|| self.patch.sha256());
            let open = worktree.as_ref();
            let before = open
                .and_then(|open| attest::worktree(open, &mut outcome.targets, KEPT_CONTENT_MAX_BYTES).ok());
            (patch.join().unwrap_or_default(), before)
        });
        outcome.before.patch.clone_from(&patch);
        let discovery = self.confirm(Discovery::read(&discovery.finish()), outcome)?;
        let settings = settings.map(|call| Settings::read(&call.finish())).unwrap_or_default();
        outcome.before = Digests::take(patch, before, &discovery);
        Some(Ground { isolation, worktree: worktree?, discovery, settings, reading })
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
    fn probe(&mut self, ground: &mut Ground, bytes: &[u8], judged: &Judged<'p>) {
        self.probe.run(ground, bytes, judged, &self.targets, &mut self.findings, &mut self.decisions);
    }
}
