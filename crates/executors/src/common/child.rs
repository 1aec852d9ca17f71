//! One child with a wall-clock limit: TERM to it and its descendants, KILL ten seconds later, and nothing left behind
//! (runners.md 0.1).

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use process::{
    COOKIE_NAME, Child, Containment, Ending, Fence, Gate, GateStep, LaunchSpec, Program, SealedInput,
    StartError, TerminationSignals, Tree, become_subreaper, current_umask,
};
use rustix::fs::Mode;

use super::environment::ChildEnvironment;
use super::exit::Refusal;
use super::limits::{KILL_GRACE_SECONDS, STREAM_MAX_BYTES, WATCH_INTERVAL_MILLISECONDS};
use super::run_directory::RunDirectory;
use super::surroundings::Surroundings;

/// What is started, to the letter.
#[derive(Debug)]
pub struct Launch<'a> {
    /// Names the two stream files in the run directory; each launch of a run has its own.
    pub name: &'a str,
    /// The real file of the program.
    pub program: &'a Path,
    /// The arguments behind the name of the program.
    pub arguments: Vec<OsString>,
    /// The whole environment.
    pub environment: ChildEnvironment,
    /// The working directory.
    pub directory: &'a Path,
    /// Standard input, followed by its end.
    pub stdin: &'a [u8],
    /// Confinement; see [`super::sandbox`].
    pub fence: Fence,
    /// The wall-clock limit.
    pub limit: Duration,
    /// The time between TERM and KILL; [`KILL_GRACE`] unless the family says otherwise.
    pub grace: Duration,
    /// Who may use the files that the child makes.
    pub new_files: NewFiles,
}

/// Who may use the files that a child makes, as far as the child leaves that open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NewFiles {
    /// The user alone (runners.md 1.6).
    Private,
    /// Whoever may use the files that the caller makes: for a child that works in the user's workspace.
    AsOfCaller,
}

impl NewFiles {
    /// That of a run which may edit the workspace, or may not.
    pub const fn of_run(edits: bool) -> Self {
        if edits { Self::AsOfCaller } else { Self::Private }
    }

    fn umask(self) -> u32 {
        match self {
            Self::Private => (Mode::RWXG | Mode::RWXO).bits(),
            Self::AsOfCaller => current_umask(),
        }
    }
}

/// Ten seconds.
pub const KILL_GRACE: Duration = Duration::from_secs(KILL_GRACE_SECONDS);
const KILL_GRACE_IN_A_TASK: Duration = Duration::from_secs(3);

/// How a child ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It exited with this code.
    Exited(i32),
    /// This signal ended it, and nobody here sent it.
    Signalled(i32),
    /// It reached its limit.
    TimedOut,
    /// It wrote more than is kept.
    TooMuchOutput,
    /// This process was asked to end by this signal.
    Interrupted(i32),
}

impl End {
    /// The status as a shell would show it; nothing where the child did not end by itself.
    pub const fn status(self) -> Option<i32> {
        match self {
            Self::Exited(code) => Some(code),
            Self::Signalled(signal) => Some(128 + signal),
            Self::TimedOut | Self::TooMuchOutput | Self::Interrupted(_) => None,
        }
    }
}

/// A child that ended, and what it wrote.
#[derive(Debug)]
pub struct Ended {
    /// How.
    pub end: End,
    /// Its standard output.
    pub stdout: Stream,
    /// Its standard error.
    pub stderr: Stream,
}

/// What a child wrote to one stream.
#[derive(Debug)]
pub struct Stream {
    file: File,
    /// Where it lies in the run directory.
    pub path: PathBuf,
}

impl Stream {
    fn create(run_directory: &RunDirectory, name: &str) -> io::Result<Self> {
        Ok(Self { file: run_directory.stream(name)?, path: run_directory.path().join(name) })
    }

    /// Its length in bytes.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn bytes(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    /// All of it, at most as much as a child may write.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn read(&self) -> io::Result<Vec<u8>> {
        let mut content = Vec::new();
        let mut file = &self.file;
        file.seek(SeekFrom::Start(0))?;
        file.take(STREAM_MAX_BYTES).read_to_end(&mut content)?;
        Ok(content)
    }
}

/// Why a child did not run, or is not known to have run.
#[derive(Debug)]
pub enum LaunchError {
    /// The confinement can not be had: 69 before a dispatch.
    Sandbox(String),
    /// Anything else.
    Other(String),
}

impl LaunchError {
    /// The refusal of a run that needs the child before it dispatches anything; `what` names the child.
    pub fn refusal(&self, what: &str) -> Refusal {
        match self {
            Self::Sandbox(why) => Refusal::sandbox(why),
            Self::Other(why) => Refusal::unavailable(format!("{what}: {why}")),
        }
    }
}

impl From<StartError> for LaunchError {
    fn from(error: StartError) -> Self {
        let message = error.to_string();
        match error {
            StartError::Step(GateStep::Grants | GateStep::Fence | GateStep::FenceProof, _) => {
                Self::Sandbox(message)
            }
            _ => Self::Other(message),
        }
    }
}

impl From<io::Error> for LaunchError {
    fn from(error: io::Error) -> Self {
        Self::Other(error.to_string())
    }
}

