//! Families and lanes (executor-contract.md 3.10, 3.11).

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Deserialize;

use super::sections::{PatchPolicyReference, present};
use super::text::{FewNames, FewNumbers, GateFile, Names, RunnerName, Text};
use gates::json::Json;

/// One family of executors.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Family {
    /// Family of the model in the central gate.
    pub provider_family: Text,
    /// Exact model name.
    pub model: Text,
    /// The program that runs it.
    pub runner: RunnerName,
    /// Program or service that carries the model.
    pub harness: Text,
    /// Name of the backend in artifacts and in the executable gate.
    pub backend: Text,
    /// How it is reached.
    pub transport: Text,
    /// File name of its executable gate.
    pub executable_gate: GateFile,
    /// Efforts that a lane may be pinned to.
    pub efforts: FewNames,
    /// What it keeps apart from the caller's own configuration.
    pub runtime_isolation: RuntimeIsolation,
    /// Which identities it can report.
    pub identity: Identity,
    /// Exit codes that its runner uses.
    pub exit_codes_emitted: FewNumbers,
    /// Fields that its artifacts always have, by kind; a kind that is missing is never written.
    pub envelope_fields: EnvelopeFields,
    /// Its lanes by name.
    #[schemars(extend("minProperties" = 1))]
    #[serde(deserialize_with = "lanes")]
    pub lanes: IndexMap<String, Lane>,
}

impl Family {
    /// What stands before the effort where the runtime name of the model ends with it.
    pub fn runtime_model_prefix(&self) -> Option<&str> {
        self.identity.runtime_model.as_deref()?.strip_suffix("<effort>")
    }

    /// The names of its lanes, sorted.
    pub fn lane_names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.lanes.keys().map(String::as_str).collect();
        names.sort_unstable();
        names
    }
}

/// What a family keeps apart from the caller's own configuration.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RuntimeIsolation {
    /// Whether ordinary runs have a private HOME.
    pub isolated_home: Option<bool>,
    /// Whether the harness has a private configuration directory.
    pub isolated_config_dir: Option<bool>,
    /// Name of its sandbox.
    pub sandbox: Option<Text>,
}

impl RuntimeIsolation {
    /// What the family declares for a key of isolation; `null` where it declares nothing.
    pub fn declared(&self, key: &str) -> Json {
        match key {
            "isolated_home" => self.isolated_home.map_or(Json::Null, Json::Bool),
            "isolated_config_dir" => self.isolated_config_dir.map_or(Json::Null, Json::Bool),
            "sandbox" => self.sandbox.as_deref().map_or(Json::Null, Json::from),
            _ => Json::Null,
        }
    }
}

/// Which identities a family can report.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    /// The model that is asked for.
    pub requested_model: Text,
    /// Its name in the words of the harness; may end with `<effort>`.
    #[serde(deserialize_with = "required")]
    #[schemars(required)]
    pub runtime_model: Option<Text>,
    /// Where an observed model comes from.
    pub observed_identity_sources: FewNames,
    /// The field that says that the author was proved.
    #[serde(deserialize_with = "required")]
    #[schemars(required)]
    pub identity_attested_field: Option<Text>,
    /// What is known of usage.
    pub usage_participation: Text,
    /// What is known of the author of the content.
    pub effective_content_identity: Text,
    /// The name under which the family is billed.
    #[serde(deserialize_with = "required")]
    #[schemars(required)]
    pub usage_participant_model: Option<Text>,
    /// The mark of the vendor on it.
    #[serde(deserialize_with = "required")]
    #[schemars(required)]
    pub usage_participant_provider: Option<Text>,
    /// Whether participants have canonical names.
    pub usage_participant_canonical_model: bool,
}

/// Fields that the artifacts of a family always have, by kind.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EnvelopeFields {
    /// In a status.
    #[serde(default, deserialize_with = "present")]
    #[schemars(with = "Names")]
    pub status: Option<Names>,
    /// In a result.
    #[serde(default, deserialize_with = "present")]
    #[schemars(with = "Names")]
    pub result: Option<Names>,
    /// In a diagnostic.
    #[serde(default, deserialize_with = "present")]
    #[schemars(with = "Names")]
    pub diagnostic: Option<Names>,
}

