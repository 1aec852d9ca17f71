//! `antigravity:print`: the Antigravity CLI, one print run of `agy` (providers.md 2).

mod judge;
mod marker;
mod models;
mod object;
mod summary;

use record::capability::Description;
use record::words::{Fence, Permission, ProfileOption, ReadOnlyMechanism};

use crate::cli::Cli;
use crate::environment::{BASE_NAMES, CACHE_NAMES, DESKTOP_NAMES, Environment};
use crate::error::PlanError;
use crate::host::Host;
use crate::judge::Judge;
use crate::launch::{self, Decided, add_flags};
use crate::models::ModelListing;
use crate::profile::{Draft, PlanInput, Profile};
use crate::roots;
use crate::summary::Summariser;
use crate::{executable, options};

const CLI: Cli = Cli {
    id: "antigravity:print",
    program: "agy",
    options: &[
        ProfileOption::Continuation,
        ProfileOption::Effort,
        ProfileOption::Model,
        ProfileOption::NativeTimeout,
    ],
    mechanism: ReadOnlyMechanism::NativePlan,
    containment: Fence::Ours,
    help_arguments: &[],
    required_flags: &[
        "--add-dir",
        "--conversation",
        "--input-format",
        "--mode",
        "--output-format",
        "--print-timeout",
        "--sandbox",
    ],
    secret_names: &[],
    is_conversation: options::is_uuid,
};
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
        CLI.description()
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
        let request = input.request;
        let permission = request.requested_config.permission;
        let options = CLI.check(request, &[Fence::Ours, Fence::None])?;
        let config = &request.requested_config;
        let timeout = config.native_timeout.unwrap_or(config.budget);

        let writes = permission == Permission::WorkspaceWrite;
        let mode = if writes { "accept-edits" } else { "plan" };
        let mut argv: Vec<String> =
            [CLI.program, "--sandbox", "--mode", mode, "--add-dir"].map(str::to_owned).to_vec();
        argv.push(request.canonical_cwd.to_string());
        argv.extend(["--output-format", "json", "--input-format", "text"].map(str::to_owned));
        argv.extend(["--print-timeout".to_owned(), timeout.to_string()]);
        let flags = [
            ("--model", options.model),
            ("--effort", options.effort),
            ("--conversation", options.conversation),
        ];
        add_flags(&mut argv, &flags);
        argv.extend(writes.then(|| SKIP_PERMISSIONS.to_owned()));

        let mut environment = Environment::build(&self.environment_names(), request, host)?;
        let mut writable = launch::writable(host, &mut environment, options.fence, input)?;
        let home = roots::home(&environment)?;
        for name in [".gemini", ".cache"] {
            writable.add(&home.join(name).expect("a plain name"))?;
        }
        writable.add_variables(&environment, HOME_NAMES)?;
        writable.add_variables(&environment, CACHE_NAMES)?;

        let executable = executable::find(host, CLI.program, None)?;
        let decided = Decided {
            executable,
            argv,
            environment,
            fence: options.fence,
            approval: if writes { "always-proceed" } else { "plan" },
            writable,
            judge: &judge::Revision1,
        };
        let mut draft = CLI.draft(request, decided);
        draft.required_flags.extend(options.model.map(|_| "--model"));
        draft.required_flags.extend(options.effort.map(|_| "--effort"));
        draft.required_flags.extend(writes.then_some(SKIP_PERMISSIONS));
        Ok(draft)
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
