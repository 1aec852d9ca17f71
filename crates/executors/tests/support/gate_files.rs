//! Copies of the shipped gates with one thing changed.

use serde_json::Value;

use super::Stage;

/// The shipped central gate and the executable gate of a family, changed and put in the place of the shipped ones.
pub(crate) fn change(
    stage: &mut Stage,
    family: gates::family::Family,
    change: impl FnOnce(&mut Value, &mut Value),
) {
    let mut central = shipped("routing-gates.json");
    let mut executable = shipped(family.gate_file);
    change(&mut central, &mut executable);
    let file = stage.write("gates/central.json", central.to_string());
    stage.set("DELEGATION_ROUTING_GATES_FILE", file);
    let file = stage.write("gates/executable.json", executable.to_string());
    stage.set(family.variable, file);
}

/// Gives a lane another status in both gates.
pub(crate) fn set_status(
    stage: &mut Stage,
    family: gates::family::Family,
    profile: &str,
    lane: &str,
    status: &str,
    selection: &str,
) {
    change(stage, family, |central, executable| {
        give_status((central, executable), family, (profile, lane), (status, selection));
    });
}

fn give_status(
    (central, executable): (&mut Value, &mut Value),
    family: gates::family::Family,
    (profile, lane): (&str, &str),
    (status, selection): (&str, &str),
) {
    let row = &mut central["profiles"][profile]["lanes"][lane];
    row["status"] = status.into();
    row["selection"] = selection.into();
    let row = &mut executable["lanes"][lane]["backends"][family.backend];
    row["status"] = status.into();
    row["selection"] = selection.into();
    row["qualified"] = (status == "qualified").into();
    for (list, word) in [("qualified_lanes", "qualified"), ("provisional_lanes", "provisional")] {
        let lanes = executable[list].as_array_mut().expect("a list");
        lanes.retain(|own| own != lane);
        if word == status {
            lanes.push(lane.into());
        }
    }
}

/// Names an evaluation manifest in both gates.
pub(crate) fn allow_manifest(
    stage: &mut Stage,
    family: gates::family::Family,
    profile: &str,
    lane: &str,
    sha256: &str,
) {
    change(stage, family, |central, executable| {
        name_manifest((central, executable), family, (profile, lane), sha256);
    });
}

/// Names an evaluation manifest of a lane that is a candidate in both gates.
pub(crate) fn allow_candidate(
    stage: &mut Stage,
    family: gates::family::Family,
    profile: &str,
    lane: &str,
    sha256: &str,
) {
    change(stage, family, |central, executable| {
        give_status((central, executable), family, (profile, lane), ("candidate", "blocked"));
        name_manifest((central, executable), family, (profile, lane), sha256);
    });
}

fn name_manifest(
    (central, executable): (&mut Value, &mut Value),
    family: gates::family::Family,
    (profile, lane): (&str, &str),
    sha256: &str,
) {
    central["profiles"][profile]["lanes"][lane]["evaluation_manifest_sha256"] = vec![sha256].into();
    executable["lanes"][lane]["backends"][family.backend]["evaluation_manifest_sha256"] = vec![sha256].into();
}

fn shipped(name: &str) -> Value {
    serde_json::from_str(gates::embedded::file(name).expect("a shipped gate")).expect("JSON")
}
