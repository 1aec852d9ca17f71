//! Whether a run could be made now (runners.md 2.2). Each step fails with its own reason.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::confinement;
use super::launch::Private;
use super::limits::{CAPABILITY_DEFAULT_SECONDS, CAPABILITY_SECONDS};
use crate::common::child::{self, End, KILL_GRACE, Launch, NewFiles};
use crate::common::environment::ChildEnvironment;
use crate::common::exit::Refusal;
use crate::common::key::{self, Key};
use crate::common::program::Call;
use crate::common::run_directory::RunDirectory;
use crate::common::sandbox;
use crate::common::surroundings::{Surroundings, executable_file};

const PROGRAM_VARIABLE: &str = "DELEGATION_GLM_CLAUDE_BIN";
const CAPABILITY_VARIABLE: &str = "DELEGATION_GLM_CAPABILITY_TIMEOUT_SECONDS";

/// The programs that this runner works beside.
#[derive(Clone, Debug)]
pub(super) struct Host {
    /// The binary that the user named.
    named: Option<PathBuf>,
    pub(super) claude: Option<PathBuf>,
    pub(super) codex: Option<PathBuf>,
}

impl Host {
    pub(super) fn look(surroundings: &Surroundings) -> Self {
        Self {
            named: surroundings.variable(PROGRAM_VARIABLE).map(PathBuf::from),
            claude: surroundings.find_program("claude"),
            codex: surroundings.find_program("codex"),
        }
    }

    /// Why this is no host for the runner.
    pub(super) fn missing(&self) -> Option<&'static str> {
        let is_there = self.named.is_some() || self.claude.is_some() || self.codex.is_some();
        (!is_there).then_some("not a standalone GLM client: neither claude nor codex is on PATH")
    }

    /// The file of Claude Code. What the user named is never looked for elsewhere.
    fn program(&self) -> Result<PathBuf, String> {
        match &self.named {
            Some(path) => executable_file(path)
                .ok_or_else(|| format!("{PROGRAM_VARIABLE} {} is no executable file", path.display())),
            None => self.claude.clone().ok_or_else(|| "claude is not on PATH".to_owned()),
        }
    }
}

/// What a run needs and that was seen to be there.
#[derive(Debug)]
pub(super) struct Runtime {
    /// The real file of Claude Code.
    pub(super) claude: PathBuf,
    pub(super) key: Key,
}

/// Why there is no runtime.
#[derive(Debug)]
pub(super) enum Unready {
    /// 69 with a reason, or 64 for a key that is none.
    Refused(Refusal),
    /// This process was asked to end.
    Interrupted(i32),
}

impl From<Refusal> for Unready {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

/// Asks everything in the order of the reasons.
///
/// # Errors
/// The first thing that is missing.
pub(super) fn probe(call: &Call<'_>, host: &Host) -> Result<Runtime, Unready> {
    let surroundings = call.surroundings;
    if let Some(reason) = host.missing() {
        return Err(Refusal::unavailable(reason).into());
    }
    let claude = host.program().map_err(Refusal::unavailable)?;
    let limit = surroundings
        .number(CAPABILITY_VARIABLE, CAPABILITY_SECONDS)
        .map_err(|refusal| Refusal::unavailable(refusal.message))?
        .unwrap_or(CAPABILITY_DEFAULT_SECONDS);
    sandbox::demand()?;
    let help = help(call, &claude, Duration::from_secs(limit))?;
    if !help.contains("--effort") {
        return Err(Refusal::unavailable("this claude knows no --effort").into());
    }
    let key = key::find(super::KEY, surroundings)?;
    Ok(Runtime { claude, key })
}

/// The help of Claude Code, asked in a private home and with nothing of the user's writable.
fn help(call: &Call<'_>, claude: &Path, limit: Duration) -> Result<String, Unready> {
    let unavailable = |why: &str| Unready::from(Refusal::unavailable(why.to_owned()));
    let run_directory = RunDirectory::create(call.family)?;
    let private = Private::make(&run_directory).map_err(|error| unavailable(&error.to_string()))?;
    let mut environment = ChildEnvironment::of_user(call.surroundings)?;
    private.name_in(&mut environment);
    let fence = confinement::of_probe(&private, &run_directory);
    let launch = Launch {
        name: "help",
        program: claude,
        arguments: vec!["--help".into()],
        environment,
        directory: &private.temporary,
        stdin: b"",
        fence: fence.map_err(Refusal::sandbox)?,
        limit,
        grace: KILL_GRACE,
        new_files: NewFiles::Private,
    };
    let ended = child::run(launch, &run_directory, call.surroundings, call.signals, &mut |_, _| {})
        .map_err(|error| error.refusal("probe failed"))?;
    match ended.end {
        End::Interrupted(signal) => return Err(Unready::Interrupted(signal)),
        End::TimedOut => return Err(unavailable("probe timed out")),
        End::Exited(0) => {}
        End::Exited(_) | End::Signalled(_) | End::TooMuchOutput => return Err(unavailable("probe failed")),
    }
    let said = |stream: &child::Stream| {
        let bytes = stream.read().map_err(|error| unavailable(&format!("probe failed: {error}")))?;
        Ok::<_, Unready>(String::from_utf8_lossy(&bytes).into_owned())
    };
    Ok(said(&ended.stdout)? + &said(&ended.stderr)?)
}

/// Refuses a script: its interpreter could inherit the key (runners.md 2.4).
///
/// # Errors
/// 69.
pub(super) fn demand_native(program: &Path) -> Result<(), Refusal> {
    let mut head = [0; 2];
    let read = File::open(program).and_then(|mut file| file.read_exact(&mut head));
    if read.is_ok() && &head != b"#!" {
        return Ok(());
    }
    Err(Refusal::unavailable(format!(
        "{} is a script; an evaluation executes the native program of Claude Code alone",
        program.display()
    )))
}