/// Starts a child and waits for its end and that of everything it started.
///
/// `watch` is called several times a second with the streams while the child runs.
///
/// # Errors
/// It could not be started, or could not be watched; nothing of it is left.
pub fn run(
    launch: Launch<'_>,
    run_directory: &RunDirectory,
    surroundings: &Surroundings,
    signals: &TerminationSignals,
    watch: &mut dyn FnMut(&Stream, &Stream),
) -> Result<Ended, LaunchError> {
    let stdout = Stream::create(run_directory, &format!("{}.stdout", launch.name))?;
    let stderr = Stream::create(run_directory, &format!("{}.stderr", launch.name))?;
    let (limit, grace) = (launch.limit, launch.grace);
    // Everything of a task is killed ten seconds after TERM (STATE.md 3.5); what the runner does after its child needs a part.
    let grace_when_interrupted = match launch.environment.get(COOKIE_NAME) {
        Some(_) => grace.min(KILL_GRACE_IN_A_TASK),
        None => grace,
    };
    let (spec, cookie) = describe(launch, &stdout, &stderr)?;
    become_subreaper()?;
    let child = Gate::spawn(&surroundings.program, spec)?.go()?;
    let tree = Tree::new(child.identity(), &cookie);
    let mut running = Running { child, tree, stdout, stderr, grace, grace_when_interrupted, signals };
    let end = running.wait(limit, watch);
    // Also after an orderly end: what the child left behind goes with it.
    let swept = running.tree.sweep();
    let end = end?;
    if swept?.survivors > 0 {
        return Err(LaunchError::Other("a process that the child started can not be ended".to_owned()));
    }
    let end = match end {
        // It may have written most of it since it was looked at.
        End::Exited(_) | End::Signalled(_) if running.is_over_the_cap()? => End::TooMuchOutput,
        end => end,
    };
    Ok(Ended { end, stdout: running.stdout, stderr: running.stderr })
}

fn describe(launch: Launch<'_>, stdout: &Stream, stderr: &Stream) -> io::Result<(LaunchSpec, String)> {
    let mut environment = launch.environment;
    let cookie = match environment.get(COOKIE_NAME).and_then(|cookie| cookie.to_str()) {
        Some(cookie) => cookie.to_owned(),
        None => {
            // Random, so that the processes of another run are never taken for ours.
            let name = run_name(&stdout.path);
            environment.set(COOKIE_NAME, &name);
            name
        }
    };
    let mut argv = vec![launch.program.as_os_str().to_owned()];
    argv.extend(launch.arguments);
    let spec = LaunchSpec {
        program: executable(launch.program)?,
        argv,
        environment: environment.entries(),
        directory: launch.directory.to_path_buf(),
        stdin: SealedInput::from_bytes(launch.stdin)?,
        stdout: stdout.file.try_clone()?,
        stderr: stderr.file.try_clone()?,
        umask: launch.new_files.umask(),
        open_files_limit: None,
        containment: Containment::Subreaper,
        fence: launch.fence,
        // This thread waits for the child, so its end is that of the run.
        dies_with_starter: true,
    };
    Ok((spec, cookie))
}

/// The run directory has a random name that no other run has.
fn run_name(stream: &Path) -> String {
    stream.to_string_lossy().into_owned()
}

/// A script is executed by its path, because its interpreter must open it again.
fn executable(path: &Path) -> io::Result<Program> {
    let mut file = File::open(path)?;
    let mut head = [0; 2];
    let is_script = file.read_exact(&mut head).is_ok() && &head == b"#!";
    if is_script { Ok(Program::Path(path.to_path_buf())) } else { Ok(Program::Descriptor(file)) }
}

struct Running<'a> {
    child: Child,
    tree: Tree,
    stdout: Stream,
    stderr: Stream,
    grace: Duration,
    grace_when_interrupted: Duration,
    signals: &'a TerminationSignals,
}

impl Running<'_> {
    fn wait(&mut self, limit: Duration, watch: &mut dyn FnMut(&Stream, &Stream)) -> Result<End, LaunchError> {
        let interval = Duration::from_millis(WATCH_INTERVAL_MILLISECONDS);
        let deadline = Instant::now() + limit;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let ending = self.child.wait(interval.min(left), &[self.signals.fd()])?;
            // Asked first: who ends a whole tree ends the child too, which may be the faster one to obey.
            if let Some(signal) = self.signals.take() {
                self.terminate(self.grace_when_interrupted, &[])?;
                return Ok(End::Interrupted(signal));
            }
            if let Some(ending) = ending {
                return match ending {
                    Ending::Exited(code) => Ok(End::Exited(code)),
                    Ending::Signalled(signal) => Ok(End::Signalled(signal)),
                    Ending::Ended => Err(LaunchError::Other("nobody knows how the child ended".to_owned())),
                };
            }
            if Instant::now() >= deadline {
                return self.stop(End::TimedOut);
            }
            if self.is_over_the_cap()? {
                return self.stop(End::TooMuchOutput);
            }
            watch(&self.stdout, &self.stderr);
        }
    }

    fn is_over_the_cap(&self) -> io::Result<bool> {
        Ok(self.stdout.bytes()?.max(self.stderr.bytes()?) > STREAM_MAX_BYTES)
    }

    /// Stops the child for a reason of ours. Whoever asks this process to end in the grace waits no longer: the child was told
    /// already, and the time that a task leaves to its runner is shorter than the grace.
    fn stop(&mut self, end: End) -> Result<End, LaunchError> {
        self.terminate(self.grace, &[self.signals.fd()])?;
        Ok(self.signals.take().map_or(end, End::Interrupted))
    }

    /// TERM, the grace, KILL; the sweep that follows ends what is left. One of `also` ends the grace.
    fn terminate(&mut self, grace: Duration, also: &[BorrowedFd<'_>]) -> Result<(), LaunchError> {
        self.tree.terminate()?;
        self.child.wait(grace, also)?;
        self.tree.kill()?;
        self.child.wait(KILL_GRACE, &[])?;
        Ok(())
    }
}
