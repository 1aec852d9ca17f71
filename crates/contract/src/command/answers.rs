//! The JSON answers (executor-contract.md 9).

use gates::json::Json;
use serde::Serialize;

use super::Inputs;
use crate::check::Checked;
use crate::model::{Contract, EnvelopeKind};
use crate::validate::Validated;

/// The answer to `check`.
#[derive(Debug, Serialize)]
pub(super) struct Summary<'a> {
    valid: bool,
    read_only: bool,
    enforcement_authority: &'a str,
    grants_permissions: bool,
    contract_file: &'a str,
    pub(super) contract_version: &'a str,
    schema_version: u64,
    central_routing_gate: &'a str,
    pub(super) families: usize,
    runners: Vec<&'a str>,
    pub(super) lane_declarations: usize,
    pub(super) dispatchable_lanes: usize,
    pub(super) permission_classes: Vec<&'a str>,
    exit_codes: Vec<u64>,
    pub(super) patch_policy_file: &'a str,
    pub(super) patch_policy_version: &'a str,
    pub(super) patch_verifier: &'a str,
    pub(super) text_patch_lanes: usize,
    patch_verification_required: bool,
    pub(super) patch_applied_by: &'a str,
}

impl<'a> Summary<'a> {
    pub(super) fn of(inputs: &'a Inputs, checked: &'a Checked) -> Self {
        let contract = &checked.contract;
        let reference = &contract.patch_policy;
        Self {
            valid: true,
            read_only: true,
            enforcement_authority: contract.authority.enforcement_authority.word(),
            grants_permissions: false,
            contract_file: &inputs.contract_file,
            contract_version: &contract.contract_version,
            schema_version: contract.schema_version.number(),
            central_routing_gate: &inputs.central_file,
            families: contract.families.len(),
            runners: sorted(contract.families.values().map(|family| &*family.runner)),
            lane_declarations: contract.lanes().count(),
            dispatchable_lanes: contract.lanes().filter(|(_, _, _, lane)| lane.dispatchable).count(),
            permission_classes: sorted(contract.vocabularies.permission_classes.keys().map(String::as_str)),
            exit_codes: sorted(contract.exit_codes.keys().filter_map(|code| code.parse().ok())),
            patch_policy_file: &checked.policy_file,
            patch_policy_version: &checked.policy.policy_version,
            patch_verifier: &reference.verifier,
            text_patch_lanes: contract
                .lanes()
                .filter(|(_, _, _, lane)| lane.permission_class == reference.required_for_permission_class)
                .count(),
            patch_verification_required: true,
            patch_applied_by: reference.applied_by.word(),
        }
    }
}

fn sorted<T: Ord>(members: impl Iterator<Item = T>) -> Vec<T> {
    let mut members: Vec<T> = members.collect();
    members.sort_unstable();
    members
}

/// One entry of the answer to `families`.
#[derive(Debug, Serialize)]
pub(super) struct FamilyEntry<'a> {
    pub(super) family: &'a str,
    provider_family: &'a str,
    pub(super) runner: &'a str,
    model: &'a str,
    pub(super) harness: &'a str,
    backend: &'a str,
    transport: &'a str,
    pub(super) efforts: &'a [String],
    executable_gate: &'a str,
    pub(super) lanes: Vec<&'a str>,
}

pub(super) fn families(contract: &Contract) -> impl Iterator<Item = FamilyEntry<'_>> {
    contract.families.iter().map(|(name, family)| FamilyEntry {
        family: name,
        provider_family: &family.provider_family,
        runner: &family.runner,
        model: &family.model,
        harness: &family.harness,
        backend: &family.backend,
        transport: &family.transport,
        efforts: &family.efforts,
        executable_gate: &family.executable_gate,
        lanes: family.lane_names(),
    })
}

/// The answer to `family`: the object of the contract, and its name.
pub(super) fn family(object: &Json, name: &str) -> Json {
    let mut members = object.as_object().cloned().unwrap_or_default();
    members.insert("family".to_owned(), name.into());
    Json::Object(members)
}

/// One row of the answer to `table`.
#[derive(Debug, Serialize)]
pub(super) struct Row<'a> {
    pub(super) family: &'a str,
    provider_family: &'a str,
    pub(super) runner: &'a str,
    pub(super) model: &'a str,
    pub(super) harness: &'a str,
    backend: &'a str,
    transport: &'a str,
    pub(super) lane: &'a str,
    pub(super) effort: &'a str,
    pub(super) status: &'a str,
    pub(super) selection: &'a str,
    pub(super) dispatchable: bool,
    pub(super) permission_class: &'a str,
    pub(super) worktree_access: &'a str,
    patch_policy_version: Option<&'a str>,
    patch_verifier: Option<&'a str>,
    write_scope: &'a str,
    allowed_tools: Option<&'a [String]>,
    central_profile: &'a str,
    evaluation_only: bool,
}

pub(super) fn table(checked: &Checked) -> impl Iterator<Item = Row<'_>> {
    let reference = &checked.contract.patch_policy;
    checked.contract.lanes().map(|(name, family, lane_name, lane)| {
        let governed = lane.permission_class == reference.required_for_permission_class;
        Row {
            family: name,
            provider_family: &family.provider_family,
            runner: &family.runner,
            model: &family.model,
            harness: &family.harness,
            backend: &family.backend,
            transport: &family.transport,
            lane: lane_name,
            effort: &lane.effort,
            status: &lane.status,
            selection: &lane.selection,
            dispatchable: lane.dispatchable,
            permission_class: &lane.permission_class,
            worktree_access: &lane.worktree_access,
            patch_policy_version: governed.then_some(&*reference.policy_version),
            patch_verifier: governed.then_some(&*reference.verifier),
            write_scope: &lane.tool_policy.write_scope,
            allowed_tools: lane.tool_policy.allowed_tools.as_deref(),
            central_profile: &lane.central_profile,
            evaluation_only: lane.evaluation_only,
        }
    })
}

/// The answer to `validate`.
#[derive(Debug, Serialize)]
pub(super) struct Verdict<'a> {
    valid: bool,
    pub(super) envelope: &'static str,
    pub(super) file: &'a str,
    pub(super) family: Option<&'a str>,
    required_fields: usize,
    pub(super) extension_fields: &'a [String],
    extensions_permitted: bool,
    read_only: bool,
}

impl<'a> Verdict<'a> {
    pub(super) fn of(
        kind: EnvelopeKind,
        file: &'a str,
        family: Option<&'a str>,
        validated: &'a Validated,
    ) -> Self {
        Self {
            valid: true,
            envelope: kind.word(),
            file,
            family,
            required_fields: validated.required_fields,
            extension_fields: &validated.extension_fields,
            extensions_permitted: true,
            read_only: true,
        }
    }
}
