//! Whether a run could be made now (runners.md 6). Every probe runs in the home and behind the fence of a run.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use super::confinement::fence;
use super::home::Home;
use super::limits::PROBE_MAX_SECONDS;
use super::runtime_model;
use crate::common::ask::{Said, ask};
use crate::common::child::{KILL_GRACE, Launch, NewFiles};
use crate::common::exit::Refusal;
use crate::common::program::{Call, Stop};
use crate::common::run_directory::RunDirectory;
use crate::common::sandbox;

/// What its help must name.
const FLAGS: [&str; 6] = ["--print", "--model", "--effort", "--mode", "--print-timeout", "--sandbox"];
/// What it says where no plugin is imported, in the two forms that are known.
const NO_PLUGINS: [&str; 2] = ["no imported plugins", "no imported plugins found"];

/// What a run needs and was seen to work.
#[derive(Clone, Debug)]
pub(super) struct Runtime {
    /// The real file of the vendor's program.
    pub(super) agy: PathBuf,
    /// The user's home directory, without symbolic links.
    pub(super) user_home: PathBuf,
}

/// Asks everything; the models of all `efforts` must be listed.
///
/// # Errors
/// 69 with the first thing that is missing.
pub(super) fn probe(call: &Call<'_>, efforts: &[&str]) -> Result<Runtime, Stop> {
    let unavailable = |why: String| Stop::from(Refusal::unavailable(why));
    let agy = call.surroundings.find_program("agy");
    let agy = agy.ok_or_else(|| unavailable("agy is not on PATH".to_owned()))?;
    sandbox::demand()?;
    let user_home = call.surroundings.variable("HOME").map(PathBuf::from);
    let user_home = user_home.and_then(|home| home.canonicalize().ok()).filter(|home| home.is_dir());
    let user_home = user_home.ok_or_else(|| unavailable("HOME names no directory".to_owned()))?;
    let runtime = Runtime { agy, user_home };
    let run_directory = RunDirectory::create(call.family)?;
    let model = runtime_model(efforts.first().unwrap_or(&"high"));
    let home = Home::build(&runtime.user_home, &model, &run_directory)?;
    let prober = Prober { call, runtime: &runtime, home: &home, run_directory: &run_directory };
    let help = prober.ask("help", &["--help"])?;
    let help = help.all();
    let is_named = |flag: &&str| help.split(|c: char| !is_flag_character(c)).any(|word| word == *flag);
    if let Some(flag) = FLAGS.iter().find(|flag| !is_named(flag)) {
        return Err(unavailable(format!("agy does not offer {flag}")));
    }
    let plugins = prober.ask("plugins", &["plugin", "list"])?;
    let said = plugins.stdout.trim().trim_end_matches('.').to_lowercase();
    if !plugins.is_success || !NO_PLUGINS.contains(&said.as_str()) {
        return Err(unavailable("agy does not show that no plugin is imported".to_owned()));
    }
    let models = prober.ask("models", &["models"])?;
    if !models.is_success {
        return Err(Refusal::login("agy shows no models; sign in by running agy").into());
    }
    for effort in efforts {
        let id = runtime_model(effort);
        if !lists(&models.stdout, &id) {
            let why = format!("agy models does not list {id}; sign in by running agy");
            return Err(Refusal::login(why).into());
        }
    }
    Ok(runtime)
}

const fn is_flag_character(character: char) -> bool {
    character.is_ascii_alphanumeric() || character == '-'
}

/// Whether a line is the id, alone or before a tab.
fn lists(text: &str, id: &str) -> bool {
    text.lines().any(|line| line.split('\t').next().is_some_and(|first| first.trim_end_matches('\r') == id))
}

struct Prober<'a> {
    call: &'a Call<'a>,
    runtime: &'a Runtime,
    home: &'a Home,
    run_directory: &'a RunDirectory,
}

impl Prober<'_> {
    fn ask(&self, name: &str, arguments: &[&str]) -> Result<Said, Stop> {
        let fence = fence(&self.runtime.user_home, &self.runtime.agy, self.home, self.run_directory);
        let launch = Launch {
            name,
            program: &self.runtime.agy,
            arguments: arguments.iter().map(OsString::from).collect(),
            environment: self.home.environment(self.call.surroundings)?,
            directory: &self.home.workspace,
            stdin: b"",
            fence: fence.map_err(Refusal::sandbox)?,
            limit: Duration::from_secs(PROBE_MAX_SECONDS),
            grace: KILL_GRACE,
            new_files: NewFiles::Private,
        };
        ask(launch, self.run_directory, self.call)
    }
}

#[cfg(test)]
mod tests {
    use super::lists;

    #[test]
    fn only_the_exact_id_is_listed() {
        let id = "gemini-3.7-flash-high";
        for (text, expected) in [
            ("gemini-3.7-flash-high\n", true),
            ("other\ngemini-3.7-flash-high\tGemini 3.7 Flash (High)\n", true),
            ("gemini-3.7-flash-high-preview\tx\n", false),
            ("gemini-3.7-flash-medium\tx\n", false),
            ("other\tgemini-3.7-flash-high\n", false),
            ("other gemini-3.7-flash-high\n", false),
            ("", false),
        ] {
            assert_eq!(lists(text, id), expected, "{text}");
        }
    }
}
