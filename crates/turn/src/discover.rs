//! What providers there are and what they can do, from static to live: `providers`, `capabilities`, `preflight`, `models`
//! (CLI.md, predecessor-core 1.7).

use record::answer::{Answer, Status};
use record::capability::{
    CAPABILITY_CONTRACT, Capability, CapabilityReason, CapabilityStatus, Description, LiveAcceptance,
    LiveAuthentication, LiveStatus, Verification,
};
use record::models::{ModelCatalogue, ModelListStatus};
use record::plan::{CapturedEnvironment, Plan};
use record::{AbsolutePath, ProfileId, RootId, Sha256Digest, TaskId};
use store::Root;

use crate::admit::{demand_free_space, encoded, profile, unknown_provider};
use crate::asked::{self, DispatchInput, Given};
use crate::context::Context;
use crate::error::TurnError;
use crate::planning::{self, Planned, Planning};
use crate::{probe, secrets, workspace};

/// Longest reason for each profile that `--auto` passes over, in bytes (predecessor-core 1.7).
pub(crate) const AUTO_REASON_MAX_BYTES: usize = 240;

/// Every profile of the catalogue, without any look at the host.
pub fn providers() -> Vec<Description> {
    provider::catalogue().all().iter().map(|profile| profile.description()).collect()
}

/// What the catalogue says of one profile.
///
/// # Errors
/// `provider_unavailable` with the nearest profile; [`unsupported_capability`] is what to print beside it.
pub fn capabilities(id: &ProfileId) -> Result<Capability, TurnError> {
    profile(id).map(|profile| catalogue_capability(&profile.description()))
}

/// The capability object of a profile that does not exist.
pub fn unsupported_capability(id: &ProfileId) -> Capability {
    let description = Description {
        id: id.clone(),
        supported_modes: Vec::new(),
        supported_options: Vec::new(),
        continuation: record::words::ContinuationMode::Unsupported,
        read_only: record::capability::ReadOnlyDescription {
            supported: false,
            mechanism: record::words::ReadOnlyMechanism::ToolAllowlist,
            containment: record::words::Fence::None,
        },
        runtime: record::capability::RuntimeDescription {
            executable: None,
            help_args: Vec::new(),
            required_flags: Vec::new(),
        },
    };
    Capability {
        status: CapabilityStatus::Unsupported,
        reason_code: CapabilityReason::ProviderUnavailable,
        ..catalogue_capability(&description)
    }
}

/// The capability of a profile whose executable has just been planned with.
pub(crate) fn observed_capability(description: &Description, plan: &Plan) -> Capability {
    Capability {
        status: CapabilityStatus::Ready,
        verification: Verification::Runtime,
        version: plan.launch.provider_version.clone(),
        executable_sha256: plan.launch.identity.first().map(|file| file.sha256),
        reason_code: CapabilityReason::RequiredBehaviorObserved,
        ..catalogue_capability(description)
    }
}

/// The capability of a profile as far as the catalogue alone tells.
pub(crate) fn catalogue_capability(description: &Description) -> Capability {
    let limits = provider::catalogue().get(&description.id).map_or(&[][..], |profile| profile.fence_limits());
    Capability {
        contract: CAPABILITY_CONTRACT.to_owned(),
        provider: description.id.clone(),
        status: CapabilityStatus::Unknown,
        verification: Verification::Catalog,
        continuation: description.continuation,
        version: None,
        executable_sha256: None,
        help_args: description.runtime.help_args.clone(),
        required_flags: description.runtime.required_flags.clone(),
        reason_code: CapabilityReason::RuntimeProbeNotRun,
        live_acceptance: LiveAcceptance {
            status: LiveStatus::NotRun,
            authentication: LiveAuthentication::Unknown,
            reason_code: CapabilityReason::RuntimeProbeNotRun,
        },
        fence_limits: limits.iter().map(|sentence| (*sentence).to_owned()).collect(),
    }
}

/// Every profile that needs a program of its own, and where PATH has it.
pub fn found_executables(captured: &CapturedEnvironment) -> Vec<(Description, Option<AbsolutePath>)> {
    providers()
        .into_iter()
        .filter_map(|description| {
            let path = crate::host::on_path(captured, description.runtime.executable.as_deref()?);
            Some((description, path))
        })
        .collect()
}

