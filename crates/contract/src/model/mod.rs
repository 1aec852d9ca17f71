//! The contract, key by key (executor-contract.md 3).
//!
//! Every object is closed. Words that the contract itself declares in its vocabularies are texts here; the relations
//! between its parts are rules of [`check`](crate::check).

mod envelope;
mod family;
mod sections;
mod text;

use gates::finding::Finding;
use gates::json::{Json, decode};
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Deserialize;

pub use envelope::{Envelope, EnvelopeKind, Envelopes, FieldType};
pub use family::{EnvelopeFields, Family, Identity, Lane, LanePatchPolicy, RuntimeIsolation, ToolPolicy};
pub use sections::{
    Applier, Authority, CrossChecks, Divergence, Enforcer, ExitCode, ExtensionPolicy, GateControls,
    IdentityKinds, IsolationChecks, PatchEnforcer, PatchPolicyReference, PermissionClass, Role,
    UsageAccounting, UsageParticipations, Vocabularies,
};
pub use text::{
    FewNames, FewNumbers, GateFile, Names, Never, Pattern, PatternError, RunnerName, Slug, Text, Texts, Time,
    Version, Versioned,
};

/// The executor contract.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Contract {
    /// Version of the form.
    pub schema_version: Versioned,
    /// Version of the content.
    pub contract_version: Version,
    /// When the content was last changed.
    pub updated_at: Time,
    /// File name of the central gate; said, not used to find it.
    pub central_routing_gate: Text,
    /// What the contract is, and is not.
    pub authority: Authority,
    /// The words of everything below.
    pub vocabularies: Vocabularies,
    /// What the exit codes of runners mean, by decimal number.
    pub exit_codes: IndexMap<String, ExitCode>,
    /// The three kinds of artifacts.
    pub envelopes: Envelopes,
    /// How usage is reported.
    pub usage_accounting: UsageAccounting,
    /// What artifacts may carry beyond the declared fields.
    pub extension_policy: ExtensionPolicy,
    /// The policy that patches of the text-patch class are read under.
    pub patch_policy: PatchPolicyReference,
    /// How lanes are compared with executable gates.
    pub executable_gate_controls: GateControls,
    /// The families by name, in the order of every listing.
    pub families: IndexMap<String, Family>,
    /// Where a family's artifacts differ from the common form, and why that is known.
    pub known_divergences: Vec<Divergence>,
}

impl Contract {
    /// Reads the shape.
    ///
    /// # Errors
    /// The first place that has another shape, under the rule of structure (`S-01` … `S-12`) that speaks of it.
    pub fn read(document: &Json) -> Result<Self, Finding> {
        decode(document, &[]).map_err(|fault| {
            let rule = rule_of(&fault.path);
            Finding::shape(rule, fault)
        })
    }

    /// A family by name.
    pub fn family(&self, name: &str) -> Option<&Family> {
        self.families.get(name)
    }

    /// Every (family name, family, lane name, lane), in file order.
    pub fn lanes(&self) -> impl Iterator<Item = (&str, &Family, &str, &Lane)> {
        self.families.iter().flat_map(|(name, family)| {
            family.lanes.iter().map(move |(lane, row)| (name.as_str(), family, lane.as_str(), row))
        })
    }
}

/// The rule (executor-contract.md 7.1) that speaks of a place.
fn rule_of(path: &[String]) -> &'static str {
    let key = |index: usize| path.get(index).map(String::as_str);
    match (key(0), key(2)) {
        (Some("authority"), _) => "S-02",
        (Some("vocabularies"), _) => "S-03",
        (Some("exit_codes"), _) => "S-04",
        (Some("envelopes"), _) => "S-05",
        (Some("usage_accounting"), _) => "S-06",
        (Some("extension_policy"), _) => "S-07",
        (Some("patch_policy"), _) => "S-08",
        (Some("executable_gate_controls"), _) => "S-09",
        (Some("families"), Some("lanes")) if path.len() > 3 => "S-11",
        (Some("families"), _) => "S-10",
        (Some("known_divergences"), _) => "S-12",
        _ => "S-01",
    }
}
