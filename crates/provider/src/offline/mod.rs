//! `offline:survey`: the built-in worker that surveys a workspace and needs nothing (CLI.md "Profiles").

mod judge;
mod summary;

use record::capability::{Description, ReadOnlyDescription, RuntimeDescription};
use record::words::{ContinuationMode, Fence, Permission, ReadOnlyMechanism};

use crate::environment::{BASE_NAMES, Environment};
use crate::error::PlanError;
use crate::host::Host;
use crate::judge::Judge;
use crate::launch::Decided;
use crate::profile::{Draft, PlanInput, Profile};
use crate::roots::Roots;
use crate::summary::Summariser;
use crate::{executable, options};

/// The hidden first word under which our own program is the survey worker.
pub const SURVEY_WORD: &str = "__survey";

/// The profile.
pub(crate) struct Offline;

impl Profile for Offline {
    fn description(&self) -> Description {
        Description {
            id: "offline:survey".parse().expect("a well-formed id"),
            supported_modes: vec![Permission::ReadOnly],
            supported_options: Vec::new(),
            continuation: ContinuationMode::Unsupported,
            read_only: ReadOnlyDescription {
                supported: true,
                mechanism: ReadOnlyMechanism::BuiltIn,
                containment: Fence::None,
            },
            runtime: RuntimeDescription {
                executable: None,
                help_args: Vec::new(),
                required_flags: Vec::new(),
            },
        }
    }

    fn revision(&self) -> u32 {
        1
    }

    fn environment_names(&self) -> Vec<&'static str> {
        BASE_NAMES.to_vec()
    }

    fn plan(&self, input: &PlanInput<'_>, host: &dyn Host) -> Result<Draft, PlanError> {
        let description = self.description();
        let request = input.request;
        let offer = options::Offer {
            description: &description,
            fences: &[Fence::None, Fence::Ours],
            modes_note: "the survey only reads",
            secret_names: self.secret_names(),
            is_conversation: options::is_uuid,
        };
        let options = options::check(offer, request)?;
        let executable = executable::identify(host, &host.own_executable()?, None)?;
        let mut environment = Environment::build(BASE_NAMES, request, host)?;
        if options.fence == Fence::Ours {
            environment.use_temporary(input.temporary_directory);
        }
        let decided = Decided {
            executable,
            argv: ["delegate", SURVEY_WORD].map(str::to_owned).to_vec(),
            environment,
            fence: options.fence,
            approval: "never",
            // It writes nowhere, whatever others may.
            writable: Roots::fenced(host, &request.canonical_cwd, Permission::ReadOnly)?,
            judge: &judge::Revision1,
        };
        let mut launch = decided.into_plan(&description.id, request);
        launch.provider_version = Some(env!("CARGO_PKG_VERSION").to_owned());
        Ok(Draft { launch, probes: Vec::new(), required_flags: Vec::new() })
    }

    fn fence_limits(&self) -> &'static [&'static str] {
        &[
            "The survey has no code that writes to the workspace, and starts nothing but git commands that read.",
        ]
    }

    fn summariser(&self) -> Box<dyn Summariser> {
        Box::new(summary::WorkerSummary::new())
    }

    fn judges(&self) -> &'static [&'static dyn Judge] {
        &[&judge::Revision1]
    }
}
