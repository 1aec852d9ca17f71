//! `pin-rg` (runners.md 3.3): archives one ripgrep.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use process::Fence;

use super::files::{exists, read_regular, swap};
use super::knobs::Knobs;
use super::limits::{PIN_WAIT_SECONDS, PROBE_MAX_SECONDS, RIPGREP_MAX_BYTES};
use super::ripgrep::{self, PROGRAM, Ripgrep};
use crate::common::child::{self, KILL_GRACE, Launch, NewFiles};
use crate::common::environment::ChildEnvironment;
use crate::common::exit::{Exit, Refusal};
use crate::common::line;
use crate::common::lock::{Lock, LockError};
use crate::common::program::{Call, Done};
use crate::common::run_directory::RunDirectory;
use crate::common::surroundings::executable_file;

/// The words behind `pin-rg`.
#[derive(Default)]
struct Line {
    from: Option<PathBuf>,
    force: bool,
}

pub(super) fn pin(call: &Call<'_>, words: &[OsString]) -> Result<Done, Refusal> {
    let Some(line) = parse(words)? else { return Ok(Done::Text(line::usage(call.family))) };
    let knobs = Knobs::of(call.surroundings)?;
    let store = &knobs.ripgrep_store;
    let source = source(call, line.from.as_deref())?;
    let run_directory = RunDirectory::create(call.family)?;
    let failed = |why: String| Refusal::new(Exit::Failed, format!("ripgrep is not pinned: {why}"));
    let bytes = read_regular(&source, RIPGREP_MAX_BYTES).map_err(|error| failed(error.to_string()))?;
    let version_line = version_line(call, &run_directory, &source)?;
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(store)
        .map_err(|error| failed(format!("{}: {error}", store.display())))?;
    let _lock = lock(store)?;
    let store = &store.canonicalize().map_err(|error| failed(error.to_string()))?;
    // Its libraries are those that it finds from where it will lie.
    let place = ripgrep::current(store).join(PROGRAM);
    let usable = |why: String| Refusal::usage(format!("{} can not be pinned: {why}", source.display()));
    let candidate = Ripgrep::examine(&place, bytes, version_line).map_err(usable)?;
    candidate.demand_libraries_outside(&knobs.user_home).map_err(usable)?;
    if exists(&ripgrep::current(store)) {
        if ripgrep::verified(store, &knobs.user_home).is_ok_and(|pinned| pinned == candidate) {
            return Ok(Done::Text(format!("{} is already pinned\n", candidate.version_line)));
        }
        if ripgrep::claimed(store) != Some(candidate.sha256) && !line.force {
            return Err(Refusal::usage("another ripgrep is pinned; --force replaces it"));
        }
    }
    let staged = tempfile::Builder::new().prefix(".staged.").tempdir_in(store);
    let staged = staged.map_err(|error| failed(error.to_string()))?;
    candidate.archive(staged.path()).map_err(failed)?;
    swap(staged.path(), &ripgrep::current(store)).map_err(|error| failed(error.to_string()))?;
    match ripgrep::verified(store, &knobs.user_home) {
        Ok(pinned) if pinned == candidate => {
            Ok(Done::Text(format!("{} is pinned, sha256 {}\n", candidate.version_line, candidate.sha256)))
        }
        Ok(_) => Err(failed("the archive holds another".to_owned())),
        Err(why) => Err(failed(why)),
    }
}

/// Accepts the words behind the command.
///
/// # Errors
/// 64.
pub(super) fn check(words: &[OsString]) -> Result<(), Refusal> {
    parse(words).map(drop)
}

fn parse(words: &[OsString]) -> Result<Option<Line>, Refusal> {
    let mut line = Line::default();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.to_str() {
            Some("-h" | "--help") => return Ok(None),
            Some("--force") if !line.force => line.force = true,
            Some("--from") if line.from.is_none() => {
                let value = words.next().ok_or_else(|| Refusal::usage("--from needs a value"))?;
                line.from = Some(value.into());
            }
            _ => return Err(Refusal::usage(format!("unknown argument {}", word.to_string_lossy()))),
        }
    }
    Ok(Some(line))
}

/// The real file of the ripgrep that is meant.
fn source(call: &Call<'_>, from: Option<&Path>) -> Result<PathBuf, Refusal> {
    match from {
        Some(path) => executable_file(path)
            .ok_or_else(|| Refusal::usage(format!("{} is no executable file", path.display()))),
        None => call
            .surroundings
            .find_program(PROGRAM)
            .ok_or_else(|| Refusal::unavailable("no rg is on PATH; name one with --from")),
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
    let ended = child::run(launch, run_directory, call.surroundings, call.signals, &mut |_, _| {});
    let not_ripgrep = || Refusal::usage(format!("{} is no ripgrep", program.display()));
    let ended = ended.map_err(|_| not_ripgrep())?;
    if let child::End::Interrupted(_) = ended.end {
        return Err(Refusal::new(Exit::Cancelled, "cancelled"));
    }
    let stdout = ended.stdout.read().unwrap_or_default();
    let text = String::from_utf8_lossy(&stdout);
    let line = text.lines().next().unwrap_or_default();
    if ended.end != child::End::Exited(0) || !ripgrep::is_version(line) {
        return Err(not_ripgrep());
    }
    Ok(line.to_owned())
}

fn lock(store: &Path) -> Result<Lock, Refusal> {
    let path = store.join(".lock");
    Lock::acquire(&path, Duration::from_secs(PIN_WAIT_SECONDS)).map_err(|error| match error {
        LockError::Busy => Refusal::new(Exit::Temporary, "another pin-rg is at work"),
        LockError::NotAFile => Refusal::unavailable(format!("{} is no lock file", path.display())),
        LockError::Io(error) => Refusal::new(Exit::Failed, format!("{}: {error}", path.display())),
    })
}
