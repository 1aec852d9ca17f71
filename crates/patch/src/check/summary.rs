//! The receipt of a run.

use super::judged::Judged;
use super::probe::Probe;
use super::run::{Outcome, Run};
use crate::findings::Findings;
use crate::input::decision;
use crate::receipt::{
    AllowFlags, Attestation, CheckResult, Decision, DecisionResult, FileFacts, GitApplyCheck, PatchFacts,
    Receipt, Strip, Verdict, WorkdirFacts,
};
use crate::rule::{Rule, Stage};
use crate::shape::Shape;

/// Puts together what the stages found out.
pub(super) fn receipt(run: &Run<'_>, outcome: Outcome<'_>) -> Receipt {
    let Outcome { findings, decisions, isolated, judged, targets, probe, before, after, version } = outcome;
    let judged = judged.as_ref();
    let unchanged = before == after;
    let verdict = if !unchanged {
        Verdict::AttestationFailed
    } else if findings.is_empty() && probe.result == CheckResult::Clean {
        Verdict::Accepted
    } else {
        Verdict::Rejected
    };
    let hardening_decisions = hardening(&findings, isolated, judged, &probe);
    let shape = judged.and_then(|judged| judged.shape);
    let files: Vec<FileFacts> = judged.map(|judged| judged.facts(&targets)).unwrap_or_default();
    let mut operations: Vec<_> = files.iter().map(|file| file.operation).collect();
    operations.sort_unstable();
    operations.dedup();
    let policy = &run.policy.policy;
    Receipt {
        schema_version: 1,
        tool: "delegation-patch-verify",
        policy_schema_version: policy.schema_version,
        policy_version: policy.policy_version.clone(),
        policy_file: run.policy.file.clone(),
        policy_sha256: run.policy.sha256.to_string(),
        verdict,
        read_only: true,
        applies_patch: false,
        applied_by: "lead",
        enforcement_authority: "patch-verifier",
        grants_permissions: false,
        patch: PatchFacts {
            path: run.patch.path.to_string_lossy().into_owned(),
            sha256: before.patch.clone(),
            bytes: run.patch.size,
        },
        workdir: WorkdirFacts {
            path: run.workdir.path.as_ref().map(|path| path.to_string_lossy().into_owned()),
            git_control: run.workdir.git_control,
        },
        file_count: judged.map_or(0, |judged| judged.parsed.sections.len()),
        files,
        operations,
        strip: Strip {
            required: shape.map(Shape::level),
            chosen: probe.chosen,
            header_style: shape,
            alternate: probe.alternate,
            alternate_applies: probe.alternate_applies,
            ..Strip::default()
        },
        allow_flags: AllowFlags { allow_delete: run.request.allow_delete },
        policy_decisions: decisions,
        git_apply_check: GitApplyCheck { ran: probe.ran, strip: probe.chosen, result: probe.result },
        attestation: Attestation {
            unchanged,
            patch_sha256_before: before.patch,
            patch_sha256_after: after.patch,
            worktree_state_sha256_before: before.worktree,
            worktree_state_sha256_after: after.worktree,
            index_sha256_before: before.index,
            index_sha256_after: after.index,
            git_control_sha256_before: before.control,
            git_control_sha256_after: after.control,
            method: "native",
        },
        violations: findings.into_violations(),
        hardening_decisions,
        git_reading: probe.reading,
        placements: probe.placements,
        first_mismatch: probe.first_mismatch,
        git_version: version,
        apply_command: shape.filter(|_| verdict == Verdict::Accepted).map(|shape| apply_command(run, shape)),
        extraction: None,
    }
}

/// The command for the lead, with settings that no configuration of theirs changes.
fn apply_command(run: &Run<'_>, shape: Shape) -> Vec<String> {
    let level = format!("-p{}", shape.level());
    let patch = run.patch.path.to_string_lossy();
    ["git", "-c", "apply.ignoreWhitespace=no", "apply", "--whitespace=nowarn", &level, &patch]
        .map(str::to_owned)
        .to_vec()
}

/// The decisions of the hardening rules (patch-verifier.md 8.8).
fn hardening(
    findings: &Findings,
    isolated: Option<bool>,
    judged: Option<&Judged<'_>>,
    probe: &Probe,
) -> Vec<Decision> {
    let reached = |rule: &'static str, reached: bool, stage: Stage| {
        let result = if reached { (!findings.has_stage(stage)).into() } else { DecisionResult::NotRun };
        Decision { rule, result }
    };
    let parsed = judged.is_some();
    let named = judged.is_some_and(|judged| judged.shape.is_some());
    vec![
        reached("git_isolated_from_repository", isolated.is_some(), Stage::Isolation),
        decision("attestation_is_native", true),
        reached("quoted_paths_decoded", parsed, Stage::Quoting),
        reached("header_paths_agree", parsed, Stage::HeaderPaths),
        reached("hunks_and_shapes_exact", parsed, Stage::HunksAndShapes),
        reached("names_not_disguised", named, Stage::Names),
        reached("no_symlink_on_any_path", probe.looked, Stage::FileSystem),
        reached("git_reading_agrees", probe.reading.ran, Stage::Reading),
        Decision {
            rule: "placement_unambiguous",
            result: if probe.placed {
                (!findings.has(Rule::AmbiguousHunkPlacement)).into()
            } else {
                DecisionResult::NotRun
            },
        },
    ]
}