/// The profile that a mistyped id most likely means; `None` when nothing is near.
pub fn nearest_profile(text: &str) -> Option<ProfileId> {
    provider::catalogue().nearest(text)
}

/// Everything that admission checks, without a task: nothing is written, not even a root. The brief does not matter.
pub fn preflight(context: &Context, input: &DispatchInput) -> Answer {
    let mut answer = Answer::new("preflight");
    match check(context, input) {
        Ok((description, Planned { plan, .. })) => {
            answer.status = Some(Status::Ready);
            answer.capability = Some(Capability {
                verification: Verification::Preflight,
                reason_code: CapabilityReason::StaticAdmissionReady,
                ..observed_capability(&description, &plan)
            });
            answer
        }
        Err(error) => {
            answer.status = Some(Status::Unsupported);
            answer.capability = input.provider.as_ref().map(|id| match profile(id) {
                Ok(profile) => Capability {
                    status: CapabilityStatus::Unsupported,
                    verification: Verification::Preflight,
                    reason_code: CapabilityReason::StaticAdmissionRejected,
                    ..catalogue_capability(&profile.description())
                },
                Err(_) => unsupported_capability(id),
            });
            error.into_answer(answer)
        }
    }
}

/// The brief that stands for any other.
const PLACEHOLDER_BRIEF: &[u8] = b"preflight";

fn check<'h>(context: &'h Context, input: &DispatchInput) -> Result<(Description, Planned<'h>), TurnError> {
    let id = input.provider.as_ref().ok_or_else(|| asked::invalid("a provider must be named"))?;
    let profile = profile(id)?;
    let description = profile.description();
    asked::check(input, &description)?;
    demand_free_space(&context.root)?;
    let workspace = workspace::resolve(&input.cwd, &context.root)?;
    let environment_file = match &input.environment_file {
        Some(path) => Some(secrets::resolve(path, &context.root, &workspace)?),
        None => None,
    };
    let given = Given {
        root_id: RootId::from_random([0; 16]),
        task_id: TaskId::from_random([0x11; 16]),
        provider: id,
        workspace: &workspace,
        environment_file: environment_file.as_ref(),
        prior_session: None,
        brief: PLACEHOLDER_BRIEF,
    };
    let request = asked::request(input, given);
    let planning = Planning {
        root: &context.root,
        cache: Root::open(&context.root).ok().map(|root| root.probe_cache()),
        request: &request,
        request_sha256: Sha256Digest::of(&encoded(&request)?),
        brief: PLACEHOLDER_BRIEF,
        captured: &context.captured,
        own_executable: &context.program,
    };
    Ok((description, planning::plan(profile, planning)?))
}

/// Asks a provider's own program which models it lists. Advisory: never an admission list. Beside a listing that there is not
/// stands why, for people.
///
/// # Errors
/// `provider_unavailable` when there is no such profile. What goes wrong with the program is a status.
pub fn models(
    context: &Context,
    input: &DispatchInput,
) -> Result<(ModelCatalogue, Option<String>), TurnError> {
    let id = input.provider.as_ref().ok_or_else(|| asked::invalid("a provider must be named"))?;
    let profile = provider::catalogue().get(id).ok_or_else(|| unknown_provider(id))?;
    let unusable = |status, reason: &str, why: String| {
        let catalogue = ModelCatalogue {
            status,
            reason_code: reason.to_owned(),
            complete: false,
            source: id.to_string(),
            models: Vec::new(),
            efforts: None,
        };
        Ok((catalogue, Some(why)))
    };
    let unavailable = |why| unusable(ModelListStatus::Unavailable, "discovery_unavailable", why);
    let Some(listing) = profile.models() else {
        return unavailable(format!("{id} has no way to list models"));
    };
    let Planned { plan, host } = match check(context, input) {
        Ok((_, planned)) => planned,
        Err(error) => return unavailable(error.to_string()),
    };
    let entry = plan.launch.identity.first().and_then(|file| host.take_hashed(&file.path));
    match probe::list_models(&plan, entry, listing) {
        Ok(output) => Ok((listing.read(&output), None)),
        Err(error @ probe::ProbeError::Silent) => {
            unusable(ModelListStatus::Failed, "discovery_timeout", error.to_string())
        }
        Err(error @ probe::ProbeError::Failed(_)) => {
            unusable(ModelListStatus::Failed, "discovery_failed", error.to_string())
        }
    }
}
