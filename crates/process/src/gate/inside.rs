//! The gate itself: a single thread that arranges its own process, says `ready`, waits, and becomes the program.

use std::convert::Infallible;
use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::exit;

use nix::fcntl::AtFlags;
use nix::unistd::{execve, execveat};
use rustix::fs::Mode;
use rustix::io::{Errno, fcntl_dupfd_cloexec, retry_on_intr};
use rustix::process::{
    Resource, Rlimit, Signal, chdir, getpid, getrlimit, getsid, parent_process_death_signal,
    set_parent_process_death_signal, setrlimit, setsid, umask,
};
use rustix::stdio::{dup2_stderr, dup2_stdin, dup2_stdout, stdin};

use super::fence;
use super::wire::{self, Answer, GO, Order};
use crate::detach::{FIRST_OTHER_DESCRIPTOR, reset_signals};
use crate::error::GateStep;
use crate::raw;

/// What a gate exits with that executed nothing.
const EXIT_NOTHING_EXECUTED: i32 = 127;

type Failure = (GateStep, io::Error);

/// Is the gate. What goes wrong is told to the starter; without a starter there is nobody to tell.
pub(super) fn run() -> ! {
    if let Ok(socket) = fcntl_dupfd_cloexec(stdin(), FIRST_OTHER_DESCRIPTOR.cast_signed())
        && let Err((step, error)) = serve(socket.as_fd())
    {
        let _ = wire::send(socket.as_fd(), &Answer::Failed(step, error).encode());
    }
    exit(EXIT_NOTHING_EXECUTED)
}

/// Returns `Ok` when the starter gave up.
fn serve(socket: BorrowedFd<'_>) -> Result<(), Failure> {
    let (body, descriptors) = wire::receive_launch(socket).map_err(|error| (GateStep::Receive, error))?;
    let order = wire::decode(&body).ok_or((GateStep::Receive, Errno::PROTO.into()))?;
    start_session().map_err(|error| (GateStep::Session, error))?;
    set_limits(&order).map_err(|error| (GateStep::Limits, error))?;
    retry_on_intr(|| chdir(order.directory)).map_err(|error| (GateStep::Directory, error.into()))?;
    let executable =
        arrange_descriptors(&order, descriptors).map_err(|error| (GateStep::Descriptors, error))?;
    if let Some(order) = &order.fence {
        fence::raise(order)?;
    }
    if order.dies_with_starter {
        die_with_starter().map_err(|error| (GateStep::Starter, error))?;
    }
    if wire::send(socket, &Answer::Ready.encode()).is_err() || !told_to_go(socket) {
        return Ok(());
    }
    let result = fault::point("process.gate.released").and_then(|()| execute(&order, executable.as_ref()));
    match result {
        Err(error) => Err((GateStep::Execute, error)),
    }
}

fn start_session() -> io::Result<()> {
    setsid()?;
    // A session of its own has no controlling terminal until its leader opens one.
    if getsid(None)? != getpid() {
        return Err(Errno::PERM.into());
    }
    reset_signals()
}

/// Binds this process to the thread that started it. Set after the fence, because a change of credentials takes the mark away.
///
/// A starter that is gone already would never be noticed; but nothing is executed without its *go*, which follows `ready`, and
/// that is said after this.
fn die_with_starter() -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    if parent_process_death_signal()? == Some(Signal::KILL) { Ok(()) } else { Err(Errno::PERM.into()) }
}

fn set_limits(order: &Order<'_>) -> io::Result<()> {
    let none = Rlimit { current: Some(0), maximum: Some(0) };
    setrlimit(Resource::Core, none)?;
    if getrlimit(Resource::Core).current != Some(0) {
        return Err(Errno::PERM.into());
    }
    if let Some(wanted) = order.open_files_limit {
        let maximum = getrlimit(Resource::Nofile).maximum;
        let current = maximum.map_or(wanted, |maximum| maximum.min(wanted));
        let limit = Rlimit { current: Some(current), maximum };
        setrlimit(Resource::Nofile, limit)?;
    }
    umask(Mode::from_raw_mode(order.umask));
    Ok(())
}

/// Puts the standard descriptors in place and marks all others close-on-exec. Returns the executable, if it is one of
/// those received.
fn arrange_descriptors(order: &Order<'_>, descriptors: Vec<OwnedFd>) -> io::Result<Option<OwnedFd>> {
    let mut descriptors = descriptors.into_iter();
    let mut next = || descriptors.next().ok_or(Errno::BADF);
    dup2_stdin(next()?)?;
    dup2_stdout(next()?)?;
    dup2_stderr(next()?)?;
    let executable = match order.program {
        Some(_) => None,
        None => Some(next()?),
    };
    raw::close_on_exec_from(FIRST_OTHER_DESCRIPTOR)?;
    Ok(executable)
}

fn told_to_go(socket: BorrowedFd<'_>) -> bool {
    let mut byte = [0];
    matches!(retry_on_intr(|| rustix::io::read(socket, &mut byte)), Ok(1)) && byte == [GO]
}

fn execute(order: &Order<'_>, executable: Option<&OwnedFd>) -> io::Result<Infallible> {
    let no_path: &CStr = c"";
    let executed = match (order.program, executable) {
        (Some(path), _) => execve(path, &order.argv, &order.environment),
        (None, Some(file)) => {
            execveat(file, no_path, &order.argv, &order.environment, AtFlags::AT_EMPTY_PATH)
        }
        (None, None) => Err(nix::errno::Errno::EBADF),
    };
    Ok(executed?)
}
