//! The gate: a copy of our own program that becomes the child (STATE.md 3.4).
//!
//! The starter spawns its own binary with [`GATE_WORD`] and no closure between fork and exec, sends the launch and its
//! descriptors over a socket that nobody else can inherit, and waits for `ready`. Until the starter says *go* nothing
//! foreign runs, and the end of the starter is the end of the gate. After *go* the gate executes the program: same process
//! number, same start time.

mod fence;
mod inside;
mod wire;

use std::ffi::{CString, OsStr, OsString};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, WaitOptions, kill_process, pidfd_send_signal, waitpid};

use crate::cgroup::CgroupNode;
use crate::child::Child;
use crate::error::StartError;
use crate::fence::Fence;
use crate::identity::{ProcessIdentity, open_pidfd};
use crate::limits::{GATE_ANSWER_TIMEOUT, GATE_EXIT_TIMEOUT};
use crate::procfs;
use crate::raw::{self, Execution};
use crate::reap::is_subreaper;
use crate::sealed::SealedInput;
use wire::{ANSWER_BYTES, Answer, GO};

/// The hidden first argument by which a program of ours becomes a gate.
pub const GATE_WORD: &str = "__gate";

/// Becomes the gate when this process was started as one, and then never returns. It must be the first statement of every
/// `main` that may be named as a gate program.
pub fn enter_gate_if_asked() {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().as_deref() == Some(OsStr::new(GATE_WORD)) && arguments.next().is_none() {
        inside::run();
    }
}

/// What is executed.
#[derive(Debug)]
pub enum Program {
    /// An ELF executable, by a descriptor: exactly the file that was looked at, whatever its path names now.
    Descriptor(File),
    /// A file by its path: a script, whose interpreter must open it again.
    Path(PathBuf),
}

/// How the descendants of a child are kept together.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Containment {
    /// The child is born in a cgroup that it has for itself, and orphans come home as well.
    Cgroup {
        /// The cgroup.
        node: CgroupNode,
        /// Fail where the kernel does not let the child in; without it the launch goes on with [`Self::Subreaper`].
        required: bool,
    },
    /// Orphans come home to the starter, which has called [`crate::become_subreaper`].
    Subreaper,
    /// Only the session and process group of the child.
    ProcessGroup,
}

/// Everything about one launch. Nothing is added and nothing is taken from the starter: arguments and environment are used
/// to the letter.
#[derive(Debug)]
pub struct LaunchSpec {
    /// What is executed.
    pub program: Program,
    /// The arguments, the name of the program (`argv[0]`) included.
    pub argv: Vec<OsString>,
    /// The whole environment, each entry `NAME=value`.
    pub environment: Vec<OsString>,
    /// The working directory.
    pub directory: PathBuf,
    /// Standard input.
    pub stdin: SealedInput,
    /// Standard output. Best opened for appending, and a regular file: it then outlives the starter.
    pub stdout: File,
    /// Standard error; as for standard output, and a separate opening.
    pub stderr: File,
    /// The file mode creation mask; only its nine permission bits count.
    pub umask: u32,
    /// The soft limit of open files, at most the hard limit that the starter has; without a value the limit is inherited.
    pub open_files_limit: Option<u64>,
    /// The containment that is wanted; the launch fails where it can not be had.
    pub containment: Containment,
    /// The fence that is wanted; the launch fails where it can not be had.
    pub fence: Fence,
    /// Whether the kernel kills the child when the *thread* that called [`Gate::spawn`] ends, however it ends; so that
    /// thread must live as long as the child is wanted. What the child starts is not killed. A program that gains privileges
    /// by executing another loses the mark.
    pub dies_with_starter: bool,
}

/// A gate that is ready: everything is arranged, nothing is executed. Dropping it ends the gate without an execution.
#[derive(Debug)]
pub struct Gate {
    identity: ProcessIdentity,
    containment: Containment,
    fence: Fence,
    waiting: Waiting,
}

