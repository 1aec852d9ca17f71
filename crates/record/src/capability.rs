//! What a profile can do: `providers` and `capabilities` (predecessor-core 1.6, 1.7; providers.md 1.2).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ProfileId;
use crate::vocabulary::vocabulary;
use crate::words::{ContinuationMode, Fence, Permission, ProfileOption, ReadOnlyMechanism};

/// One profile as the catalogue describes it, without any look at the host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Description {
    /// The profile.
    pub id: ProfileId,
    /// Modes, sorted.
    pub supported_modes: Vec<Permission>,
    /// Options, sorted.
    pub supported_options: Vec<ProfileOption>,
    /// How a conversation is continued.
    pub continuation: ContinuationMode,
    /// How read-only is enforced.
    pub read_only: ReadOnlyDescription,
    /// What the CLI must offer.
    pub runtime: RuntimeDescription,
}

/// How a profile enforces read-only.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReadOnlyDescription {
    /// Whether the mode is offered.
    pub supported: bool,
    /// By what.
    pub mechanism: ReadOnlyMechanism,
    /// Who fences writes by default.
    pub containment: Fence,
}

/// What is asked of the executable before a launch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RuntimeDescription {
    /// The executable's name on PATH; absent when the program is ours.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub executable: Option<String>,
    /// Words before `--help`.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub help_args: Vec<String>,
    /// Flags that the help text must name.
    pub required_flags: Vec<String>,
}

/// The capability object (predecessor-core 1.6).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Capability {
    /// Always `runtime-capability-v1`.
    pub contract: String,
    /// The profile.
    pub provider: ProfileId,
    /// What is known of it.
    pub status: CapabilityStatus,
    /// How it is known.
    pub verification: Verification,
    /// How a conversation is continued.
    pub continuation: ContinuationMode,
    /// What the CLI says of its version.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub version: Option<String>,
    /// Digest of the entry file.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub executable_sha256: Option<crate::Sha256Digest>,
    /// Words before `--help`.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub help_args: Vec<String>,
    /// Flags that the help text must name.
    pub required_flags: Vec<String>,
    /// Why the status is what it is.
    pub reason_code: CapabilityReason,
    /// Whether a live turn was ever accepted on this host.
    pub live_acceptance: LiveAcceptance,
    /// What the fence of this profile limits and what not, one sentence each (STATE.md 7).
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub fence_limits: Vec<String>,
}

/// The contract word of [`Capability`].
pub const CAPABILITY_CONTRACT: &str = "runtime-capability-v1";

vocabulary! {
    /// Status of a capability.
    CapabilityStatus {
        /// Not looked at.
        Unknown = "unknown",
        /// Can be launched.
        Ready = "ready",
        /// Can not.
        Unsupported = "unsupported",
    }
}

vocabulary! {
    /// How a capability is known.
    Verification {
        /// From the catalogue alone.
        Catalog = "catalog",
        /// From the executable's own words.
        Runtime = "runtime",
        /// From everything that admission checks.
        Preflight = "preflight",
    }
}

vocabulary! {
    /// Why a capability has its status (predecessor-core 1.6).
    CapabilityReason {
        /// The executable was not asked.
        RuntimeProbeNotRun = "runtime_probe_not_run",
        /// The executable has what is needed.
        RequiredBehaviorObserved = "required_behavior_observed",
        /// Unknown profile or no executable.
        ProviderUnavailable = "provider_unavailable",
        /// Checked without a launch.
        PreflightNotLaunched = "preflight_not_launched",
        /// Refused by static checks.
        StaticAdmissionRejected = "static_admission_rejected",
        /// The root lies where the provider may write.
        StatePlacementRejected = "state_placement_rejected",
        /// Static checks passed.
        StaticAdmissionReady = "static_admission_ready",
    }
}

/// Whether a live turn was accepted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LiveAcceptance {
    /// `not_run` or `blocked`.
    pub status: LiveStatus,
    /// `unknown` or `blocked`.
    pub authentication: LiveAuthentication,
    /// Why.
    pub reason_code: CapabilityReason,
}

vocabulary! {
    /// Status of a live acceptance.
    LiveStatus {
        /// No live turn.
        NotRun = "not_run",
        /// Blocked by a missing login.
        Blocked = "blocked",
    }
}

vocabulary! {
    /// What is known of a login.
    LiveAuthentication {
        /// Nothing.
        Unknown = "unknown",
        /// It is missing.
        Blocked = "blocked",
    }
}
