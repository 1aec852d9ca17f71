//! Rules 2 and 5 to 9: the rows of the central gate, one by one.

use super::{Gates, duplicates};
use crate::central::{Lane, Profile};
use crate::family::GLM;
use crate::finding::Finding;
use crate::json::pointer;
use crate::words::{Selection, Status};

/// The effort that every GLM profile is pinned to (rule 9).
const GLM_EFFORT: &str = "max";
/// The lane whose candidates may be evaluated under a manifest (rule 8).
const ANNOTATION_LANE: &str = "policy-annotation";
/// The GLM lanes that may be evaluated under a manifest (rule 8).
const GLM_EVALUATED_LANES: [&str; 3] = ["clerk", "scout", "builder"];
/// The lane whose evidence also counts for the review lanes (rule 6).
const REVIEWER_LANE: &str = "reviewer";
const REVIEW_LANES: [&str; 3] = ["routine-review", "material-review", "security"];

/// One row, and where it stands.
#[derive(Clone, Copy)]
struct Row<'a> {
    gates: Gates<'a>,
    profile_name: &'a str,
    profile: &'a Profile,
    lane_name: &'a str,
    lane: &'a Lane,
}

pub(super) fn check(gates: Gates<'_>, findings: &mut Vec<Finding>) {
    for (name, profile) in &gates.central.profiles {
        for (key, value) in
            [("model", &profile.model), ("harness", &profile.harness), ("effort", &profile.effort)]
        {
            if value.is_empty() {
                findings.push(Finding::new("R-02", pointer(["profiles", name, key]), "empty"));
            }
        }
        if profile.harness == GLM.harness && !is_pinned_glm(gates, profile) {
            let detail = "a GLM profile must be exactly the pinned model at effort max";
            findings.push(Finding::new("R-09", pointer(["profiles", name]), detail));
        }
    }
    for (profile_name, profile, lane_name, lane) in gates.central.rows() {
        let row = Row { gates, profile_name, profile, lane_name, lane };
        row.words(findings);
        row.fallbacks(findings);
        row.evidence(findings);
        row.manifests(findings);
    }
}

/// The pinned model is the one that the executable gate runs.
fn is_pinned_glm(gates: Gates<'_>, profile: &Profile) -> bool {
    let pinned = gates.executable.iter().find(|(family, _)| *family == GLM).map(|(_, gate)| &gate.model);
    pinned.is_none_or(|model| *model == profile.model) && profile.effort == GLM_EFFORT
}

impl Row<'_> {
    fn wrong(self, rule: &'static str, key: &str, detail: impl Into<String>) -> Finding {
        Finding::new(rule, pointer(["profiles", self.profile_name, "lanes", self.lane_name, key]), detail)
    }

    fn words(self, findings: &mut Vec<Finding>) {
        let Lane { status, selection, .. } = *self.lane;
        if !self.gates.central.status_values.contains(&status) {
            findings.push(self.wrong("R-02", "status", format!("{status} is not in status_values")));
        }
        if !self.gates.central.selection_values.contains(&selection) {
            findings.push(self.wrong("R-02", "selection", format!("{selection} is not in selection_values")));
        }
        if !status.goes_with(selection) {
            findings.push(self.wrong("R-02", "selection", format!("{status} does not go with {selection}")));
        }
    }

    fn fallbacks(self, findings: &mut Vec<Finding>) {
        if let Some(target) = &self.lane.fallback
            && !self.gates.central.profiles.contains_key(target)
        {
            findings.push(self.wrong("R-05", "fallback", format!("{target} is no profile")));
        }
        let Some(fallback) = &self.lane.provider_fallback else { return };
        for (right, detail) in [
            (fallback.possible, "possible must be true"),
            (!fallback.target_model.is_empty(), "target_model is empty"),
            (!fallback.trigger.is_empty(), "trigger is empty"),
            (!fallback.exact_variant_guaranteed, "exact_variant_guaranteed must be false"),
            (
                self.gates.evidence.get(&fallback.source_evidence_id).is_some(),
                "source_evidence_id is not known to the evidence store",
            ),
        ] {
            if !right {
                findings.push(self.wrong("R-07", "provider_fallback", detail));
            }
        }
    }

    fn evidence(self, findings: &mut Vec<Finding>) {
        let (exact, context) = (&self.lane.exact_evidence_ids, &self.lane.context_evidence_ids);
        for (key, ids) in [("exact_evidence_ids", exact), ("context_evidence_ids", context)] {
            for twice in duplicates(ids) {
                findings.push(self.wrong("R-06", key, format!("{twice} stands twice")));
            }
            for id in ids.iter().filter(|id| self.gates.evidence.get(id).is_none()) {
                findings.push(self.wrong("R-06", key, format!("{id} is not known to the evidence store")));
            }
        }
        for id in exact.iter().filter(|id| context.contains(id)) {
            findings.push(self.wrong("R-06", "context_evidence_ids", format!("{id} is also exact evidence")));
        }
        let demanding = if REVIEW_LANES.contains(&self.lane_name) { REVIEWER_LANE } else { self.lane_name };
        let Profile { model, harness, effort, .. } = self.profile;
        for id in exact {
            let Some(row) = self.gates.evidence.get(id) else { continue };
            if !row.is_of(model, harness, effort) {
                let detail = format!("{id} is evidence on another variant");
                findings.push(self.wrong("R-06", "exact_evidence_ids", detail));
            }
            for metric in self.gates.evidence.required_metrics(demanding) {
                if !row.has(metric) {
                    let detail = format!("{id} does not measure {metric}, which the lane needs");
                    findings.push(self.wrong("R-06", "exact_evidence_ids", detail));
                }
            }
        }
    }

    fn manifests(self, findings: &mut Vec<Finding>) {
        let manifests = &self.lane.evaluation_manifest_sha256;
        const KEY: &str = "evaluation_manifest_sha256";
        for twice in duplicates(manifests) {
            findings.push(self.wrong("R-08", KEY, format!("{twice} stands twice")));
        }
        if !manifests.is_empty() && !self.may_have_manifests() {
            findings.push(self.wrong("R-08", KEY, "no manifest may be allowed in this lane"));
        }
    }

    fn may_have_manifests(self) -> bool {
        let pair = (self.lane.status, self.lane.selection);
        if self.lane_name == ANNOTATION_LANE {
            return self.lane.status == Status::Candidate;
        }
        self.profile.harness == GLM.harness
            && is_pinned_glm(self.gates, self.profile)
            && GLM_EVALUATED_LANES.contains(&self.lane_name)
            && matches!(
                pair,
                (Status::Provisional, Selection::ExplicitOnly) | (Status::Candidate, Selection::Blocked)
            )
    }
}
