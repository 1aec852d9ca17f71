//! Why a launch can not be planned.

use record::failure::FailureCode;
use record::words::{Fence, Permission, ProfileOption};
use record::{AbsolutePath, ProfileId};

use crate::host::HostError;

/// Why a launch can not be planned. No message repeats the brief or a value from the environment.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// The profile does not offer the mode.
    #[error("{profile} does not offer {mode}: {why}")]
    UnsupportedMode {
        /// The profile.
        profile: ProfileId,
        /// The mode asked for.
        mode: Permission,
        /// What it would need.
        why: &'static str,
    },
    /// The profile does not offer an option that the request uses.
    #[error("{profile} does not offer the option {option}")]
    UnsupportedOption {
        /// The profile.
        profile: ProfileId,
        /// The option.
        option: ProfileOption,
    },
    /// The value of an option can not be handed to the CLI.
    #[error("the option {option} can not be used: {why}")]
    InvalidOption {
        /// The option.
        option: ProfileOption,
        /// What is wrong with it.
        why: String,
    },
    /// The CLI can not take the brief.
    #[error("the brief can not be used with {profile}: {why}")]
    InvalidBrief {
        /// The profile.
        profile: ProfileId,
        /// What is wrong with it.
        why: String,
    },
    /// The fence asked for can not be had with this profile.
    #[error("the fence {fence} can not be had with {profile}: {why}")]
    FenceUnavailable {
        /// The profile.
        profile: ProfileId,
        /// The fence asked for.
        fence: Fence,
        /// Why not.
        why: &'static str,
    },
    /// An environment variable that the CLI needs is missing or malformed.
    #[error("the environment variable {name} can not be used: {why}")]
    Environment {
        /// The variable.
        name: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A variable that would be handed on looks like a credential (STATE.md 8).
    #[error(
        "the environment variable {name} looks like a credential and is never taken from the caller's environment: \
         unset it, and sign in with the CLI's own login or give the value in an environment file"
    )]
    CredentialInEnvironment {
        /// The variable.
        name: String,
    },
    /// The profile takes no value from an environment file.
    #[error("{profile} takes no value from an environment file; sign in with the CLI's own login")]
    EnvironmentFile {
        /// The profile.
        profile: ProfileId,
    },
    /// The CLI is not installed where `PATH` leads.
    #[error("the program {program} was not found on PATH")]
    ExecutableNotFound {
        /// The program's bare name.
        program: String,
    },
    /// The CLI was found, and what it would run can not be determined.
    #[error("{path} can not be launched: {why}")]
    ExecutableUnusable {
        /// The file.
        path: AbsolutePath,
        /// Why not.
        why: String,
    },
    /// The machine gave no answer.
    #[error(transparent)]
    Host(#[from] HostError),
    /// A probe of the CLI did not end as it must.
    #[error("the CLI's answer to {arguments} can not be used: {why}")]
    Probe {
        /// The probe's arguments.
        arguments: String,
        /// What is wrong with the answer.
        why: &'static str,
    },
    /// The CLI's help does not name a flag that the launch uses.
    #[error("the CLI does not know the flag {flag}; another version of it is needed")]
    MissingFlag {
        /// The flag.
        flag: String,
    },
}

impl PlanError {
    /// The stable code of this error in an answer (predecessor-core 1.5).
    pub fn code(&self) -> FailureCode {
        match self {
            Self::UnsupportedMode { .. } | Self::UnsupportedOption { .. } | Self::EnvironmentFile { .. } => {
                FailureCode::UnsupportedOption
            }
            Self::InvalidOption { option: ProfileOption::Continuation, .. } => {
                FailureCode::ContinuationUnavailable
            }
            Self::InvalidOption { .. } => FailureCode::InvalidRequest,
            Self::InvalidBrief { .. } => FailureCode::BriefInvalid,
            Self::FenceUnavailable { .. } => FailureCode::FenceUnavailable,
            Self::ExecutableNotFound { .. } => FailureCode::ProviderUnavailable,
            Self::Environment { .. }
            | Self::CredentialInEnvironment { .. }
            | Self::ExecutableUnusable { .. }
            | Self::Host(_) => FailureCode::ProviderPreparationFailed,
            Self::Probe { .. } | Self::MissingFlag { .. } => FailureCode::ProviderPreflightFailed,
        }
    }
}
