//! `codex:exec`: the Codex CLI, one turn of `codex exec --json` (providers.md 3).

mod errors;
mod judge;
mod models;
mod summary;

use record::capability::Description;
use record::words::{Fence, ProfileOption, ReadOnlyMechanism};

use crate::cli::Cli;
use crate::environment::{BASE_NAMES, CACHE_NAMES, DESKTOP_NAMES, Environment};
use crate::error::PlanError;
use crate::executable::{self, Native};
use crate::host::Host;
use crate::judge::Judge;
use crate::launch::{self, Decided, add_flags};
use crate::limits::CODEX_BRIEF_MAX_CHARACTERS;
use crate::login::LoginFile;
use crate::models::ModelListing;
use crate::options;
use crate::profile::{Draft, PlanInput, Profile};
use crate::roots;
use crate::summary::Summariser;

const CLI: Cli = Cli {
    id: "codex:exec",
    program: "codex",
    options: &[ProfileOption::Continuation, ProfileOption::Effort, ProfileOption::Model],
    mechanism: ReadOnlyMechanism::NativeSandbox,
    containment: Fence::Theirs,
    help_arguments: &["exec"],
    required_flags: &[
        "--cd",
        "--color",
        "--json",
        "--output-last-message",
        "--sandbox",
        "--skip-git-repo-check",
        "-c",
    ],
    secret_names: &["CODEX_API_KEY", "OPENAI_API_KEY"],
    is_conversation: options::is_uuid,
};
/// How to sign in, behind the words of an error.
const SIGN_IN: &str = " (sign in with `codex login`)";
/// Where the CLI leaves its last message, in the output directory.
const LAST_MESSAGE: &str = "codex-last-message.txt";
const HOME_NAME: &str = "CODEX_HOME";

/// The profile.
pub(crate) struct Codex;

impl Profile for Codex {
    fn description(&self) -> Description {
        CLI.description()
    }

    fn revision(&self) -> u32 {
        1
    }

