//! The sections of the contract beside envelopes and families (executor-contract.md 3.2-3.4, 3.6-3.9, 3.12).

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Deserialize;

use super::text::{FewNames, GateFile, Names, Never, Pattern, RunnerName, Slug, Text, Texts, Version};

/// Word with one value.
macro_rules! word {
    ($(#[$doc:meta])* $name:ident, $word:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
        pub enum $name {
            #[doc = concat!("`", $word, "`")]
            #[serde(rename = $word)]
            Only,
        }

        impl $name {
            /// The word.
            pub const fn word(self) -> &'static str {
                $word
            }
        }
    };
}

word!(
    /// What the contract does.
    Role, "describe-and-validate"
);
word!(
    /// Who enforces what the contract describes.
    Enforcer, "provider-runner"
);
word!(
    /// Who applies a patch.
    Applier, "lead"
);
word!(
    /// Who judges a patch.
    PatchEnforcer, "patch-verifier"
);

/// What the contract is, and is not (3.2).
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Authority {
    /// It describes and validates.
    pub role: Role,
    /// The runner of a provider enforces.
    pub enforcement_authority: Enforcer,
    /// It permits nothing.
    pub grants_permissions: Never<false>,
    /// Nothing is dispatched through it.
    pub creates_dispatch_layer: Never<false>,
    /// No route depends on it.
    pub changes_routing_decisions: Never<false>,
    /// For readers.
    pub notes: Texts,
}

/// The words of the contract (3.3).
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Vocabularies {
    /// What a lane may do to the worktree, and what it returns.
    pub permission_classes: IndexMap<String, PermissionClass>,
    /// What a lane sees of the worktree.
    pub worktree_access_values: Names,
    /// Where a lane may write.
    pub write_scope_values: Names,
    /// How tools are limited.
    pub tool_policy_modes: Names,
    /// How a family is reached.
    pub transport_kinds: Names,
    /// What may be said of a capability.
    pub capability_values: IndexMap<String, Text>,
    /// The phases of a run that a diagnostic may name.
    pub phase_values: Names,
    /// Where counters come from.
    pub usage_source_values: Names,
    /// What a family knows of the author of its content.
    pub effective_content_identity_values: IndexMap<String, Text>,
    /// The identities that are kept apart.
    pub identity_kinds: IdentityKinds,
    /// What a family knows of usage.
    pub usage_participation_values: UsageParticipations,
    /// How far a lane has been trusted.
    pub qualification_status_values: Names,
    /// Who may choose a lane.
    pub selection_values: Names,
    /// The lanes.
    pub lane_values: Names,
}

impl Vocabularies {
    /// A vocabulary that is a list, by its key.
    pub fn list(&self, key: &str) -> Option<&Names> {
        Some(match key {
            "worktree_access_values" => &self.worktree_access_values,
            "write_scope_values" => &self.write_scope_values,
            "tool_policy_modes" => &self.tool_policy_modes,
            "transport_kinds" => &self.transport_kinds,
            "phase_values" => &self.phase_values,
            "usage_source_values" => &self.usage_source_values,
            "qualification_status_values" => &self.qualification_status_values,
            "selection_values" => &self.selection_values,
            "lane_values" => &self.lane_values,
            _ => return None,
        })
    }
}

/// What a lane may do to the worktree, and what it returns.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PermissionClass {
    /// Whether files of the worktree may be written.
    pub worktree_writes: bool,
    /// Whether a patch comes back.
    pub returns_patch: bool,
    /// In words.
    pub summary: Text,
}

/// The identities that are kept apart; the key set is closed, and each may be missing.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IdentityKinds {
    /// The model that was asked for.
    #[serde(default, deserialize_with = "present")]
    #[schemars(with = "Text")]
    pub requested: Option<Text>,
    /// The model that events or bodies name.
    #[serde(default, deserialize_with = "present")]
    #[schemars(with = "Text")]
    pub observed: Option<Text>,
    /// The model that wrote the content.
    #[serde(default, deserialize_with = "present")]
    #[schemars(with = "Text")]
    pub effective_content: Option<Text>,
    /// A model that was counted.
    #[serde(default, deserialize_with = "present")]
    #[schemars(with = "Text")]
    pub usage_participant: Option<Text>,
}

