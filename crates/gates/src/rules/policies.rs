//! Rules 1, 3, 4, 10 and 12: what the central gate says beside its rows.

use super::duplicates;
use crate::central::{CentralGate, CompoundLane};
use crate::finding::Finding;
use crate::json::pointer;
use crate::words::{Selection, Status};

/// The lane that members of a compound lane must hold.
const JUDGEMENT_LANE: &str = "judgement";
/// Who decides at the end of a compound lane.
const FINAL_AUTHORITY: &str = "lead";

pub(super) fn check(central: &CentralGate, findings: &mut Vec<Finding>) {
    if central.schema_version != 1 {
        findings.push(Finding::new("R-01", "/schema_version", "not version 1"));
    }
    if central.profiles.is_empty() {
        findings.push(Finding::new("R-01", "/profiles", "no profile"));
    }
    families(central, findings);
    review(central, findings);
    for (name, lane) in &central.compound_lanes {
        compound(central, name, lane, findings);
    }
    activation(central, findings);
}

fn families(central: &CentralGate, findings: &mut Vec<Finding>) {
    if central.model_families.is_empty() {
        findings.push(Finding::new("R-03", "/model_families", "no family"));
    }
    for (model, family) in &central.model_families {
        if family.is_empty() {
            findings.push(Finding::new("R-03", pointer(["model_families", model]), "the family has no name"));
        }
    }
    for (name, profile) in &central.profiles {
        if !central.model_families.contains_key(&profile.model) {
            let at = pointer(["profiles", name, "model"]);
            findings.push(Finding::new("R-03", at, format!("{} has no family", profile.model)));
        }
    }
}

fn review(central: &CentralGate, findings: &mut Vec<Finding>) {
    let policy = &central.review_policy;
    let mut wrong = |key: &str, detail: String| {
        findings.push(Finding::new("R-04", pointer(["review_policy", key]), detail));
    };
    if !policy.require_cross_family {
        wrong("require_cross_family", "must be true".to_owned());
    }
    if !policy.availability_must_be_verified {
        wrong("availability_must_be_verified", "must be true".to_owned());
    }
    for (key, list) in [
        ("review_lanes", &policy.review_lanes),
        ("eligible_reviewer_profiles", &policy.eligible_reviewer_profiles),
    ] {
        if list.is_empty() {
            wrong(key, "empty".to_owned());
        }
        for twice in duplicates(list) {
            wrong(key, format!("{twice} stands twice"));
        }
    }
    for reviewer in &policy.eligible_reviewer_profiles {
        if !central.profiles.contains_key(reviewer) {
            wrong("eligible_reviewer_profiles", format!("{reviewer} is no profile"));
        }
    }
    for (name, _, lane, row) in
        central.rows().filter(|(_, _, lane, _)| policy.review_lanes.iter().any(|own| own == lane))
    {
        let at = || pointer(["profiles", name, "lanes", lane]);
        if row.status.is_operational()
            && row.selection != Selection::Blocked
            && !policy.eligible_reviewer_profiles.iter().any(|own| own == name)
        {
            findings.push(Finding::new(
                "R-04",
                at(),
                "open for review, but the profile is no eligible reviewer",
            ));
        }
        if row.fallback.is_some() {
            findings.push(Finding::new("R-04", at(), "a review lane has no fallback"));
        }
    }
}

fn compound(central: &CentralGate, name: &str, lane: &CompoundLane, findings: &mut Vec<Finding>) {
    let mut wrong = |key: &str, detail: String| {
        findings.push(Finding::new("R-10", pointer(["compound_lanes", name, key]), detail));
    };
    if lane.status != Status::ManualQualified {
        wrong("status", "must be manual-qualified".to_owned());
    }
    if lane.selection != Selection::ExplicitOnly {
        wrong("selection", "must be explicit-only".to_owned());
    }
    if lane.automatic_dispatch {
        wrong("automatic_dispatch", "must be false".to_owned());
    }
    if lane.automatic_merge {
        wrong("automatic_merge", "must be false".to_owned());
    }
    if lane.final_authority != FINAL_AUTHORITY {
        wrong("final_authority", format!("must be {FINAL_AUTHORITY}"));
    }
    if lane.members.is_empty() {
        wrong("members", "empty".to_owned());
    }
    for member in &lane.members {
        let judges = central
            .profiles
            .get(member)
            .and_then(|profile| profile.lanes.get(JUDGEMENT_LANE))
            .is_some_and(|row| row.status == Status::ManualQualified);
        if !judges {
            wrong("members", format!("{member} holds no manual-qualified judgement lane"));
        }
    }
}

fn activation(central: &CentralGate, findings: &mut Vec<Finding>) {
    let policy = &central.activation_policy;
    for (key, right) in [
        ("mode", policy.mode == "user-directed"),
        ("scope", policy.scope == "per-dispatch"),
        ("assistant_may_list_choices", policy.assistant_may_list_choices),
        (
            "assistant_may_select_profile_only_when_user_authorizes_selection",
            policy.assistant_may_select_profile_only_when_user_authorizes_selection,
        ),
        ("authorization_carries_to_retries", !policy.authorization_carries_to_retries),
        ("authorization_carries_to_review", !policy.authorization_carries_to_review),
        ("automatic_dispatch", !policy.automatic_dispatch),
    ] {
        if !right {
            let at = pointer(["activation_policy", key]);
            findings.push(Finding::new("R-12", at, "only the user directs a dispatch"));
        }
    }
}
