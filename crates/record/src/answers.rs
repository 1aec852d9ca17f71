//! The answers of commands that are not about one task (CLI.md "Other answers"): a version, the command, what it found, and
//! after a failure `failure` and `error`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer::Answer;
use crate::capability::{Capability, Description};
use crate::failure::Failure;
use crate::health::Check;
use crate::models::ModelCatalogue;
use crate::retention::Retention;
use crate::{ProfileId, RootId, Timestamp};

/// The answer of `wait`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WaitAnswer {
    /// Always 1.
    pub schema_version: u32,
    /// Always `wait`.
    pub command: String,
    /// One answer for each task, in the order in which they were named.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tasks: Option<Vec<Answer>>,
    /// Of each task only what [`Answer::abridged`] keeps; `collect` tells the rest.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub abridged: bool,
    /// The structured failure.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub failure: Option<Failure>,
    /// The failure in words.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub error: Option<String>,
}

/// The answer of `providers`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProvidersAnswer {
    /// Always 1.
    pub schema_version: u32,
    /// Always `providers`.
    pub command: String,
    /// Every profile, in the order of the catalogue.
    pub providers: Vec<Description>,
}

/// The answer of `capabilities`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CapabilitiesAnswer {
    /// Always 1.
    pub schema_version: u32,
    /// Always `capabilities`.
    pub command: String,
    /// What the profile can do; a profile that does not exist can do nothing.
    pub capability: Capability,
    /// The structured failure.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub failure: Option<Failure>,
    /// The failure in words.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub error: Option<String>,
}

/// The answer of `models`. After a failure before the program could be asked it is a task answer with that failure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModelsAnswer {
    /// Always 1.
    pub schema_version: u32,
    /// Always `models`.
    pub command: String,
    /// The profile.
    pub provider: ProfileId,
    /// When the program was asked.
    pub observed_at: Timestamp,
    /// What it listed.
    #[serde(flatten)]
    pub catalogue: ModelCatalogue,
}

/// The answer of `doctor`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DoctorAnswer {
    /// Always 1.
    pub schema_version: u32,
    /// Always `doctor`.
    pub command: String,
    /// The root, when it could be opened.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub root_id: Option<RootId>,
    /// Everything that was looked at; absent after a failure.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub checks: Option<Vec<Check>>,
    /// The structured failure.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub failure: Option<Failure>,
    /// The failure in words.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub error: Option<String>,
}

/// The answer of `prune`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PruneAnswer {
    /// Always 1.
    pub schema_version: u32,
    /// Always `prune`.
    pub command: String,
    /// The root, when it could be opened.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub root_id: Option<RootId>,
    /// What was removed and what was kept; absent after a failure.
    #[serde(flatten)]
    pub retention: Option<Retention>,
    /// The structured failure.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub failure: Option<Failure>,
    /// The failure in words.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub error: Option<String>,
}

/// The answer of `version`: what this program is, and what it was built from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct VersionAnswer {
    /// Always 1.
    pub schema_version: u32,
    /// Always `version`.
    pub command: String,
    /// The version of the program.
    pub version: String,
    /// The git commit that it was built from; absent when that was not known, and in a debug build.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub commit: Option<String>,
    /// The target triple.
    pub target: String,
    /// The compiler, in its own words.
    pub rustc: String,
    /// `release` or `debug`.
    pub profile: String,
    /// The features that are on, sorted.
    pub features: Vec<String>,
}

/// The answer of `help`, `completions`, `man` and of `schema` without a name: a text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TextAnswer {
    /// Always 1.
    pub schema_version: u32,
    /// The command that answers.
    pub command: String,
    /// What it prints without `--json`.
    pub text: String,
}

/// The answer to a command line that could not be read, and the last line of `events` after a failure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FailedAnswer {
    /// Always 1.
    pub schema_version: u32,
    /// The command, where it could be recognised.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub command: Option<String>,
    /// The failure in words.
    pub error: String,
    /// The structured failure.
    pub failure: Failure,
}
