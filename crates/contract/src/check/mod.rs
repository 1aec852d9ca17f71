//! Whether the contract, the gates and the patch policy agree (executor-contract.md 7).
//!
//! The stages run in a fixed order, and the first that fails ends the run with all its findings.

mod central;
mod envelopes;
mod executable;
mod families;
mod lanes;
mod patch_policy;
mod structure;
mod vocabularies;

use std::collections::BTreeSet;

use gates::finding::{Finding, Refusal};
use gates::json::Json;
use gates::source::{Environment, Text};

use crate::model::Contract;
use crate::policy::PatchPolicy;

/// Environment variable that names another directory of executable gates.
const GATE_DIRECTORY_VARIABLE: &str = "DELEGATION_EXECUTOR_GATE_DIR";
/// Environment variable that names another patch policy.
const POLICY_VARIABLE: &str = "DELEGATION_EXTERNAL_PATCH_POLICY_FILE";

/// A contract that agrees with everything around it.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The contract.
    pub contract: Contract,
    /// The patch policy that it refers to.
    pub policy: PatchPolicy,
    /// Where the policy was read.
    pub policy_file: String,
}

/// Runs all stages on a contract and a central gate that have been parsed.
///
/// # Errors
/// Exit 65 with the findings of the first stage that fails; exit 66 where a gate or the policy can not be read.
pub fn check(contract: &Json, central: &Json, environment: &Environment<'_>) -> Result<Checked, Refusal> {
    let stage = |name, message: &str, findings: Vec<Finding>| {
        if findings.is_empty() { Ok(()) } else { Err(Refusal::of_findings(name, message, findings)) }
    };
    let structure = "the structure of the contract is not valid";
    let contract = Contract::read(contract)
        .map_err(|finding| Refusal::of_findings("structure", structure, vec![finding]))?;
    stage("structure", structure, structure::check(&contract))?;
    stage(
        "vocabularies",
        "the vocabularies of the contract are not valid",
        vocabularies::check(&contract, central),
    )?;
    let (policy, policy_file) = patch_policy::read(&contract, environment)?;
    stage(
        "patch-policy",
        &format!("{policy_file} does not agree with the contract, or has drifted open"),
        patch_policy::check(&contract, &policy),
    )?;
    stage("envelopes", "the envelope declarations are inconsistent", envelopes::check(&contract))?;
    stage("families", "families or lanes are inconsistent", families::check(&contract))?;
    stage("central-gate", "a lane disagrees with the central gate", central::check(&contract, central))?;
    executable::check(&contract, environment)?;
    Ok(Checked { contract, policy, policy_file })
}

/// The file of an installation by name: in the directory that was named, else in the default places.
fn beside_the_gates(
    environment: &Environment<'_>,
    name: &str,
    embedded: Option<&'static str>,
) -> Result<Text, Refusal> {
    let named = environment.path(GATE_DIRECTORY_VARIABLE).map(|directory| directory.join(name));
    environment.find(named, name, embedded)
}

/// Whether two lists have the same members.
fn same_set<'a>(left: impl IntoIterator<Item = &'a str>, right: impl IntoIterator<Item = &'a str>) -> bool {
    left.into_iter().collect::<BTreeSet<_>>() == right.into_iter().collect::<BTreeSet<_>>()
}
