//! Whether a run could be made now (runners.md 4.2). Each step fails with its own reason.

use std::path::Path;

use serde_json::Value;

use super::GROK;
use super::binary::{self, Binary};
use super::home::{Home, SandboxProfile};
use super::interface::Asker;
use super::knobs::Knobs;
use super::lane::Lane;
use super::{endpoints, login};
use crate::common::ask::{Said, version_of};
use crate::common::exit::Refusal;
use crate::common::login::{Login, LoginMode, kept_of_probes};
use crate::common::program::{Call, Stop};
use crate::common::run_directory::RunDirectory;

/// What a run needs and was seen to work.
#[derive(Clone, Debug)]
pub(super) struct Runtime {
    pub(super) binary: Binary,
    /// What the program calls its version, where it says one. Recorded and never compared.
    pub(super) cli_version: Option<String>,
}

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted<'a> {
    pub(super) lane: Lane,
    pub(super) mode: LoginMode,
    /// The sandbox profile of the run.
    pub(super) profile: &'a SandboxProfile,
    /// Of a run, since a workspace can bring its own configuration.
    pub(super) workdir: Option<&'a Path>,
}

/// Takes the right to the login, which the run goes on with, then asks everything. What the program refreshes meanwhile is kept.
///
/// # Errors
/// 69 with the first thing that is missing; 75: another run has the login, of whose program nothing is started then.
pub(super) fn probe(call: &Call<'_>, knobs: &Knobs, wanted: Wanted<'_>) -> Result<(Runtime, Login), Stop> {
    endpoints::demand_no_link(knobs, call.surroundings)?;
    let found = binary::find(call, knobs)?;
    let login = login::begin(wanted.mode, knobs, wanted.profile)?;
    let binary = binary::choose(call, found, wanted.lane)?;
    let run_directory = RunDirectory::create(call.family)?;
    let home = Home::build(wanted.profile, &run_directory)?;
    let (placed, home) = login::put(&login, knobs, home)?;
    let asker = Asker { call, program: &binary.path, home: &home, run_directory: &run_directory };
    let asked = ask_all(&asker, wanted.workdir);
    let cli_version = kept_of_probes(asked, placed.keep(), &login::KIND, call.family)?;
    Ok((Runtime { cli_version, binary }, login))
}

fn ask_all(asker: &Asker<'_>, workdir: Option<&Path>) -> Result<Option<String>, Stop> {
    let unavailable = |why: String| Stop::from(Refusal::unavailable(why));
    let scratch = &asker.home.scratch;
    let version = asker.ask("version", ["--version"], scratch)?;
    let models = asker.ask("models", ["models"], scratch)?;
    let said = models.all().to_lowercase();
    if !models.is_success || !said.contains("logged in with grok.com") || said.contains("not logged in") {
        return Err(
            Refusal::login("grok does not show a login with grok.com; sign in with: grok login").into()
        );
    }
    if !names(&models.stdout, GROK.model) {
        return Err(unavailable(format!("grok does not list the model {}", GROK.model)));
    }
    demand_clean(&asker.ask("inspect", ["inspect", "--json"], scratch)?, "its private home")?;
    if let Some(workdir) = workdir {
        demand_clean(&asker.ask("inspect-workspace", ["inspect", "--json"], workdir)?, "the workspace")?;
    }
    Ok(version.is_success.then(|| version_of(&version.stdout)).flatten())
}

/// Whether a text holds a model's name as a word of its own.
fn names(text: &str, model: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | '/' | ':');
    text.split(|c: char| !is_part(c)).any(|word| word == model)
}

/// Demands that nothing is plugged in.
fn demand_clean(said: &Said, place: &str) -> Result<(), Stop> {
    let document: Value = serde_json::from_str(&said.stdout).unwrap_or_default();
    for pointer in ["/mcpServers", "/plugins", "/permissions/sources", "/hooks"] {
        let is_empty = match document.pointer(pointer) {
            Some(Value::Array(found)) => found.is_empty(),
            Some(Value::Object(found)) => found.is_empty(),
            _ => false,
        };
        if !said.is_success || !is_empty {
            let what = pointer.trim_start_matches('/').replace('/', ".");
            let why = format!("isolation contaminated: grok inspect does not show empty {what} in {place}");
            return Err(Refusal::unavailable(why).into());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::names;

    #[test]
    fn only_the_exact_model_is_named() {
        for (text, expected) in [
            ("Available models:\n  * grok-4.6 (default)\n", true),
            ("- grok-4.6\n", true),
            ("grok-4.6-build\n", false),
            ("xgrok-4.6\n", false),
            ("grok-4\n", false),
        ] {
            assert_eq!(names(text, "grok-4.6"), expected, "{text}");
        }
    }
}
