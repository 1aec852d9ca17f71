//! `pi:json`: the pi coding agent, one run of `pi --mode json` (providers.md 5).

mod errors;
mod judge;
mod message;
mod models;
mod summary;

use record::capability::Description;
use record::plan::LaunchPlan;
use record::words::{Fence, Permission, ProfileOption, ReadOnlyMechanism};

use crate::cli::Cli;
use crate::environment::{BASE_NAMES, CACHE_NAMES, DESKTOP_NAMES, Environment};
use crate::error::PlanError;
use crate::host::Host;
use crate::judge::Judge;
use crate::launch::{self, Decided, add_flags};
use crate::login::LoginFile;
use crate::models::ModelListing;
use crate::probe::ProbeOutput;
use crate::profile::{Draft, PlanInput, Profile};
use crate::roots::{self, resolved};
use crate::summary::Summariser;
use crate::{executable, options, probe};

const CLI: Cli = Cli {
    id: "pi:json",
    program: "pi",
    options: &[ProfileOption::Continuation, ProfileOption::Effort, ProfileOption::Model],
    mechanism: ReadOnlyMechanism::ToolAllowlist,
    containment: Fence::Ours,
    help_arguments: &[],
    required_flags: &["--mode", "--model", "--session", "--thinking", "--tools"],
    // Keys of the services that it talks to most; others sign in with its own login.
    secret_names: &[
        "ANTHROPIC_API_KEY",
        "CEREBRAS_API_KEY",
        "DEEPSEEK_API_KEY",
        "GEMINI_API_KEY",
        "GROQ_API_KEY",
        "KIMI_API_KEY",
        "MISTRAL_API_KEY",
        "MOONSHOT_API_KEY",
        "OPENAI_API_KEY",
        "OPENROUTER_API_KEY",
        "XAI_API_KEY",
        "ZAI_API_KEY",
    ],
    is_conversation: options::is_uuid,
};
/// Every tool that can not write.
const READ_ONLY_TOOLS: &str = "read,grep,find,ls";
/// Every tool.
const ALL_TOOLS: &str = "read,bash,edit,write,grep,find,ls";
/// The list of tools leaves those of configured tool servers in place, and they may write: where the CLI knows such servers,
/// it is told to use none.
const NO_TOOL_SERVERS: &str = "--no-mcp";
/// How to sign in, behind the words of an error.
const SIGN_IN: &str = " (sign in by running `pi` and entering `/login`)";
const EFFORTS: &[&str] = &["off", "minimal", "low", "medium", "high", "xhigh", "max"];
const AGENT_DIRECTORY_NAME: &str = "PI_CODING_AGENT_DIR";
const SESSION_DIRECTORY_NAME: &str = "PI_CODING_AGENT_SESSION_DIR";

/// The profile.
pub(crate) struct Pi;

impl Profile for Pi {
    fn description(&self) -> Description {
        CLI.description()
    }

    fn revision(&self) -> u32 {
        1
    }

    fn environment_names(&self) -> Vec<&'static str> {
        [BASE_NAMES, DESKTOP_NAMES, CACHE_NAMES, &[AGENT_DIRECTORY_NAME, SESSION_DIRECTORY_NAME]].concat()
    }

    fn secret_names(&self) -> &'static [&'static str] {
        CLI.secret_names
    }

    fn models(&self) -> Option<&'static dyn ModelListing> {
        Some(&models::Table)
    }

    fn login_file(&self) -> Option<LoginFile> {
        Some(LoginFile {
            directory_variable: AGENT_DIRECTORY_NAME,
            directory: ".pi/agent",
            name: "auth.json",
            sign_in: "pi, then /login",
        })
    }

    fn plan(&self, input: &PlanInput<'_>, host: &dyn Host) -> Result<Draft, PlanError> {
        let request = input.request;
        let permission = request.requested_config.permission;
        // Its tools write wherever its user may: only a list of tools that read is a fence of its own.
        let fences: &[Fence] = match permission {
            Permission::ReadOnly => &[Fence::Ours, Fence::Theirs, Fence::None],
            Permission::WorkspaceWrite => &[Fence::Ours, Fence::None],
        };
        let options = CLI.check(request, fences)?;
        // It trims the brief, and answers an empty one with nothing and exit code 0.
        CLI.demand_text(input.brief)?;
        CLI.demand_effort(options.effort, EFFORTS)?;

        let tools = match permission {
            Permission::ReadOnly => READ_ONLY_TOOLS,
            Permission::WorkspaceWrite => ALL_TOOLS,
        };
        let approval = match permission {
            Permission::ReadOnly => "read-only",
            Permission::WorkspaceWrite => "provider-native",
        };
        // The tools are named again in a continuation too: a conversation keeps the list it began with.
        let mut argv: Vec<String> =
            [CLI.program, "--mode", "json", "--tools", tools].map(str::to_owned).to_vec();
        let flags =
            [("--model", options.model), ("--thinking", options.effort), ("--session", options.conversation)];
        add_flags(&mut argv, &flags);

        let mut environment = Environment::build(&self.environment_names(), request, host)?;
        let home = roots::home(&environment)?.join(".pi").expect("a plain name");
        let mut directory_or = |name: &str, default| -> Result<_, PlanError> {
            let Some(directory) = roots::directory(&environment, name)? else { return Ok(default) };
            let directory = resolved(host, &directory)?;
            environment.set(name, directory.to_string());
            Ok(directory)
        };
        let agent = directory_or(AGENT_DIRECTORY_NAME, home.join("agent").expect("a plain name"))?;
        let sessions = directory_or(SESSION_DIRECTORY_NAME, agent.join("sessions").expect("a plain name"))?;
        let mut writable = launch::writable(host, &mut environment, options.fence, input)?;
        for path in [&home, &agent, &sessions] {
            writable.add(path)?;
        }
        writable.add_variables(&environment, CACHE_NAMES)?;

        let executable = executable::find(host, CLI.program, None)?;
        let decided = Decided {
            executable,
            argv,
            environment,
            fence: options.fence,
            approval,
            writable,
            judge: &judge::Revision1,
        };
        Ok(CLI.draft(request, decided))
    }

    fn finish(&self, draft: Draft, facts: &[ProbeOutput]) -> Result<LaunchPlan, PlanError> {
        let is_read_only = draft.launch.effective_config.permission == Permission::ReadOnly;
        let has_servers = facts.last().is_some_and(|help| probe::offers(help, NO_TOOL_SERVERS));
        let mut launch = probe::finish(draft, facts)?;
        if is_read_only && has_servers {
            launch.argv.push(NO_TOOL_SERVERS.to_owned());
        }
        Ok(launch)
    }

    fn fence_limits(&self) -> &'static [&'static str] {
        &[
            "pi and all that it starts, extensions of its user among them, write only to its own state directories, a \
             private temporary directory and, in workspace-write, the workspace.",
            "In read-only the model is offered only tools that read.",
            "Reading is not limited to the workspace, and the network is not limited at all.",
        ]
    }

    fn summariser(&self) -> Box<dyn Summariser> {
        Box::new(summary::PiSummary::new())
    }

    fn judges(&self) -> &'static [&'static dyn Judge] {
        &[&judge::Revision1]
    }
}