impl Gate {
    /// Starts a gate and returns once it said that it is ready, and the kernel that it is where it should be. `gate_program` is the absolute path of a program whose
    /// `main` begins with [`enter_gate_if_asked`].
    ///
    /// # Errors
    /// Any [`StartError`]; no gate is left then and nothing was executed.
    pub fn spawn(gate_program: &Path, spec: LaunchSpec) -> Result<Self, StartError> {
        let message = wire::encode(&spec)?;
        prove_subreaper(&spec.containment)?;
        let (ours, theirs) = UnixStream::pair().map_err(StartError::Channel)?;
        let (mut waiting, containment) = Waiting::start(gate_program, ours, theirs, spec.containment)?;
        let identity = waiting.process.identity().ok_or(StartError::GateEnded)?;
        fault::point("process.gate.spawned").map_err(StartError::Channel)?;

        let mut descriptors = vec![spec.stdin.as_fd(), spec.stdout.as_fd(), spec.stderr.as_fd()];
        if let Program::Descriptor(program) = &spec.program {
            descriptors.push(program.as_fd());
        }
        // A gate that refuses early answers and closes its end: its answer says more than the failed write.
        let sent = wire::send_launch(waiting.socket.as_fd(), &message, &descriptors);
        match waiting.answer() {
            Ok(Some(Answer::Ready)) => sent.map_err(StartError::Channel)?,
            Ok(Some(Answer::Failed(step, error))) => return Err(StartError::Step(step, error)),
            Ok(None) => return Err(StartError::GateEnded),
            Err(error) if is_timeout(&error) => return Err(StartError::GateSilent),
            Err(error) => return Err(StartError::Channel(error)),
        }
        fault::point("process.gate.ready").map_err(StartError::Channel)?;
        let containment = prove_cgroup(containment, identity.pid)?;
        Ok(Self { identity, containment, fence: spec.fence, waiting })
    }

    /// Which process this is: the gate now, the child after [`Gate::go`].
    pub fn identity(&self) -> ProcessIdentity {
        self.identity
    }

    /// The containment, as proved.
    pub fn containment(&self) -> &Containment {
        &self.containment
    }

    /// The fence, as proved.
    pub fn fence(&self) -> &Fence {
        &self.fence
    }

    /// Lets the gate execute the program and returns once it did.
    ///
    /// # Errors
    /// Any [`StartError`]; only after [`StartError::ExecutionUndetermined`] may the program have run.
    pub fn go(self) -> Result<Child, StartError> {
        let mut waiting = self.waiting;
        if let Err(error) = wire::send(waiting.socket.as_fd(), &[GO]) {
            return Err(match error.kind() {
                io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset => StartError::GateEnded,
                _ => StartError::Channel(error),
            });
        }
        let outcome = fault::point("process.gate.go").and_then(|()| waiting.answer());
        match outcome {
            // The socket closed without a word: the execution closed it.
            Ok(None) => waiting.process.release().ok_or(StartError::GateEnded),
            Ok(Some(Answer::Failed(step, error))) => Err(StartError::Step(step, error)),
            // The socket closed with the go byte unread.
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => Err(StartError::GateEnded),
            Ok(Some(Answer::Ready)) => {
                waiting.process.kill();
                let error = io::Error::from(io::ErrorKind::InvalidData);
                Err(StartError::ExecutionUndetermined(error))
            }
            Err(error) => {
                waiting.process.kill();
                Err(StartError::ExecutionUndetermined(error))
            }
        }
    }
}

/// A gate process with our end of its socket. Dropping it closes the socket first, then waits for the gate.
#[derive(Debug)]
struct Waiting {
    socket: UnixStream,
    process: Unreleased,
}

impl Waiting {
    /// Starts the gate, in the cgroup if there is one. Answers with the containment that it is in, as far as is known.
    fn start(
        gate_program: &Path,
        ours: UnixStream,
        theirs: UnixStream,
        containment: Containment,
    ) -> Result<(Self, Containment), StartError> {
        ours.set_read_timeout(Some(GATE_ANSWER_TIMEOUT))
            .and_then(|()| ours.set_write_timeout(Some(GATE_ANSWER_TIMEOUT)))
            .map_err(StartError::Channel)?;
        let born = match &containment {
            Containment::Cgroup { node, .. } => Some(spawn_in(node, gate_program, &theirs)),
            _ => None,
        };
        let (pid, containment) = match born {
            Some(Ok(pid)) => (pid, containment),
            Some(Err(error)) => (spawn(gate_program, theirs)?, without_cgroup(containment, error)?),
            None => (spawn(gate_program, theirs)?, containment),
        };
        match identify(pid) {
            Ok(child) => Ok((Self { socket: ours, process: Unreleased(Some(child)) }, containment)),
            Err(error) => {
                // It was not reaped, so the number is still its own.
                if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
                    let _ = kill_process(pid, Signal::KILL);
                    let _ = waitpid(Some(pid), WaitOptions::empty());
                }
                Err(StartError::Watch(error))
            }
        }
    }

    /// The next answer; `None` when the gate closed its end.
    fn answer(&mut self) -> io::Result<Option<Answer>> {
        let mut bytes = [0; ANSWER_BYTES];
        match self.socket.read_exact(&mut bytes) {
            Ok(()) => {
                Answer::decode(bytes).map(Some).ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))
            }
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// A process that has not executed anything foreign, and whose end is owed when it is dropped.
#[derive(Debug)]
struct Unreleased(Option<Child>);

