//! `pi:json`: the pi coding agent, one run of `pi --mode json` (providers.md 5).

mod errors;
mod judge;
mod message;
mod summary;

use record::capability::{Description, ReadOnlyDescription, RuntimeDescription};
use record::plan::{EffectiveConfig, LaunchPlan};
use record::words::{ContinuationMode, Fence, Permission, ProfileOption, ReadOnlyMechanism};

use crate::environment::{BASE_NAMES, CACHE_NAMES, DESKTOP_NAMES, Environment};
use crate::error::PlanError;
use crate::host::Host;
use crate::judge::Judge;
use crate::probe::ProbeOutput;
use crate::profile::{Draft, PlanInput, Profile};
use crate::roots::{self, Roots, resolved};
use crate::summary::Summariser;
use crate::{executable, options, probe};

const PROGRAM: &str = "pi";
const REQUIRED_FLAGS: &[&str] = &["--mode", "--model", "--session", "--thinking", "--tools"];
/// Every tool that can not write.
const READ_ONLY_TOOLS: &str = "read,grep,find,ls";
/// The list of tools leaves those of configured tool servers in place, and they may write: where the CLI knows such servers,
/// it is told to use none.
const NO_TOOL_SERVERS: &str = "--no-mcp";
const EFFORTS: &[&str] = &["off", "minimal", "low", "medium", "high", "xhigh", "max"];
const AGENT_DIRECTORY_NAME: &str = "PI_CODING_AGENT_DIR";
const SESSION_DIRECTORY_NAME: &str = "PI_CODING_AGENT_SESSION_DIR";

/// The profile.
pub(crate) struct Pi;

impl Profile for Pi {
    fn description(&self) -> Description {
        Description {
            id: "pi:json".parse().expect("a well-formed id"),
            supported_modes: vec![Permission::ReadOnly],
            supported_options: vec![ProfileOption::Continuation, ProfileOption::Effort, ProfileOption::Model],
            continuation: ContinuationMode::Native,
            read_only: ReadOnlyDescription {
                supported: true,
                mechanism: ReadOnlyMechanism::ToolAllowlist,
                containment: Fence::Theirs,
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

    fn plan(&self, input: &PlanInput<'_>, host: &dyn Host) -> Result<Draft, PlanError> {
        let description = self.description();
        let request = input.request;
        let permission = request.requested_config.permission;
        let modes_note = "pi writes wherever its user may, so this mode needs our write fence, which is not in this version";
        let options = options::check(&description, request, &[Fence::Theirs, Fence::None], modes_note)?;
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

        // The tools are named again in a continuation too: a conversation keeps the list it began with.
        let mut argv: Vec<String> =
            [PROGRAM, "--mode", "json", "--tools", READ_ONLY_TOOLS].map(str::to_owned).to_vec();
        for (flag, value) in
            [("--model", options.model), ("--thinking", options.effort), ("--session", options.conversation)]
        {
            if let Some(value) = value {
                argv.extend([flag.to_owned(), value.to_owned()]);
            }
        }

        let mut environment = Environment::build(&self.environment_names(), request.task_id, host)?;
        let home = roots::home(&environment)?.join(".pi").expect("a plain name");
        let mut directory_or = |name: &str, default| -> Result<_, PlanError> {
            let Some(directory) = roots::directory(&environment, name)? else { return Ok(default) };
            let directory = resolved(host, &directory)?;
            environment.set(name, directory.to_string());
            Ok(directory)
        };
        let agent = directory_or(AGENT_DIRECTORY_NAME, home.join("agent").expect("a plain name"))?;
        let sessions = directory_or(SESSION_DIRECTORY_NAME, agent.join("sessions").expect("a plain name"))?;
        let mut writable = Roots::common(host, &environment, &request.canonical_cwd, permission)?;
        for path in [&home, &agent, &sessions] {
            writable.add(path)?;
        }
        writable.add_variables(&environment, CACHE_NAMES)?;

        let executable = executable::find(host, PROGRAM, None)?;
        Ok(Draft {
            launch: LaunchPlan {
                provider_version: None,
                identity: executable.identity,
                start: executable.start,
                argv,
                environment: environment.into_list(),
                directory: request.canonical_cwd.clone(),
                output_artifacts: Vec::new(),
                effective_config: EffectiveConfig {
                    permission,
                    fence: options.fence,
                    approval: "read-only".to_owned(),
                    writable_roots: writable.into_paths(),
                },
                predicate: judge::Revision1.predicate(&description.id, permission),
            },
            probes: probe::version_and_help(&[]),
            required_flags: REQUIRED_FLAGS.to_vec(),
        })
    }

    fn finish(&self, draft: Draft, facts: &[ProbeOutput]) -> Result<LaunchPlan, PlanError> {
        let has_servers = facts.last().is_some_and(|help| probe::offers(help, NO_TOOL_SERVERS));
        let mut launch = probe::finish(draft, facts)?;
        if has_servers {
            launch.argv.push(NO_TOOL_SERVERS.to_owned());
        }
        Ok(launch)
    }

    fn fence_limits(&self) -> &'static [&'static str] {
        &[
            "The model is offered only tools that read; pi itself and extensions of its user run without a fence.",
            "Reading is not limited to the workspace.",
        ]
    }

    fn summariser(&self) -> Box<dyn Summariser> {
        Box::new(summary::PiSummary::new())
    }

    fn judges(&self) -> &'static [&'static dyn Judge] {
        &[&judge::Revision1]
    }
}
