//! Rule 11: each executable gate says the same as the central gate, in both directions.

use std::collections::BTreeSet;

use crate::central::{CentralGate, Lane, Profile};
use crate::executable::ExecutableGate;
use crate::family::Family;
use crate::finding::Finding;
use crate::json::pointer;
use crate::words::Status;

pub(super) fn check(
    central: &CentralGate,
    family: Family,
    gate: &ExecutableGate,
    findings: &mut Vec<Finding>,
) {
    let mut wrong = |at: String, detail: String| {
        findings.push(Finding::new("R-11", at, format!("{}: {detail}", family.gate_file)));
    };
    let rows: Vec<(&str, &Profile, &str, &Lane)> =
        central.rows().filter(|(_, profile, _, _)| profile.harness == family.harness).collect();

    for (name, profile) in central.profiles.iter().filter(|(_, profile)| profile.harness == family.harness) {
        if profile.model != gate.model {
            wrong(pointer(["profiles", name, "model"]), format!("the gate runs {}", gate.model));
        }
        if profile.runtime_cli_compatibility != gate.runtime_cli_compatibility {
            let at = pointer(["profiles", name, "runtime_cli_compatibility"]);
            wrong(at, "the gate says another word".to_owned());
        }
    }
    let mut served = BTreeSet::new();
    for (name, profile, lane, row) in rows.iter().copied() {
        let at = || pointer(["profiles", name, "lanes", lane]);
        if !served.insert(lane) {
            wrong(at(), "two profiles serve this lane".to_owned());
        }
        if let Some(prefix) = &gate.profile_prefix
            && *name != *format!("{prefix}-{lane}")
        {
            wrong(at(), format!("the profile must be called {prefix}-{lane}"));
        }
        compare(family, gate, profile, lane, row, &mut |detail| wrong(at(), detail));
    }
    for lane in gate.lanes.keys().filter(|lane| !served.contains(lane.as_str())) {
        wrong("/profiles".to_owned(), format!("no profile serves its lane {lane}"));
    }
    for (key, listed, status) in [
        ("qualified_lanes", &gate.qualified_lanes, Status::Qualified),
        ("provisional_lanes", &gate.provisional_lanes, Status::Provisional),
    ] {
        let central: BTreeSet<&str> =
            rows.iter().filter(|(_, _, _, row)| row.status == status).map(|(_, _, lane, _)| *lane).collect();
        let own: BTreeSet<&str> = listed.iter().map(String::as_str).collect();
        if own != central || own.len() != listed.len() {
            wrong(
                "/profiles".to_owned(),
                format!("its {key} are not the {status} lanes of the central gate"),
            );
        }
    }
}

/// One lane of both gates.
fn compare(
    family: Family,
    gate: &ExecutableGate,
    profile: &Profile,
    lane: &str,
    row: &Lane,
    wrong: &mut dyn FnMut(String),
) {
    let Some((own, effort)) = gate.row(lane, family.backend) else {
        return wrong(format!("no row for backend {}", family.backend));
    };
    if own.status != row.status {
        wrong(format!("status is {} there", own.status));
    }
    if own.selection != row.selection {
        wrong(format!("selection is {} there", own.selection));
    }
    if effort != Some(profile.effort.as_str()) {
        wrong(format!("effort is {} there", effort.unwrap_or("missing")));
    }
    if family.compares_manifests && own.evaluation_manifest_sha256 != row.evaluation_manifest_sha256 {
        wrong("other evaluation manifests are allowed there".to_owned());
    }
    if own.qualified != (own.status == Status::Qualified) {
        wrong("`qualified` contradicts the status there".to_owned());
    }
}
