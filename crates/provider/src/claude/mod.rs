//! `claude:print`: Claude Code, one turn of `claude --print` (providers.md 4).

mod errors;
mod judge;
mod models;
mod result;
mod summary;
mod tasks;

use record::capability::Description;
use record::request::Request;
use record::words::{Fence, Permission, ProfileOption, ReadOnlyMechanism};
use uuid::Uuid;

use crate::cli::Cli;
use crate::environment::{BASE_NAMES, DESKTOP_NAMES, Environment};
use crate::error::PlanError;
use crate::host::Host;
use crate::judge::Judge;
use crate::launch::{self, Decided, add_flags};
use crate::limits::{CLAUDE_RETRIES_MAX_COUNT, CLAUDE_RETRY_DELAY_MAX_SECONDS};
use crate::login::LoginFile;
use crate::models::ModelListing;
use crate::profile::{Draft, PlanInput, Profile};
use crate::roots::{self, Roots};
use crate::summary::Summariser;
use crate::{executable, options};

const CLI: Cli = Cli {
    id: "claude:print",
    program: "claude",
    options: &[ProfileOption::Continuation, ProfileOption::Effort, ProfileOption::Model],
    mechanism: ReadOnlyMechanism::ToolAllowlist,
    containment: Fence::Ours,
    help_arguments: &[],
    required_flags: &[
        "--input-format",
        "--output-format",
        "--permission-mode",
        "--permission-prompts",
        "--print",
        "--resume",
        "--session-id",
        "--tools",
        "--verbose",
    ],
    // Key-based logins, and where they are valid.
    secret_names: &[
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_AUTH_TOKEN",
        "ANTHROPIC_BASE_URL",
        "CLAUDE_CODE_OAUTH_TOKEN",
    ],
    is_conversation: options::is_uuid,
};
/// Every tool that is offered in read-only mode; none of them writes, and none is a shell.
const READ_ONLY_TOOLS: &str = "Read,Grep,Glob";
/// It passes over an effort that it does not know with a warning.
const EFFORTS: &[&str] = &["low", "medium", "high", "xhigh", "max"];
/// Directories of its own, when set.
const OWN_DIRECTORY_NAMES: &[&str] = &["CLAUDE_CONFIG_DIR", "ANTHROPIC_CONFIG_DIR"];
/// Directories in which it has one of its own.
const SHARED_DIRECTORY_NAMES: &[&str] =
    &["XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"];
/// What makes text of a brief that would be a command of the CLI.
const COMMAND_GUARD: &str = "\n";

/// The profile.
pub(crate) struct Claude;

impl Profile for Claude {
    fn description(&self) -> Description {
        CLI.description()
    }

    fn revision(&self) -> u32 {
        1
    }