    fn environment_names(&self) -> Vec<&'static str> {
        [BASE_NAMES, DESKTOP_NAMES, CACHE_NAMES, &[HOME_NAME]].concat()
    }

    fn secret_names(&self) -> &'static [&'static str] {
        CLI.secret_names
    }

    fn models(&self) -> Option<&'static dyn ModelListing> {
        Some(&models::Debug)
    }

    fn login_file(&self) -> Option<LoginFile> {
        Some(LoginFile {
            directory_variable: HOME_NAME,
            directory: ".codex",
            name: "auth.json",
            sign_in: "codex login",
        })
    }

    fn plan(&self, input: &PlanInput<'_>, host: &dyn Host) -> Result<Draft, PlanError> {
        let request = input.request;
        let permission = request.requested_config.permission;
        let options = CLI.check(request, &[Fence::Theirs, Fence::Ours, Fence::None])?;
        check_brief(input.brief).map_err(|why| CLI.invalid_brief(why))?;
        // Its own sandbox can not start inside our fence. Where nobody relies on a fence it is used all the same.
        let sandbox = match options.fence {
            Fence::Ours => "danger-full-access",
            Fence::Theirs | Fence::None => permission.as_str(),
        };
        let last_message = input.output_directory.join(LAST_MESSAGE).expect("a plain name");

        let mut argv: Vec<String> = [
            CLI.program,
            "exec",
            "--json",
            "--color",
            "never",
            "--skip-git-repo-check",
            "--sandbox",
            sandbox,
        ]
        .map(str::to_owned)
        .to_vec();
        // Without the second setting it waits for a network without end.
        for setting in ["approval_policy=\"never\"", "features.unbounded_connection_retries=false"] {
            argv.extend(["-c".to_owned(), setting.to_owned()]);
        }
        add_flags(&mut argv, &[("--model", options.model)]);
        if let Some(effort) = options.effort {
            argv.extend(["-c".to_owned(), format!("model_reasoning_effort={}", toml_string(effort))]);
        }
        argv.extend(["--cd".to_owned(), request.canonical_cwd.to_string()]);
        argv.extend(["--output-last-message".to_owned(), last_message.to_string()]);
        // Its options count only before the word `resume`.
        if let Some(conversation) = options.conversation {
            argv.extend(["resume".to_owned(), conversation.to_owned()]);
        }
        argv.push("-".to_owned());

        let mut environment = Environment::build(&self.environment_names(), request, host)?;
        let home = roots::home(&environment)?;
        let mut writable = launch::writable(host, &mut environment, options.fence, input)?;
        match roots::directory(&environment, HOME_NAME)? {
            Some(directory) => writable.add(&directory)?,
            None => writable.add(&home.join(".codex").expect("a plain name"))?,
        }
        writable.add_variables(&environment, CACHE_NAMES)?;
        if options.fence != Fence::Ours {
            writable.add_variables(&environment, &["XDG_CACHE_HOME", "XDG_RUNTIME_DIR"])?;
        }

        let executable = executable::find(host, CLI.program, native().as_ref())?;
        let decided = Decided {
            executable,
            argv,
            environment,
            fence: options.fence,
            approval: "never",
            writable,
            judge: &judge::Revision1,
        };
        let mut draft = CLI.draft(request, decided);
        draft.launch.output_artifacts.push(LAST_MESSAGE.to_owned());
        draft.required_flags.extend(options.model.map(|_| "--model"));
        Ok(draft)
    }

    fn fence_limits(&self) -> &'static [&'static str] {
        &[
            "codex's own sandbox limits what the model's commands and patches write, and keeps them off the network; codex itself, \
             its hooks and its login shell run outside of it.",
            "In workspace-write its sandbox also allows writing to the temporary directories.",
            "Reading is not limited to the workspace.",
        ]
    }

    fn summariser(&self) -> Box<dyn Summariser> {
        Box::new(summary::CodexSummary::new())
    }

    fn judges(&self) -> &'static [&'static dyn Judge] {
        &[&judge::Revision1]
    }
}

/// What the CLI itself would refuse after the launch (providers.md 3.9).
fn check_brief(brief: &[u8]) -> Result<(), String> {
    let text = std::str::from_utf8(brief)
        .map_err(|error| format!("it is not UTF-8 after byte {}", error.valid_up_to()))?;
    if text.trim().is_empty() {
        return Err("it is blank".to_owned());
    }
    if text.chars().count() > CODEX_BRIEF_MAX_CHARACTERS {
        return Err(format!("it has more than {CODEX_BRIEF_MAX_CHARACTERS} characters"));
    }
    Ok(())
}

/// A basic string of TOML; control characters were refused before.
fn toml_string(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// The program that the npm package's wrapper starts: in a package of its own, or in older versions in the wrapper's.
fn native() -> Option<Native> {
    let (platform, processor, target) = executable::node_platform()?;
    let files = [format!("vendor/{target}/bin/codex"), format!("vendor/{target}/codex/codex")];
    let in_own = files.iter().map(|file| format!("@openai/codex-{platform}-{processor}/{file}"));
    Some(Native { package: "@openai/codex", below_modules: in_own.collect(), below_package: files.to_vec() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn briefs_that_the_cli_would_refuse() {
        assert_eq!(check_brief("é".repeat(CODEX_BRIEF_MAX_CHARACTERS).as_bytes()), Ok(()));
        assert_eq!(check_brief(b"/looks like a command"), Ok(()));
        assert_eq!(check_brief(b"ab\xff"), Err("it is not UTF-8 after byte 2".to_owned()));
        for brief in [&b""[..], b" \r\n\t", "x".repeat(CODEX_BRIEF_MAX_CHARACTERS + 1).as_bytes()] {
            assert!(check_brief(brief).is_err());
        }
    }

    #[test]
    fn effort_is_quoted() {
        assert_eq!(toml_string(r#"a"b\c"#), r#""a\"b\\c""#);
    }
}
