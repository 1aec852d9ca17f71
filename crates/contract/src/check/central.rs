//! The lanes of the contract are those of the central gate, in both directions (executor-contract.md 7.6).

use std::collections::BTreeSet;

use gates::finding::Finding;
use gates::json::{Json, decode, pointer};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::model::Contract;

/// The part of a profile that is compared.
#[derive(Deserialize)]
struct Profile {
    #[serde(default)]
    model: Json,
    #[serde(default)]
    harness: Json,
    #[serde(default)]
    effort: Json,
    #[serde(default)]
    lanes: IndexMap<String, Lane>,
}

#[derive(Deserialize)]
struct Lane {
    #[serde(default)]
    status: Json,
    #[serde(default)]
    selection: Json,
}

/// A lane of the central gate that the contract does not know.
#[derive(Serialize)]
struct Undeclared<'a> {
    profile: &'a str,
    lane: &'a str,
}

pub(super) fn check(contract: &Contract, central: &Json) -> Vec<Finding> {
    let profiles = central.get("profiles").unwrap_or(&Json::Null);
    let profiles: IndexMap<String, Profile> = match decode(profiles, &["profiles"]) {
        Ok(profiles) => profiles,
        Err(fault) => return vec![Finding::shape("C-1", fault)],
    };
    let mut findings = Vec::new();
    let mut declared = BTreeSet::new();
    for (family_name, family, name, lane) in contract.lanes() {
        declared.insert((&*lane.central_profile, name));
        let agrees = profiles.get(&*lane.central_profile).is_some_and(|profile| {
            profile.model == Json::from(&*family.model)
                && profile.harness == Json::from(&*family.harness)
                && profile.effort == Json::from(&*lane.effort)
                && profile.lanes.get(name).is_some_and(|row| {
                    row.status == Json::from(&*lane.status) && row.selection == Json::from(&*lane.selection)
                })
        });
        if !agrees {
            let at = pointer(["families", family_name, "lanes", name]);
            findings.push(Finding::new("C-1", at, "the central gate says otherwise, or has no such lane"));
        }
    }
    let undeclared: Vec<Undeclared<'_>> = profiles
        .iter()
        .filter(|(_, profile)| {
            contract.families.values().any(|family| {
                profile.model == Json::from(&*family.model) && profile.harness == Json::from(&*family.harness)
            })
        })
        .flat_map(|(name, profile)| profile.lanes.keys().map(move |lane| Undeclared { profile: name, lane }))
        .filter(|row| !declared.contains(&(row.profile, row.lane)))
        .collect();
    if !undeclared.is_empty() {
        let missing = serde_json::to_string(&undeclared).unwrap_or_default();
        findings.push(Finding::new("C-2", "/families", format!("not declared: {missing}")));
    }
    findings
}
