//! The command line and the environment of Claude Code (runners.md 2.3, 2.4).

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

use super::{BUILDER, GLM};
use crate::common::environment::ChildEnvironment;
use crate::common::exit::Refusal;
use crate::common::key::Key;
use crate::common::run_directory::RunDirectory;
use crate::common::surroundings::Surroundings;

/// The alias that the environment maps to the pinned model.
const ALIAS: &str = "opus";
const REQUEST_MAX_MILLISECONDS: &str = "3000000";
/// What would bring in another account, another model or another service.
const ABSENT: &[&str] = &[
    "ANTHROPIC_API_KEY",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "ZAI_API_KEY",
    "ANTHROPIC_MODEL",
    "ANTHROPIC_CUSTOM_HEADERS",
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_VERTEX",
    "CLAUDE_CODE_USE_FOUNDRY",
];
/// The other aliases and the model of subagents: the pin too, for a run has one model.
const FURTHER_ALIASES: &[&str] =
    &["ANTHROPIC_DEFAULT_HAIKU_MODEL", "ANTHROPIC_DEFAULT_SONNET_MODEL", "CLAUDE_CODE_SUBAGENT_MODEL"];

/// The directories of one run that Claude Code may write.
#[derive(Clone, Debug)]
pub(super) struct Private {
    pub(super) configuration: PathBuf,
    pub(super) home: PathBuf,
    pub(super) temporary: PathBuf,
}

impl Private {
    /// Makes them.
    ///
    /// # Errors
    /// Those of the file system.
    pub(super) fn make(run_directory: &RunDirectory) -> io::Result<Self> {
        Ok(Self {
            configuration: run_directory.directory("configuration")?,
            home: run_directory.directory("home")?,
            temporary: run_directory.directory("temporary")?,
        })
    }

    pub(super) fn all(&self) -> Vec<PathBuf> {
        vec![self.configuration.clone(), self.home.clone(), self.temporary.clone()]
    }

    /// Names the configuration and the temporary directory, where nothing else may be written.
    pub(super) fn name_in(&self, environment: &mut ChildEnvironment) {
        environment.set("CLAUDE_CONFIG_DIR", &self.configuration);
        for name in ["TMPDIR", "BUN_TMPDIR", "CLAUDE_TMPDIR", "CLAUDE_CODE_TMPDIR"] {
            environment.set(name, &self.temporary);
        }
    }
}

/// What the command line holds beside the fixed words.
#[derive(Clone, Debug)]
pub(super) struct Order<'a> {
    pub(super) lane: &'a str,
    pub(super) effort: &'a str,
    /// In US dollars.
    pub(super) budget: &'a str,
    /// The compiled schema of the answer.
    pub(super) schema: Option<&'a str>,
}

/// The permission mode of a lane.
pub(super) fn permission_mode(lane: &str) -> &'static str {
    if lane == BUILDER { "acceptEdits" } else { "plan" }
}

pub(super) fn arguments(order: &Order<'_>) -> Vec<OsString> {
    let mut words = vec!["-p", "--model", ALIAS, "--effort", order.effort];
    words.extend(["--permission-mode", permission_mode(order.lane), "--setting-sources", ""]);
    words.extend(["--strict-mcp-config", "--output-format", "stream-json", "--verbose"]);
    words.push("--no-session-persistence");
    words.extend(order.schema.iter().flat_map(|schema| ["--json-schema", schema]));
    words.extend(["--max-budget-usd", order.budget]);
    words.into_iter().map(OsString::from).collect()
}

/// The environment of an ordinary run: the user's allow-list, without any other account.
///
/// # Errors
/// 64: the user lets a variable pass that none may.
pub(super) fn environment(
    private: &Private,
    base_url: &str,
    key: &Key,
    surroundings: &Surroundings,
) -> Result<ChildEnvironment, Refusal> {
    let mut environment = ChildEnvironment::of_user(surroundings)?;
    ABSENT.iter().for_each(|name| environment.remove(name));
    FURTHER_ALIASES.iter().for_each(|name| environment.set(name, GLM.model));
    name_service(&mut environment, private, base_url, key);
    Ok(environment)
}

/// The environment of an evaluation: nothing of the user's but name and language.
pub(super) fn evaluation_environment(
    private: &Private,
    base_url: &str,
    key: &Key,
    surroundings: &Surroundings,
) -> ChildEnvironment {
    let mut environment = ChildEnvironment::nothing();
    environment.set("PATH", "/usr/bin:/bin");
    environment.set("LANG", surroundings.variable("LANG").unwrap_or_else(|| "C.UTF-8".into()));
    if let Some(user) = surroundings.variable("USER") {
        environment.set("USER", user);
    }
    for name in ["NO_COLOR", "CI", "CLAUDE_CODE_SIMPLE"] {
        environment.set(name, "1");
    }
    environment.set("HOME", &private.home);
    name_service(&mut environment, private, base_url, key);
    environment
}

fn name_service(environment: &mut ChildEnvironment, private: &Private, base_url: &str, key: &Key) {
    private.name_in(environment);
    environment.set("ANTHROPIC_AUTH_TOKEN", key.expose());
    environment.set("ANTHROPIC_BASE_URL", base_url);
    environment.set("ANTHROPIC_DEFAULT_OPUS_MODEL", GLM.model);
    environment.set("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
    environment.set("API_TIMEOUT_MS", REQUEST_MAX_MILLISECONDS);
}