impl EnvelopeFields {
    /// The fields of a kind; nothing where the family never writes it.
    pub fn get(&self, kind: super::EnvelopeKind) -> Option<&Names> {
        match kind {
            super::EnvelopeKind::Status => self.status.as_ref(),
            super::EnvelopeKind::Result => self.result.as_ref(),
            super::EnvelopeKind::Diagnostic => self.diagnostic.as_ref(),
        }
    }
}

/// One lane of a family.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Lane {
    /// Name of its profile in the central gate.
    pub central_profile: Text,
    /// Pinned effort.
    pub effort: Text,
    /// How far it is trusted.
    pub status: Text,
    /// Who may choose it.
    pub selection: Text,
    /// Whether it may be dispatched at all.
    pub dispatchable: bool,
    /// Whether the user must name it.
    pub requires_explicit_decision: bool,
    /// Whether the caller must accept that it is not qualified.
    pub requires_allow_provisional: bool,
    /// Whether it is there for evaluation alone.
    pub evaluation_only: bool,
    /// What it may do to the worktree, and what it returns.
    pub permission_class: Text,
    /// What it sees of the worktree.
    pub worktree_access: Text,
    /// How its patches are verified; on lanes of the class that returns patches, and on no other.
    #[serde(default, deserialize_with = "present")]
    #[schemars(with = "LanePatchPolicy", transform = without_default)]
    pub patch_policy: Option<Json>,
    /// What its tools may do.
    pub tool_policy: ToolPolicy,
}

/// How the patches of a lane are verified: five values of the contract's own reference, repeated.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LanePatchPolicy {
    /// File name of the policy.
    pub policy_file: GateFile,
    /// Its version.
    pub policy_version: super::Version,
    /// The program that enforces it.
    pub verifier: RunnerName,
    /// Always true.
    pub verification_required: super::Never<true>,
    /// Always `lead`.
    pub applied_by: super::sections::Applier,
}

impl LanePatchPolicy {
    /// What every lane must repeat.
    pub fn of(reference: &PatchPolicyReference) -> Self {
        Self {
            policy_file: reference.policy_file.clone(),
            policy_version: reference.policy_version.clone(),
            verifier: reference.verifier.clone(),
            verification_required: reference.verification_required,
            applied_by: reference.applied_by,
        }
    }

    /// Its keys.
    pub const KEYS: [&'static str; 5] =
        ["policy_file", "policy_version", "verifier", "verification_required", "applied_by"];
}

/// What the tools of a lane may do; all nine keys are always there.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ToolPolicy {
    /// How tools are limited.
    pub mode: Text,
    /// The mode that the runner pins inside the harness.
    #[serde(deserialize_with = "required")]
    #[schemars(required)]
    pub permission_mode: Option<Text>,
    /// The tools that the runner allows; `null` where the pinned mode decides.
    #[serde(deserialize_with = "required")]
    #[schemars(required)]
    pub allowed_tools: Option<Vec<String>>,
    /// Where it may write.
    pub write_scope: Text,
    /// Running commands.
    pub terminal: Text,
    /// Reaching the network.
    pub network: Text,
    /// Tool servers.
    pub mcp: Text,
    /// Plugins.
    pub plugins: Text,
    /// Agents of its own.
    pub subagents: Text,
}

impl ToolPolicy {
    /// The five capabilities with their names.
    pub fn capabilities(&self) -> [(&'static str, &str); 5] {
        [
            ("terminal", &self.terminal),
            ("network", &self.network),
            ("mcp", &self.mcp),
            ("plugins", &self.plugins),
            ("subagents", &self.subagents),
        ]
    }
}

/// A block is absent by default, and never `null`.
fn without_default(schema: &mut schemars::Schema) {
    schema.remove("default");
}

/// A member that may be `null`, but is never missing.
fn required<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: serde::Deserializer<'de>,
    T: Deserialize<'de>,
{
    Option::deserialize(deserializer)
}

fn lanes<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<IndexMap<String, Lane>, D::Error> {
    let lanes = IndexMap::deserialize(deserializer)?;
    if lanes.is_empty() { Err(serde::de::Error::custom("no lane")) } else { Ok(lanes) }
}
