//! The models that a CLI lists: advisory, never an admission list (predecessor-core 1.7, providers.md 7).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::vocabulary::vocabulary;

/// The models of one provider as its CLI lists them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ModelCatalogue {
    /// How the listing went.
    pub status: ModelListStatus,
    /// Why, in snake case.
    pub reason_code: String,
    /// Whether the list is whole.
    pub complete: bool,
    /// Where the list comes from, for example `codex app-server`.
    pub source: String,
    /// The models, in the CLI's order.
    pub models: Vec<Model>,
    /// Efforts that the CLI takes whatever the model; null = not known, empty = none.
    pub efforts: Option<Vec<String>>,
}

/// One model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Model {
    /// What `--model` takes.
    pub id: String,
    /// A name for people.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub name: Option<String>,
    /// Efforts of this model; null = not known, empty = none.
    pub efforts: Option<Vec<String>>,
    /// The effort that it uses unasked.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub default_effort: Option<String>,
}

vocabulary! {
    /// How a listing of models went.
    ModelListStatus {
        /// The whole list.
        Available = "available",
        /// A part of it.
        Partial = "partial",
        /// A login is missing.
        Blocked = "blocked",
        /// The CLI lists none, or is not there.
        Unavailable = "unavailable",
        /// The CLI was asked, and its answer can not be used.
        Failed = "failed",
    }
}
