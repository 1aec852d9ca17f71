//! `pi:json`: the pi coding agent, one run of `pi --mode json` (providers.md 5).

mod errors;
mod judge;
mod message;
mod models;
mod summary;

use record::capability::{Description, ReadOnlyDescription, RuntimeDescription};
use record::plan::{EffectiveConfig, LaunchPlan};
use record::words::{ContinuationMode, Fence, Permission, ProfileOption, ReadOnlyMechanism};

use crate::environment::{BASE_NAMES, CACHE_NAMES, DESKTOP_NAMES, Environment};
use crate::error::PlanError;
use crate::host::Host;
use crate::judge::Judge;
use crate::login::LoginFile;
use crate::models::ModelListing;
use crate::probe::ProbeOutput;
use crate::profile::{Draft, PlanInput, Profile};
use crate::roots::{self, Roots, resolved};
use crate::summary::Summariser;
use crate::{executable, options, probe};

const PROGRAM: &str = "pi";
const REQUIRED_FLAGS: &[&str] = &["--mode", "--model", "--session", "--thinking", "--tools"];
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
/// Keys of the services that it talks to most; others sign in with its own login.
const SECRET_NAMES: &[&str] = &[
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
];
const AGENT_DIRECTORY_NAME: &str = "PI_CODING_AGENT_DIR";
const SESSION_DIRECTORY_NAME: &str = "PI_CODING_AGENT_SESSION_DIR";

/// The profile.
pub(crate) struct Pi;

impl Profile for Pi {
    fn description(&self) -> Description {
        Description {
            id: "pi:json".parse().expect("a well-formed id"),
            supported_modes: vec![Permission::ReadOnly, Permission::WorkspaceWrite],
            supported_options: vec![ProfileOption::Continuation, ProfileOption::Effort, ProfileOption::Model],
            continuation: ContinuationMode::Native,
            read_only: ReadOnlyDescription {
                supported: true,
                mechanism: ReadOnlyMechanism::ToolAllowlist,
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
        [BASE_NAMES, DESKTOP_NAMES, CACHE_NAMES, &[AGENT_DIRECTORY_NAME, SESSION_DIRECTORY_NAME]].concat()
    }

    fn secret_names(&self) -> &'static [&'static str] {
        SECRET_NAMES
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
        let description = self.description();
        let request = input.request;
        let permission = request.requested_config.permission;
        // Its tools write wherever its user may: only a list of tools that read is a fence of its own.
        let fences: &[Fence] = match permission {
            Permission::ReadOnly => &[Fence::Ours, Fence::Theirs, Fence::None],
            Permission::WorkspaceWrite => &[Fence::Ours, Fence::None],
        };
        let offer = options::Offer {
            description: &description,
            fences,
            modes_note: "",
            secret_names: self.secret_names(),
            is_conversation: options::is_uuid,
        };
        let options = options::check(offer, request)?;
        // It trims the brief, and answers an empty one with nothing and exit code 0.
        if String::from_utf8_lossy(input.brief).trim().is_empty() {
            return Err(PlanError::InvalidBrief { profile: description.id, why: "it is blank".to_owned() });
        }
        if let Some(effort) = options.effort
            && !EFFORTS.contains(&effort)
        {
            let why = format!("pi knows {}", EFFORTS.join(", "));
            return Err(PlanError::InvalidOption { option: ProfileOption::Effort, why });
        }

        let tools = match permission {
            Permission::ReadOnly => READ_ONLY_TOOLS,
            Permission::WorkspaceWrite => ALL_TOOLS,
        };
        let approval = match permission {
            Permission::ReadOnly => "read-only",
            Permission::WorkspaceWrite => "provider-native",
        };
        // The tools are named again in a continuation too: a conversation keeps the list it began with.
        let mut argv: Vec<String> = [PROGRAM, "--mode", "json", "--tools", tools].map(str::to_owned).to_vec();
        for (flag, value) in
            [("--model", options.model), ("--thinking", options.effort), ("--session", options.conversation)]
        {
            if let Some(value) = value {
                argv.extend([flag.to_owned(), value.to_owned()]);
            }
        }

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
        let mut writable = match options.fence {
            Fence::Ours => Roots::fenced(host, &request.canonical_cwd, permission)?,
            Fence::Theirs | Fence::None => {
                Roots::common(host, &environment, &request.canonical_cwd, permission)?
            }
        };
        for path in [&home, &agent, &sessions] {
            writable.add(path)?;
        }
        writable.add_variables(&environment, CACHE_NAMES)?;
        if options.fence == Fence::Ours {
            environment.use_temporary(input.temporary_directory);
        }

        let executable = executable::find(host, PROGRAM, None)?;
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
                    approval: approval.to_owned(),
                    writable_roots: writable.into_paths(),
                },
                predicate: judge::Revision1.predicate(&description.id, permission),
            },
            probes: probe::version_and_help(&[]),
            required_flags: REQUIRED_FLAGS.to_vec(),
        })
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
