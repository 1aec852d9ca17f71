//! `pin-rg` (runners.md 3.3): archives one ripgrep.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use process::Fence;

use super::knobs::Knobs;
use super::limits::{PROBE_MAX_SECONDS, RIPGREP_MAX_BYTES};
use super::ripgrep::{self, PROGRAM, Ripgrep};
use crate::common::ask::{Said, ask};
use crate::common::child::{KILL_GRACE, Launch, NewFiles};
use crate::common::environment::ChildEnvironment;
use crate::common::exit::{Exit, Refusal};
use crate::common::files::{exists, read_regular};
use crate::common::line;
use crate::common::pin::{Line, Store};
use crate::common::program::{Call, Done, Stop};
use crate::common::run_directory::RunDirectory;

pub(super) fn pin(call: &Call<'_>, words: &[OsString]) -> Result<Done, Refusal> {
    let Some(line) = Line::parse(words)? else { return Ok(Done::Text(line::usage(call.family))) };
    let knobs = Knobs::of(call.surroundings)?;
    let source = match line.named()? {
        Some(source) => source,
        None => call
            .surroundings
            .find_program(PROGRAM)
            .ok_or_else(|| Refusal::unavailable("no rg is on PATH; name one with --from"))?,
    };
    let run_directory = RunDirectory::create(call.family)?;
    let failed = |why: String| Refusal::new(Exit::Failed, format!("ripgrep is not pinned: {why}"));
    let bytes = read_regular(&source, RIPGREP_MAX_BYTES).map_err(|error| failed(error.to_string()))?;
    let version_line = version_line(call, &run_directory, &source)?;
    let store = Store::open(&knobs.ripgrep_store)?;
    let current = store.current();
    // Its libraries are those that it finds from where it will lie.
    let place = current.join(PROGRAM);
    let usable = |why: String| Refusal::usage(format!("{} can not be pinned: {why}", source.display()));
    let candidate = Ripgrep::examine(&place, bytes, version_line).map_err(usable)?;
    candidate.demand_libraries_outside(&knobs.user_home).map_err(usable)?;
    if exists(&current) {
        if ripgrep::verified(store.path(), &knobs.user_home).is_ok_and(|pinned| pinned == candidate) {
            return Ok(Done::Text(format!("{} is already pinned\n", candidate.version_line)));
        }
        if ripgrep::claimed(store.path()) != Some(candidate.sha256) && !line.force {
            return Err(Refusal::usage("another ripgrep is pinned; --force replaces it"));
        }
    }
    let staged = store.stage().map_err(|error| failed(error.to_string()))?;
    candidate.archive(staged.path()).map_err(failed)?;
    store.put(&staged).map_err(|error| failed(error.to_string()))?;
    match ripgrep::verified(store.path(), &knobs.user_home) {
        Ok(pinned) if pinned == candidate => {
            Ok(Done::Text(format!("{} is pinned, sha256 {}\n", candidate.version_line, candidate.sha256)))
        }
        Ok(_) => Err(failed("the archive holds another".to_owned())),
        Err(why) => Err(failed(why)),
    }
}

/// What the program says of itself, in an environment that tells it nothing.
fn version_line(call: &Call<'_>, run_directory: &RunDirectory, program: &Path) -> Result<String, Refusal> {
    let launch = Launch {
        name: "version",
        program,
        arguments: vec!["--version".into()],
        environment: ChildEnvironment::nothing(),
        directory: run_directory.path(),
        stdin: b"",
        fence: Fence::None,
        limit: Duration::from_secs(PROBE_MAX_SECONDS),
        grace: KILL_GRACE,
        new_files: NewFiles::Private,
    };
    let said = match ask(launch, run_directory, call) {
        Ok(said) => said,
        Err(Stop::Interrupted(_)) => return Err(Refusal::new(Exit::Cancelled, "cancelled")),
        Err(Stop::Refused(_)) => Said::default(),
    };
    let line = said.stdout.lines().next().unwrap_or_default();
    if said.is_success && ripgrep::is_version(line) {
        return Ok(line.to_owned());
    }
    Err(Refusal::usage(format!("{} is no ripgrep", program.display())))
}
