//! How the vendor's program is started, and whether a program can be started so (runners.md 4.2, 4.3).

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use process::Fence;

use super::home::{Home, SandboxProfile, VENDOR};
use super::lane::Lane;
use super::limits::{PROBE_MAX_SECONDS, TURNS_MAX_COUNT};
use super::{EFFORT, GROK};
use crate::common::ask::{Said, ask};
use crate::common::child::{KILL_GRACE, Launch, NewFiles};
use crate::common::exit::Refusal;
use crate::common::program::{Call, Stop};
use crate::common::run_directory::RunDirectory;

/// What the agent never edits, whatever else it may: its own bounds, its login and what attests its sandbox.
const NEVER_EDITED: [&str; 4] = ["config.toml", "sandbox.toml", "auth.json", "sandbox-events.jsonl"];

/// The arguments of a run.
pub(super) fn arguments(lane: Lane, prompt_file: &Path, profile: &SandboxProfile) -> Vec<OsString> {
    let turns = TURNS_MAX_COUNT.to_string();
    let mut arguments: Vec<OsString> = vec!["--prompt-file".into(), prompt_file.into()];
    let mut words = vec!["--model", GROK.model, "--reasoning-effort", EFFORT, "--permission-mode", "dontAsk"];
    words.extend(["--sandbox", &profile.name, "--output-format", "json", "--no-memory", "--no-subagents"]);
    words.extend(["--disable-web-search", "--no-auto-update", "--tools", lane.tools()]);
    if lane.edits() {
        words.extend(["--allow", "Edit(**)"]);
    }
    words.extend(["--max-turns", &turns]);
    arguments.extend(words.into_iter().map(OsString::from));
    for name in NEVER_EDITED {
        arguments.extend(["--deny".into(), format!("Edit(**/{VENDOR}/{name})").into()]);
    }
    arguments
}

/// Asks one program in one home.
#[derive(Debug)]
pub(super) struct Asker<'a> {
    pub(super) call: &'a Call<'a>,
    pub(super) program: &'a Path,
    pub(super) home: &'a Home,
    pub(super) run_directory: &'a RunDirectory,
}

impl Asker<'_> {
    /// One question, named for its reason, asked in a directory.
    pub(super) fn ask<S: Into<OsString>>(
        &self,
        name: &str,
        words: impl IntoIterator<Item = S>,
        directory: &Path,
    ) -> Result<Said, Stop> {
        let launch = Launch {
            name,
            program: self.program,
            arguments: words.into_iter().map(Into::into).collect(),
            environment: self.home.environment(self.call.surroundings)?,
            directory,
            stdin: b"",
            fence: Fence::None,
            limit: Duration::from_secs(PROBE_MAX_SECONDS),
            grace: KILL_GRACE,
            new_files: NewFiles::Private,
        };
        ask(launch, self.run_directory, self.call)
    }
}

/// Whether a program takes everything that a run in a lane says to it. It is asked with an empty home and sends nothing.
///
/// The inner error names what it lacks.
pub(super) fn examine(call: &Call<'_>, program: &Path, lane: Lane) -> Result<Result<(), String>, Stop> {
    let run_directory = RunDirectory::create(call.family)?;
    let home = Home::empty("home", &run_directory)?;
    let prompt: PathBuf = run_directory
        .file("prompt.md", b"")
        .map_err(|error| Refusal::unavailable(format!("no private file can be made: {error}")))?;
    let asker = Asker { call, program, home: &home, run_directory: &run_directory };
    let lacks = |what: &str| Ok(Err(format!("{} lacks the required interface: {what}", program.display())));
    let mut words = arguments(lane, &prompt, &SandboxProfile::of(lane, &run_directory));
    words.push("--help".into());
    if !answers(asker.ask("interface", words, &home.scratch))?.is_success {
        return lacks("the flags of a run");
    }
    let help = answers(asker.ask("help", ["--help"], &home.scratch))?;
    for command in ["models", "inspect"] {
        let is_named = help.all().split(|c: char| !c.is_ascii_alphanumeric()).any(|word| word == command);
        if !help.is_success || !is_named {
            return lacks(command);
        }
        let own = answers(asker.ask(command, [command, "--help"], &home.scratch))?;
        if !own.is_success {
            return lacks(&format!("{command} --help"));
        }
        if command == "inspect" && !own.all().contains("--json") {
            return lacks("inspect --json");
        }
    }
    Ok(Ok(()))
}

/// A program that can not even be started answers nothing.
fn answers(said: Result<Said, Stop>) -> Result<Said, Stop> {
    match said {
        Err(Stop::Refused(_)) => Ok(Said::default()),
        other => other,
    }
}
