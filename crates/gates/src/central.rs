//! The central gate, `routing-gates.json` (router.md 1.5).
//!
//! Open to further keys at every level: texts for people are none of the router's business.

use indexmap::IndexMap;
use record::Sha256Digest;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::finding::Finding;
use crate::json::{Json, decode};
use crate::words::{Selection, Status};

/// The central gate.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
pub struct CentralGate {
    /// Always 1.
    #[schemars(extend("const" = 1))]
    pub schema_version: u64,
    /// The words that lanes of this file may use for `status`.
    pub status_values: Vec<Status>,
    /// The words that lanes of this file may use for `selection`.
    pub selection_values: Vec<Selection>,
    /// Who directs a dispatch.
    pub activation_policy: ActivationPolicy,
    /// The family of every model, from the exact model name.
    pub model_families: IndexMap<String, String>,
    /// Which lanes review, and who may.
    pub review_policy: ReviewPolicy,
    /// The profiles by name, in the order in which answers list them.
    pub profiles: IndexMap<String, Profile>,
    /// Lanes that several profiles serve together.
    pub compound_lanes: IndexMap<String, CompoundLane>,
}

/// The promise that nothing is dispatched without the user (router.md 1.2). Every value but the text is fixed.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct ActivationPolicy {
    /// Always `user-directed`.
    #[schemars(extend("const" = "user-directed"))]
    pub mode: String,
    /// Always `per-dispatch`.
    #[schemars(extend("const" = "per-dispatch"))]
    pub scope: String,
    /// Always true.
    #[schemars(extend("const" = true))]
    pub assistant_may_list_choices: bool,
    /// Always true.
    #[schemars(extend("const" = true))]
    pub assistant_may_select_profile_only_when_user_authorizes_selection: bool,
    /// Always false.
    #[schemars(extend("const" = false))]
    pub authorization_carries_to_retries: bool,
    /// Always false.
    #[schemars(extend("const" = false))]
    pub authorization_carries_to_review: bool,
    /// Always false.
    #[schemars(extend("const" = false))]
    pub automatic_dispatch: bool,
    /// Why.
    pub basis: String,
}

/// Which lanes review the work of another model family, and who may (router.md 1.4, rule 4).
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct ReviewPolicy {
    /// Always true.
    #[schemars(extend("const" = true))]
    pub require_cross_family: bool,
    /// Always true.
    #[schemars(extend("const" = true))]
    pub availability_must_be_verified: bool,
    /// The lanes that need to know who produced the work.
    #[schemars(length(min = 1))]
    pub review_lanes: Vec<String>,
    /// The profiles that may serve them.
    #[schemars(length(min = 1))]
    pub eligible_reviewer_profiles: Vec<String>,
}

/// One exact variant (model, harness, effort) and the lanes that it serves.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
pub struct Profile {
    /// Exact model name.
    pub model: String,
    /// Program or service that carries it.
    pub harness: String,
    /// Pinned effort.
    pub effort: String,
    /// What is known of the version of its program (Grok only).
    pub runtime_cli_compatibility: Option<String>,
    /// The lanes by name.
    pub lanes: IndexMap<String, Lane>,
}

/// What one profile may do in one lane.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
pub struct Lane {
    /// How far it is trusted.
    pub status: Status,
    /// Who may choose it.
    pub selection: Selection,
    /// Evidence on exactly this variant.
    pub exact_evidence_ids: Vec<String>,
    /// Evidence on something near it.
    pub context_evidence_ids: Vec<String>,
    /// A substitution that the vendor may make.
    pub provider_fallback: Option<ProviderFallback>,
    /// Retired: never shown. Where it stands it names a profile (router.md 1.4, rule 5).
    pub fallback: Option<String>,
    /// Evaluation manifests that may be run in this lane.
    #[serde(default)]
    #[schemars(with = "Vec<Digest>")]
    pub evaluation_manifest_sha256: Vec<Sha256Digest>,
}

/// A SHA-256 digest in lowercase hexadecimal characters.
#[derive(JsonSchema)]
pub(crate) struct Digest(
    #[expect(dead_code, reason = "only its schema is used")]
    #[schemars(regex(pattern = "^[0-9a-f]{64}$"))]
    String,
);

/// A substitution that the vendor may make (router.md 1.4, rule 7).
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct ProviderFallback {
    /// Always true.
    #[schemars(extend("const" = true))]
    pub possible: bool,
    /// The model that may answer instead.
    pub target_model: String,
    /// When.
    pub trigger: String,
    /// Always false: then the exact variant is not guaranteed.
    #[schemars(extend("const" = false))]
    pub exact_variant_guaranteed: bool,
    /// Where it is documented.
    pub source_evidence_id: String,
}

/// A lane that several profiles serve together (router.md 1.4, rule 10).
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct CompoundLane {
    /// Always `manual-qualified`.
    pub status: Status,
    /// Always `explicit-only`.
    pub selection: Selection,
    /// The profiles.
    #[schemars(length(min = 1))]
    pub members: Vec<String>,
    /// How they work together.
    pub protocol: String,
    /// Always `lead`.
    #[schemars(extend("const" = "lead"))]
    pub final_authority: String,
    /// Always false.
    #[schemars(extend("const" = false))]
    pub automatic_dispatch: bool,
    /// Always false.
    #[schemars(extend("const" = false))]
    pub automatic_merge: bool,
    /// When to use it.
    pub activation: String,
}

impl CentralGate {
    /// Reads the shape; the rules are in [`rules`](crate::rules).
    ///
    /// # Errors
    /// The first place that has another shape, under the rule that speaks of it.
    pub fn read(document: &Json) -> Result<Self, Finding> {
        decode(document, &[]).map_err(|fault| {
            let rule = rule_of(&fault.path);
            Finding::shape(rule, fault)
        })
    }

    /// Every (profile name, profile, lane name, lane), in file order.
    pub fn rows(&self) -> impl Iterator<Item = (&str, &Profile, &str, &Lane)> {
        self.profiles.iter().flat_map(|(name, profile)| {
            profile.lanes.iter().map(move |(lane, row)| (name.as_str(), profile, lane.as_str(), row))
        })
    }
}

/// The rule (router.md 1.4) that speaks of a place.
fn rule_of(path: &[String]) -> &'static str {
    if let Some(key) = path.get(4) {
        return match key.as_str() {
            "fallback" => "R-05",
            "exact_evidence_ids" | "context_evidence_ids" => "R-06",
            "provider_fallback" => "R-07",
            "evaluation_manifest_sha256" => "R-08",
            _ => "R-02",
        };
    }
    match path.first().map(String::as_str) {
        Some("profiles" | "status_values" | "selection_values") => "R-02",
        Some("model_families") => "R-03",
        Some("review_policy") => "R-04",
        Some("compound_lanes") => "R-10",
        Some("activation_policy") => "R-12",
        _ => "R-01",
    }
}