impl Unreleased {
    /// The process, to which nothing is owed from now on.
    fn release(mut self) -> Option<Child> {
        self.0.take()
    }

    fn identity(&self) -> Option<ProcessIdentity> {
        self.0.as_ref().map(Child::identity)
    }

    fn kill(&self) {
        if let Some(child) = &self.0 {
            // Only a process that has ended refuses.
            let _ = pidfd_send_signal(child.pidfd(), Signal::KILL);
        }
    }

    fn has_ended(&mut self) -> bool {
        let Some(child) = &mut self.0 else {
            return true;
        };
        matches!(child.wait(GATE_EXIT_TIMEOUT, &[]), Ok(Some(_)))
    }
}

impl Drop for Unreleased {
    fn drop(&mut self) {
        // The gate sees the end of its socket and exits. One that hangs in a system call is killed; the wait is bounded
        // because even that may not help while a file system does not answer.
        if !self.has_ended() {
            self.kill();
            self.has_ended();
        }
    }
}

fn identify(pid: u32) -> io::Result<Child> {
    let not_there = || io::Error::from(io::ErrorKind::NotFound);
    let pidfd = open_pidfd(pid)?.ok_or_else(not_there)?;
    let stat = procfs::stat(pid)?.ok_or_else(not_there)?;
    Ok(Child::new(stat.identity, pidfd))
}

/// The gate's environment: nothing of the starter's.
fn environment() -> Vec<(&'static str, OsString)> {
    fault::inherited()
}

fn spawn(gate_program: &Path, socket: UnixStream) -> Result<u32, StartError> {
    Command::new(gate_program)
        .arg(GATE_WORD)
        .env_clear()
        .envs(environment())
        .stdin(Stdio::from(OwnedFd::from(socket)))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map(|process| process.id())
        .map_err(StartError::Spawn)
}

/// Starts the gate as a process that is born in `node`.
fn spawn_in(node: &CgroupNode, gate_program: &Path, socket: &UnixStream) -> io::Result<u32> {
    let text = |bytes: &[u8]| CString::new(bytes).map_err(io::Error::from);
    let program = text(gate_program.as_os_str().as_bytes())?;
    let word = text(GATE_WORD.as_bytes())?;
    let environment = environment()
        .into_iter()
        .map(|(name, value)| text(&[name.as_bytes(), b"=", &value.into_vec()].concat()))
        .collect::<io::Result<Vec<CString>>>()?;
    let environment: Vec<_> = environment.iter().map(CString::as_c_str).collect();
    let output = File::options().write(true).open("/dev/null")?;
    let cgroup = File::open(node.path())?;
    let execution = Execution {
        program: &program,
        arguments: &[&program, &word],
        environment: &environment,
        input: socket.as_fd(),
        output: output.as_fd(),
    };
    raw::spawn_into_cgroup(cgroup.as_fd(), &execution)
}

/// What is left when the kernel does not let a child into its cgroup.
fn without_cgroup(wanted: Containment, error: io::Error) -> Result<Containment, StartError> {
    match wanted {
        Containment::Cgroup { required: true, .. } => Err(StartError::Containment(wanted, error)),
        _ => Ok(Containment::Subreaper),
    }
}

/// Orphans come home only to a process that has asked for it. The gate starts its session itself and says `ready` only after
/// it did.
fn prove_subreaper(wanted: &Containment) -> Result<(), StartError> {
    let proved = match wanted {
        Containment::ProcessGroup => return Ok(()),
        Containment::Cgroup { .. } | Containment::Subreaper => is_subreaper(),
    };
    let refused = |error| Err(StartError::Containment(wanted.clone(), error));
    match proved {
        Ok(true) => Ok(()),
        Ok(false) => refused(io::Error::from(io::ErrorKind::NotConnected)),
        Err(error) => refused(error),
    }
}

/// The kernel says itself in which cgroup the gate is.
fn prove_cgroup(wanted: Containment, gate: u32) -> Result<Containment, StartError> {
    let Containment::Cgroup { node, .. } = &wanted else { return Ok(wanted) };
    match node.holds(gate) {
        Ok(true) => Ok(wanted),
        Ok(false) => without_cgroup(wanted, io::Error::from(io::ErrorKind::NotFound)),
        Err(error) => without_cgroup(wanted, error),
    }
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}
