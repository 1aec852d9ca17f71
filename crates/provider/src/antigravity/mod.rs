//! `antigravity:print`: the Antigravity CLI, one print run of `agy` (providers.md 2).

mod judge;
mod marker;
mod models;
mod object;
mod summary;

use record::capability::{Description, ReadOnlyDescription, RuntimeDescription};
use record::plan::{EffectiveConfig, LaunchPlan};
use record::words::{ContinuationMode, Fence, Permission, ProfileOption, ReadOnlyMechanism};

use crate::environment::{BASE_NAMES, CACHE_NAMES, DESKTOP_NAMES, Environment};
use crate::error::PlanError;
use crate::host::Host;
use crate::judge::Judge;
use crate::models::ModelListing;
use crate::profile::{Draft, PlanInput, Profile};
use crate::roots::{self, Roots};
use crate::summary::Summariser;
use crate::{executable, options, probe};

const PROGRAM: &str = "agy";
const REQUIRED_FLAGS: &[&str] = &[
    "--add-dir",
    "--conversation",
    "--input-format",
    "--mode",
    "--output-format",
    "--print-timeout",
    "--sandbox",
];
const SKIP_PERMISSIONS: &str = "--dangerously-skip-permissions";
/// How to sign in, behind the words of an error.
const SIGN_IN: &str = " (sign in by running `agy`)";
/// Directories that its state can be moved to.
const HOME_NAMES: &[&str] = &[
    "AGY_CONFIG_HOME",
    "AGY_HOME",
    "ANTIGRAVITY_CONFIG_HOME",
    "ANTIGRAVITY_HOME",
    "GEMINI_CLI_HOME",
    "GEMINI_HOME",
];

/// The profile.
pub(crate) struct Antigravity;

impl Profile for Antigravity {
    fn description(&self) -> Description {
        Description {
            id: "antigravity:print".parse().expect("a well-formed id"),
            supported_modes: vec![Permission::ReadOnly, Permission::WorkspaceWrite],
            supported_options: vec![
                ProfileOption::Continuation,
                ProfileOption::Effort,
                ProfileOption::Model,
                ProfileOption::NativeTimeout,
            ],
            continuation: ContinuationMode::Native,
            read_only: ReadOnlyDescription {
                supported: true,
                mechanism: ReadOnlyMechanism::NativePlan,
                containment: Fence::Ours,
            },
            runtime: RuntimeDescription {
                executable: Some(PROGRAM.to_owned()),
                help_args: Vec::new(),
                required_flags: REQUIRED_FLAGS.iter().map(|&flag| flag.to_owned()).collect(),
            },
        }
    }

    fn revision(&self) -> u32 {
        1
    }

    fn environment_names(&self) -> Vec<&'static str> {
        [BASE_NAMES, DESKTOP_NAMES, CACHE_NAMES, HOME_NAMES].concat()
    }

    fn models(&self) -> Option<&'static dyn ModelListing> {
        Some(&models::Table)
    }

    fn plan(&self, input: &PlanInput<'_>, host: &dyn Host) -> Result<Draft, PlanError> {
        let description = self.description();
        let request = input.request;
        let permission = request.requested_config.permission;
        let offer = options::Offer {
            description: &description,
            fences: &[Fence::Ours, Fence::None],
            modes_note: "",
            secret_names: self.secret_names(),
            is_conversation: options::is_uuid,
        };
        let options = options::check(offer, request)?;
        let config = &request.requested_config;
        let timeout = config.native_timeout.unwrap_or(config.budget);

        let writes = permission == Permission::WorkspaceWrite;
        let mode = if writes { "accept-edits" } else { "plan" };
        let mut argv: Vec<String> =
            [PROGRAM, "--sandbox", "--mode", mode, "--add-dir"].map(str::to_owned).to_vec();
        argv.push(request.canonical_cwd.to_string());
        argv.extend(["--output-format", "json", "--input-format", "text"].map(str::to_owned));
        argv.extend(["--print-timeout".to_owned(), timeout.to_string()]);
        for (flag, value) in [
            ("--model", options.model),
            ("--effort", options.effort),
            ("--conversation", options.conversation),
        ] {
            argv.extend(value.into_iter().flat_map(|value| [flag.to_owned(), value.to_owned()]));
        }
        argv.extend(writes.then(|| SKIP_PERMISSIONS.to_owned()));

        let mut environment = Environment::build(&self.environment_names(), request, host)?;
        let mut writable = if options.fence == Fence::Ours {
            environment.use_temporary(input.temporary_directory);
            Roots::fenced(host, &request.canonical_cwd, permission)?
        } else {
            Roots::common(host, &environment, &request.canonical_cwd, permission)?
        };
        let home = roots::home(&environment)?;
        for name in [".gemini", ".cache"] {
            writable.add(&home.join(name).expect("a plain name"))?;
        }
        writable.add_variables(&environment, HOME_NAMES)?;
        writable.add_variables(&environment, CACHE_NAMES)?;

        let executable = executable::find(host, PROGRAM, None)?;
        let mut required_flags = REQUIRED_FLAGS.to_vec();
        required_flags.extend(options.model.map(|_| "--model"));
        required_flags.extend(options.effort.map(|_| "--effort"));
        required_flags.extend(writes.then_some(SKIP_PERMISSIONS));
        Ok(Draft {
            launch: LaunchPlan {
                provider_version: None,
                identity: executable.identity,
                start: executable.start,
                argv,
                stdin_prefix: None,
                new_conversation: None,
                environment: environment.into_list(),
                directory: request.canonical_cwd.clone(),
                output_artifacts: Vec::new(),
                effective_config: EffectiveConfig {
                    permission,
                    fence: options.fence,
                    approval: if writes { "always-proceed" } else { "plan" }.to_owned(),
                    writable_roots: writable.into_paths(),
                },
                predicate: judge::Revision1.predicate(&description.id, permission),
            },
            probes: probe::version_and_help(&[]),
            required_flags,
        })
    }

    fn fence_limits(&self) -> &'static [&'static str] {
        &[
            "Our write fence limits agy and all that it starts to the workspace (in workspace-write), its own state, \
             the user's caches and a private temporary directory.",
            "In read-only agy's plan mode keeps the model from writing as well.",
            "Reading and the network are not limited.",
        ]
    }

    fn summariser(&self) -> Box<dyn Summariser> {
        Box::new(summary::AntigravitySummary::new())
    }

    fn judges(&self) -> &'static [&'static dyn Judge] {
        &[&judge::Revision1]
    }
}