    fn environment_names(&self) -> Vec<&'static str> {
        [BASE_NAMES, DESKTOP_NAMES, OWN_DIRECTORY_NAMES].concat()
    }

    fn secret_names(&self) -> &'static [&'static str] {
        CLI.secret_names
    }

    fn models(&self) -> Option<&'static dyn ModelListing> {
        Some(&models::Initialize)
    }

    fn login_file(&self) -> Option<LoginFile> {
        Some(LoginFile {
            directory_variable: OWN_DIRECTORY_NAMES[0],
            directory: ".claude",
            name: ".credentials.json",
            sign_in: "claude auth login",
        })
    }

    fn plan(&self, input: &PlanInput<'_>, host: &dyn Host) -> Result<Draft, PlanError> {
        let request = input.request;
        let permission = request.requested_config.permission;
        let options = CLI.check(request, &[Fence::Ours, Fence::None])?;
        // It trims the brief, and refuses an empty one after the launch.
        CLI.demand_text(input.brief)?;
        CLI.demand_effort(options.effort, EFFORTS)?;

        let (approval, tools) = match permission {
            Permission::ReadOnly => ("dontAsk", Some(READ_ONLY_TOOLS)),
            Permission::WorkspaceWrite => ("bypassPermissions", None),
        };
        let mut argv: Vec<String> = [
            CLI.program,
            "--print",
            "--input-format",
            "text",
            "--output-format",
            "stream-json",
            "--verbose",
            "--permission-mode",
            approval,
        ]
        .map(str::to_owned)
        .to_vec();
        let new_conversation = options.conversation.is_none().then(|| new_conversation(request));
        let flags = [
            ("--tools", tools),
            ("--permission-prompts", Some("none")),
            ("--model", options.model),
            ("--effort", options.effort),
            ("--session-id", new_conversation.as_deref()),
            ("--resume", options.conversation),
        ];
        add_flags(&mut argv, &flags);

        let mut environment = Environment::build(&self.environment_names(), request, host)?;
        let mut writable = launch::writable(host, &mut environment, options.fence, input)?;
        add_own_directories(&mut writable, &environment)?;
        let retries = retries(request.requested_config.budget.duration().as_secs());
        environment.set("CLAUDE_CODE_MAX_RETRIES", retries.to_string());
        if options.fence == Fence::Ours && permission == Permission::WorkspaceWrite {
            // Else it refuses this mode to the superuser. It is true: the fence holds it.
            environment.set("IS_SANDBOX", "1".to_owned());
        }

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
        let mut draft = CLI.draft(request, decided);
        draft.launch.stdin_prefix = input.brief.starts_with(b"/").then(|| COMMAND_GUARD.to_owned());
        draft.launch.new_conversation = new_conversation;
        draft.required_flags.extend(options.model.map(|_| "--model"));
        draft.required_flags.extend(options.effort.map(|_| "--effort"));
        Ok(draft)
    }

    fn fence_limits(&self) -> &'static [&'static str] {
        &[
            "claude and all that it starts, hooks and tool servers of its user among them, write only to its own state \
             directories, a private temporary directory and, in workspace-write, the workspace.",
            "In read-only the model is offered only tools that read, and no shell.",
            "Reading is not limited to the workspace, and the network is not limited at all.",
        ]
    }

    fn summariser(&self) -> Box<dyn Summariser> {
        Box::new(summary::ClaudeSummary::new())
    }

    fn judges(&self) -> &'static [&'static dyn Judge] {
        &[&judge::Revision1]
    }
}

/// Its own directories (providers.md 1.8). `~/.claude.json` is not among them: it is a file that may be missing and is replaced
/// by a new one beside it, which no fence of directories below the home can allow; the CLI does without.
fn add_own_directories(writable: &mut Roots<'_>, environment: &Environment) -> Result<(), PlanError> {
    let home = roots::home(environment)?;
    for name in [".claude", ".cache"] {
        writable.add(&home.join(name).expect("a plain name"))?;
    }
    for name in OWN_DIRECTORY_NAMES {
        if let Some(directory) = roots::directory(environment, name)? {
            writable.add(&directory)?;
        }
    }
    for name in SHARED_DIRECTORY_NAMES {
        if let Some(directory) = roots::directory(environment, name)? {
            writable.add(&directory.join("claude").expect("a plain name"))?;
        }
    }
    Ok(())
}

/// The id of a new conversation: known before the launch, and the same whenever the plan is made again (providers.md 4.2).
fn new_conversation(request: &Request) -> String {
    let namespace = Uuid::from_bytes(*request.root_id.bytes());
    Uuid::new_v5(&namespace, request.task_id.to_string().as_bytes()).to_string()
}

/// The most retries whose delays end within a third of the budget. A delay begins at half a second, doubles, and gets up to a
/// quarter longer by chance; a second is allowed for each request (providers.md 4.11).
fn retries(budget_seconds: u64) -> u32 {
    let third = budget_seconds as f64 / 3.0;
    let mut delay = 0.5;
    let mut needed = 1.0;
    for retries in 0..CLAUDE_RETRIES_MAX_COUNT {
        needed += delay * 1.25 + 1.0;
        if needed > third {
            return retries;
        }
        delay = (delay * 2.0).min(CLAUDE_RETRY_DELAY_MAX_SECONDS);
    }
    CLAUDE_RETRIES_MAX_COUNT
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retries_fit_in_a_third_of_the_budget() {
        for (budget, count) in
            [(0, 0), (1, 0), (7, 0), (8, 1), (60, 4), (300, 7), (600, 9), (900, 10), (86_400, 10)]
        {
            assert_eq!(retries(budget), count, "{budget}");
        }
    }
}