/// What a family knows of usage; the key set is closed, and each may be missing.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct UsageParticipations {
    /// By model, canonical, marked by the vendor.
    #[serde(default, deserialize_with = "present")]
    #[schemars(with = "Text")]
    pub first_party_model_usage: Option<Text>,
    /// By model.
    #[serde(default, deserialize_with = "present")]
    #[schemars(with = "Text")]
    pub model_usage_participants: Option<Text>,
    /// Sums.
    #[serde(default, deserialize_with = "present")]
    #[schemars(with = "Text")]
    pub provider_usage_totals: Option<Text>,
    /// Nothing.
    #[serde(default, deserialize_with = "present")]
    #[schemars(with = "Text")]
    pub none: Option<Text>,
}

impl UsageParticipations {
    /// Whether a word is declared.
    pub fn has(&self, word: &str) -> bool {
        match word {
            "first-party-model-usage" => self.first_party_model_usage.is_some(),
            "model-usage-participants" => self.model_usage_participants.is_some(),
            "provider-usage-totals" => self.provider_usage_totals.is_some(),
            "none" => self.none.is_some(),
            _ => false,
        }
    }
}

/// What an exit code of a runner means (3.4).
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExitCode {
    /// A short name.
    pub name: Slug,
    /// Whether every family uses it.
    pub universal: bool,
    /// Whether the same call may succeed later.
    pub retryable: bool,
    /// In words.
    pub meaning: Text,
}

/// How usage is reported (3.6).
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UsageAccounting {
    /// The fields of a participant and their types.
    pub participant_fields: IndexMap<String, Text>,
    /// Those that are always there.
    pub required_participant_fields: FewNames,
    /// The counters.
    pub nonnegative_participant_fields: Names,
    /// In words.
    pub rules: Texts,
}

/// What artifacts may carry beyond the declared fields (3.7).
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExtensionPolicy {
    /// Further fields are welcome.
    pub provider_extensions_permitted: Never<true>,
    /// The policy holds at any depth.
    pub recursive: Never<true>,
    /// In words.
    pub applies_to: Text,
    /// Keys that are refused, in lower case.
    pub rejected_key_names: FewNames,
    /// Parts of keys that are refused, in lower case.
    pub rejected_key_substrings: Names,
    /// Strings that are refused.
    #[schemars(extend("uniqueItems" = true))]
    #[serde(deserialize_with = "patterns")]
    pub rejected_value_patterns: Vec<Pattern>,
    /// For readers.
    pub notes: Texts,
}

/// The policy that patches of one class are read under (3.8).
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PatchPolicyReference {
    /// File name of the policy.
    pub policy_file: GateFile,
    /// Its version.
    pub policy_version: Version,
    /// The program that enforces it.
    pub verifier: RunnerName,
    /// The class whose lanes return patches.
    pub required_for_permission_class: Text,
    /// No patch goes unverified.
    pub verification_required: Never<true>,
    /// Only the lead applies.
    pub applied_by: Applier,
    /// Only the verifier judges.
    pub enforcement_authority: PatchEnforcer,
    /// It permits nothing.
    pub grants_permissions: Never<false>,
    /// For readers.
    pub notes: Texts,
}

/// How lanes are compared with executable gates (3.9).
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GateControls {
    /// Where the controls of a lane stand in an executable gate.
    pub location: Text,
    /// Controls that every row has, and that are compared.
    pub required_fields: FewNames,
    /// What each is compared with.
    pub cross_checked_against: CrossChecks,
    /// Controls that a row may have.
    pub descriptive_fields: Names,
    /// Those of them that are compared where they stand.
    pub isolation_cross_checked_against: IsolationChecks,
    /// For readers.
    pub notes: Texts,
}

/// What each required control is compared with, in words.
pub type CrossChecks = IndexMap<String, Text>;
/// What each isolation control is compared with, in words.
pub type IsolationChecks = IndexMap<String, Text>;

/// Where a family's artifacts differ from the common form (3.12).
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Divergence {
    /// Name of the family.
    pub family: Text,
    /// Kind of the artifact.
    pub envelope: Text,
    /// What is different.
    pub detail: Text,
}

/// A member that may be missing, but is never `null`.
pub(super) fn present<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: serde::Deserializer<'de>,
    T: Deserialize<'de>,
{
    T::deserialize(deserializer).map(Some)
}

fn patterns<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<Pattern>, D::Error> {
    let texts = Names::deserialize(deserializer)?;
    texts.iter().map(|text| Pattern::try_from(text.clone()).map_err(serde::de::Error::custom)).collect()
}
