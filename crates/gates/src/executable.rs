//! The executable gate of one family (router.md 1.6).
//!
//! Its `runtime_controls` are not part of this type: they describe, and decide no route.

use indexmap::IndexMap;
use record::Sha256Digest;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::finding::Finding;
use crate::json::{Json, decode};
use crate::words::{Selection, Status};

/// The executable gate of one family. Open to further keys.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct ExecutableGate {
    /// Exact model name.
    pub model: String,
    /// What the names of its profiles in the central gate begin with; a hyphen and the lane follow (GLM only).
    pub profile_prefix: Option<String>,
    /// What is known of the version of its program (Grok only).
    pub runtime_cli_compatibility: Option<String>,
    /// The lanes that are qualified.
    pub qualified_lanes: Vec<String>,
    /// The lanes that are provisional.
    pub provisional_lanes: Vec<String>,
    /// The lanes by name.
    pub lanes: IndexMap<String, ExecutableLane>,
}

/// One lane of an executable gate.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct ExecutableLane {
    /// Effort of rows that state none.
    pub default_effort: Option<String>,
    /// The rows by backend.
    pub backends: IndexMap<String, ExecutableRow>,
}

/// What one backend may do in one lane.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct ExecutableRow {
    /// Whether the status is `qualified`, said once more.
    pub qualified: bool,
    /// How far it is trusted.
    pub status: Status,
    /// Who may choose it.
    pub selection: Selection,
    /// Pinned effort.
    pub effort: Option<String>,
    /// Name of the model in the program's own words.
    pub runtime_model: Option<String>,
    /// Evaluation manifests that may be run in this lane.
    #[serde(default)]
    #[schemars(with = "Vec<crate::central::Digest>")]
    pub evaluation_manifest_sha256: Vec<Sha256Digest>,
}

impl ExecutableGate {
    /// Reads the shape; the rules are in [`rules`](crate::rules).
    ///
    /// # Errors
    /// The first place that has another shape.
    pub fn read(document: &Json) -> Result<Self, Finding> {
        decode(document, &[]).map_err(|fault| Finding::shape("R-11", fault))
    }

    /// The row of a backend in a lane, and its effort.
    pub fn row(&self, lane: &str, backend: &str) -> Option<(&ExecutableRow, Option<&str>)> {
        let lane = self.lanes.get(lane)?;
        let row = lane.backends.get(backend)?;
        Some((row, row.effort.as_deref().or(lane.default_effort.as_deref())))
    }
}
