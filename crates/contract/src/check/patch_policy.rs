//! The patch policy is the one that the contract refers to, and has not drifted open (executor-contract.md 7.3).

use gates::finding::{Finding, Refusal};
use gates::json::{decode, pointer};
use gates::source::Environment;

use super::{POLICY_VARIABLE, beside_the_gates};
use crate::embedded;
use crate::model::Contract;
use crate::policy::PatchPolicy;

const STAGE: &str = "patch-policy";
/// Classes of paths without which the policy protects nothing.
const DENIED_CLASSES: [&str; 7] = [
    "git-control",
    "git-metadata",
    "dotenv",
    "private-key",
    "certificate",
    "credential-file",
    "provider-auth",
];
/// Modes of what is no file.
const NO_FILE_MODES: [&str; 2] = ["120000", "160000"];
/// Options under which git would leave the worktree or write to the index.
const NEVER_PASSED: [&str; 3] = ["--unsafe-paths", "--index", "--cached"];

/// The policy, and where it was read.
pub(super) fn read(
    contract: &Contract,
    environment: &Environment<'_>,
) -> Result<(PatchPolicy, String), Refusal> {
    let name = &*contract.patch_policy.policy_file;
    let text = match environment.path(POLICY_VARIABLE) {
        Some(path) => environment.find(Some(path), name, None)?,
        None => beside_the_gates(environment, name, embedded::policy(name))?,
    };
    let document = text.parse(STAGE)?;
    let policy = decode(&document, &[]).map_err(|fault| {
        let message = format!("{} does not agree with the contract, or has drifted open", text.label);
        Refusal::of_findings(STAGE, &message, vec![Finding::shape("P-03", fault)])
    })?;
    Ok((policy, text.label))
}

pub(super) fn check(contract: &Contract, policy: &PatchPolicy) -> Vec<Finding> {
    let reference = &contract.patch_policy;
    let mut findings = Vec::new();
    let mut demand = |path: &[&str], met: bool, detail: &str| {
        if !met {
            findings.push(Finding::new("P-03", pointer(path), detail));
        }
    };
    let same = "not what the contract refers to";
    demand(&["policy_version"], policy.policy_version == reference.policy_version, same);
    demand(&["verifier"], policy.verifier == reference.verifier, same);
    demand(
        &["applies_to_permission_class"],
        policy.applies_to_permission_class == reference.required_for_permission_class,
        same,
    );
    for mode in NO_FILE_MODES {
        demand(
            &["file_modes", "existing_file_allowed"],
            !policy.file_modes.existing_file_allowed.iter().any(|own| own == mode),
            "allows what is no file",
        );
    }
    let denied = &policy.paths.denied_patterns;
    let path = &["paths", "denied_patterns"];
    demand(path, !denied.is_empty(), "empty");
    for (index, class) in denied.iter().enumerate() {
        let first = denied.iter().position(|own| own.id == class.id);
        demand(path, first == Some(index), "an id stands twice");
    }
    for class in DENIED_CLASSES {
        demand(path, denied.iter().any(|own| *own.id == *class), &format!("{class} is missing"));
    }
    demand(&["strip", "candidates"], policy.strip.candidates == [0, 1], "must be 0 and 1");
    for option in NEVER_PASSED {
        demand(
            &["git_apply", "never_passed"],
            policy.git_apply.never_passed.has(option),
            &format!("{option} is missing"),
        );
    }

    let governed: Vec<_> = contract
        .lanes()
        .filter(|(_, _, _, lane)| lane.permission_class == reference.required_for_permission_class)
        .collect();
    if governed.is_empty() {
        findings.push(Finding::new("P-04", "/families", "no lane is of the class that the policy governs"));
    }
    for (family, _, name, lane) in governed {
        if lane.patch_policy.is_none() {
            let at = pointer(["families", family, "lanes", name, "patch_policy"]);
            findings.push(Finding::new("P-04", at, "missing on a lane that returns patches"));
        }
    }
    findings
}
