//! `opencode:run`: opencode, one turn of `opencode run --format json` (providers.md 6).

mod errors;
mod judge;
mod models;
mod summary;

use record::AbsolutePath;
use record::capability::Description;
use record::words::{Fence, Permission, ProfileOption, ReadOnlyMechanism};

use crate::cli::Cli;
use crate::environment::{BASE_NAMES, Environment};
use crate::error::PlanError;
use crate::executable;
use crate::host::Host;
use crate::judge::Judge;
use crate::launch::{self, Decided, add_flags};
use crate::login::LoginFile;
use crate::models::ModelListing;
use crate::profile::{Draft, PlanInput, Profile};
use crate::roots::{self, Roots};
use crate::summary::Summariser;

const CLI: Cli = Cli {
    id: "opencode:run",
    program: "opencode",
    options: &[ProfileOption::Continuation, ProfileOption::Effort, ProfileOption::Model],
    mechanism: ReadOnlyMechanism::ToolAllowlist,
    containment: Fence::Ours,
    help_arguments: &["run"],
    required_flags: &["--agent", "--auto", "--dir", "--format", "--model", "--session", "--variant"],
    // Keys of vendors, as its own table of vendors names them.
    secret_names: &[
        "ANTHROPIC_API_KEY",
        "CEREBRAS_API_KEY",
        "DEEPSEEK_API_KEY",
        "GEMINI_API_KEY",
        "GITHUB_TOKEN",
        "GOOGLE_API_KEY",
        "GOOGLE_GENERATIVE_AI_API_KEY",
        "GROQ_API_KEY",
        "MISTRAL_API_KEY",
        "MOONSHOT_API_KEY",
        "OPENAI_API_KEY",
        "OPENCODE_API_KEY",
        "OPENROUTER_API_KEY",
        "TOGETHER_API_KEY",
        "XAI_API_KEY",
        "ZHIPU_API_KEY",
    ],
    is_conversation: is_session,
};
/// How to sign in, behind the words of an error.
const SIGN_IN: &str = " (sign in with `opencode auth login`)";
const PERMISSION_NAME: &str = "OPENCODE_PERMISSION";
/// What read-only mode denies: its own plan agent leaves the shell, and so the files, to the model. The two classes that it
/// would ask about are denied too, since a question that nobody answers ends the turn without an answer. Only denials: they
/// never loosen what the user's own configuration says.
const READ_ONLY_PERMISSION: &str = r#"{"bash":"deny","doom_loop":"deny","edit":"deny","external_directory":"deny","task":"deny","webfetch":"deny","websearch":"deny"}"#;
/// Where it keeps its own files: the variable, and the directory below the home directory that it stands for.
const OWN_DIRECTORIES: &[(&str, &str)] = &[
    ("XDG_CACHE_HOME", ".cache"),
    ("XDG_CONFIG_HOME", ".config"),
    ("XDG_DATA_HOME", ".local/share"),
    ("XDG_STATE_HOME", ".local/state"),
];
const SEARCH_NAMES: &[&str] = &["XDG_CONFIG_DIRS", "XDG_DATA_DIRS"];

/// The profile.
pub(crate) struct Opencode;

impl Profile for Opencode {
    fn description(&self) -> Description {
        CLI.description()
    }

    fn revision(&self) -> u32 {
        1
    }

    fn environment_names(&self) -> Vec<&'static str> {
        let own: Vec<_> = OWN_DIRECTORIES.iter().map(|(name, _)| *name).collect();
        [BASE_NAMES, &own, SEARCH_NAMES].concat()
    }

    fn secret_names(&self) -> &'static [&'static str] {
        CLI.secret_names
    }

    fn models(&self) -> Option<&'static dyn ModelListing> {
        Some(&models::Verbose)
    }

    fn login_file(&self) -> Option<LoginFile> {
        Some(LoginFile {
            directory_variable: "XDG_DATA_HOME",
            directory: ".local/share",
            name: "opencode/auth.json",
            sign_in: "opencode auth login",
        })
    }

    fn plan(&self, input: &PlanInput<'_>, host: &dyn Host) -> Result<Draft, PlanError> {
        let request = input.request;
        let permission = request.requested_config.permission;
        let options = CLI.check(request, &[Fence::Ours, Fence::None])?;
        // It ends with an error of its own usage.
        CLI.demand_text(input.brief)?;

        let writes = permission == Permission::WorkspaceWrite;
        let mut argv: Vec<String> =
            [CLI.program, "run", "--format", "json", "--dir"].map(str::to_owned).to_vec();
        argv.push(request.canonical_cwd.to_string());
        argv.extend(["--agent", if writes { "build" } else { "plan" }].map(str::to_owned));
        add_flags(&mut argv, &[("--model", options.model), ("--variant", options.effort)]);
        argv.extend(writes.then(|| "--auto".to_owned()));
        add_flags(&mut argv, &[("--session", options.conversation)]);

        let mut environment = Environment::build(&self.environment_names(), request, host)?;
        if !writes {
            environment.set(PERMISSION_NAME, READ_ONLY_PERMISSION.to_owned());
        }
        let mut writable = launch::writable(host, &mut environment, options.fence, input)?;
        add_own_directories(&mut writable, &environment)?;

        let executable = executable::find(host, CLI.program, None)?;
        let decided = Decided {
            executable,
            argv,
            environment,
            fence: options.fence,
            approval: if writes { "auto" } else { "deny" },
            writable,
            judge: &judge::Revision1,
        };
        Ok(CLI.draft(request, decided))
    }

    fn fence_limits(&self) -> &'static [&'static str] {
        &[
            "Our write fence limits opencode and all that it starts to the workspace (in workspace-write), its own state and \
             configuration, the user's caches and a private temporary directory.",
            "In read-only its tools that edit, run commands, fetch pages or start other agents are denied as well.",
            "Reading and the network are not limited.",
        ]
    }

    fn summariser(&self) -> Box<dyn Summariser> {
        Box::new(summary::OpencodeSummary::new())
    }

    fn judges(&self) -> &'static [&'static dyn Judge] {
        &[&judge::Revision1]
    }
}

/// Its state and configuration, and the user's caches. `~/.opencode` is left out: programs that it installed for its user lie
/// there.
fn add_own_directories(writable: &mut Roots<'_>, environment: &Environment) -> Result<(), PlanError> {
    let home = roots::home(environment)?;
    let below = |directory: &AbsolutePath, name: &str| directory.join(name).expect("a plain name");
    writable.add(&below(&home, ".cache"))?;
    for (variable, default) in OWN_DIRECTORIES {
        let directory = match roots::directory(environment, variable)? {
            Some(directory) => directory,
            None => default.split('/').fold(home.clone(), |directory, name| below(&directory, name)),
        };
        writable.add(&below(&directory, CLI.program))?;
    }
    Ok(())
}

/// The shape of its conversation ids (providers.md 6.2).
fn is_session(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let rest = text.strip_prefix("ses_").unwrap_or_default();
    (1..=124).contains(&rest.len()) && rest.bytes().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_have_one_shape() {
        for right in
            ["ses_a", "ses_dd42ec05dffeOw10Pa49URV9gH", "ses_-_", &format!("ses_{}", "a".repeat(124))]
        {
            assert!(is_session(right), "{right}");
        }
        for wrong in [
            "",
            "ses_",
            "ses_a b",
            "ses_é",
            "ses_a\n",
            "--continue",
            "last",
            &format!("ses_{}", "a".repeat(125)),
        ] {
            assert!(!is_session(wrong), "{wrong}");
        }
    }
}
