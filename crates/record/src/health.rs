//! What `doctor` finds (CLI.md "Other answers").

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::vocabulary::vocabulary;

vocabulary! {
    /// How one thing that was looked at stands.
    CheckStatus {
        /// As it should be.
        Ok = "ok",
        /// It works, and somebody should know something about it.
        Warning = "warning",
        /// It is broken, or something will not work because of it.
        Failed = "failed",
        /// It could not be determined.
        Unknown = "unknown",
    }
}

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Check {
    /// What was looked at: a stable word, with the profile behind a colon where there is one for each profile. Several damaged
    /// records have the same.
    pub id: String,
    /// How it stands.
    pub status: CheckStatus,
    /// What was found, in one sentence.
    pub detail: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub fix: Option<String>,
}

impl Check {
    /// A finding with nothing to do about it.
    pub fn new(id: impl Into<String>, status: CheckStatus, detail: impl Into<String>) -> Self {
        Self { id: id.into(), status, detail: detail.into(), fix: None }
    }

    /// The same with what to do about it.
    #[must_use]
    pub fn with_fix(self, fix: impl Into<String>) -> Self {
        Self { fix: Some(fix.into()), ..self }
    }
}
