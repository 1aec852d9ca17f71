//! Which process is meant: a number alone is reused, a number with a start time is not.

use std::fmt;
use std::io;
use std::num::ParseIntError;
use std::os::fd::{AsFd, OwnedFd};
use std::str::FromStr;
use std::time::Duration;

use rustix::event::PollFlags;
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use crate::poll::wait_for;
use crate::procfs;

/// One process of this boot and this pid namespace, for ever (STATE.md 3.4, 3.6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProcessIdentity {
    /// Process number.
    pub pid: u32,
    /// Start time in clock ticks since boot: field 22 of `/proc/PID/stat`. Execution does not change it.
    pub start_time: u64,
}

impl fmt::Display for ProcessIdentity {
    /// Number and start time, as [`str::parse`] reads them.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.pid, self.start_time)
    }
}

impl FromStr for ProcessIdentity {
    type Err = ParseIntError;

    fn from_str(text: &str) -> Result<Self, ParseIntError> {
        let (pid, start_time) = text.split_once(' ').unwrap_or((text, ""));
        Ok(Self { pid: pid.parse()?, start_time: start_time.parse()? })
    }
}

/// Whether a process still runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessState {
    /// It runs.
    Alive,
    /// It has ended; a zombie counts as ended (STATE.md 3.6).
    Gone,
    /// `/proc` did not answer.
    Undetermined,
}

/// Whether the process with that identity still runs.
pub fn process_state(identity: ProcessIdentity) -> ProcessState {
    match procfs::stat(identity.pid) {
        Ok(Some(stat)) if stat.identity == identity && !stat.ended => ProcessState::Alive,
        Ok(_) => ProcessState::Gone,
        Err(_) => ProcessState::Undetermined,
    }
}

/// What can be expected of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Condition {
    /// It does its work.
    Working,
    /// A signal or a debugger stopped it: it does nothing until it is told to go on.
    Stopped,
    /// It is being ended, and does nothing more; what it has locked is free in a moment.
    Ending,
    /// It has ended.
    Gone,
}

/// What can be expected of the process with that identity.
///
/// # Errors
/// `/proc` did not answer.
pub fn condition(identity: ProcessIdentity) -> io::Result<Condition> {
    // Asked first: who takes the signal up afterwards shows that in what is read next.
    let is_killed = procfs::is_killed(identity.pid)?;
    Ok(match procfs::stat(identity.pid)? {
        Some(stat) if stat.identity == identity && !stat.ended => match stat {
            stat if is_killed || stat.ending => Condition::Ending,
            stat if stat.stopped => Condition::Stopped,
            _ => Condition::Working,
        },
        _ => Condition::Gone,
    })
}

/// The process that has that number now, if there is one.
///
/// # Errors
/// `/proc` did not answer.
pub fn identity_of(pid: u32) -> io::Result<Option<ProcessIdentity>> {
    Ok(procfs::stat(pid)?.filter(|stat| !stat.ended).map(|stat| stat.identity))
}

/// Waits until a process has ended, and with it its locks are free; at most so long. Answers whether it has.
///
/// # Errors
/// The kernel did not answer.
pub fn wait_for_end(identity: ProcessIdentity, limit: Duration) -> io::Result<bool> {
    match open_identified(identity)? {
        Some(pidfd) => wait_for(pidfd.as_fd(), PollFlags::IN, &[], limit),
        None => Ok(true),
    }
}

/// Whether that process is a gate that still waits: it lives, and its command line is the gate's (STATE.md 3.4). One whose
/// starter is gone can only leave without an execution.
///
/// # Errors
/// `/proc` did not answer.
pub fn is_at_gate(identity: ProcessIdentity) -> io::Result<bool> {
    let command_line = match std::fs::read(format!("/proc/{}/cmdline", identity.pid)) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        // The process ended between the opening and the reading.
        Err(error) if error.raw_os_error() == Some(Errno::SRCH.raw_os_error()) => return Ok(false),
        Err(error) => return Err(error),
    };
    let mut words = command_line.split(|byte| *byte == 0).skip(1);
    let is_gate = words.next() == Some(crate::GATE_WORD.as_bytes());
    Ok(is_gate && process_state(identity) == ProcessState::Alive)
}

/// Opens a descriptor for the process with that number; `None` when there is none, or the number is not one of a process
/// that may ever be signalled (0 and 1).
pub(crate) fn open_pidfd(pid: u32) -> io::Result<Option<OwnedFd>> {
    let Some(pid) = signallable(pid) else {
        return Ok(None);
    };
    match pidfd_open(pid, PidfdFlags::empty()) {
        Ok(pidfd) => Ok(Some(pidfd)),
        // The last two: the number now belongs to a thread that is not the first of its process.
        Err(Errno::SRCH | Errno::INVAL | Errno::NOENT) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Opens a descriptor first and compares the identity afterwards, so that the descriptor can not belong to a later
/// process with the same number. `None` when that process is not there; a zombie is there.
pub(crate) fn open_identified(identity: ProcessIdentity) -> io::Result<Option<OwnedFd>> {
    let Some(pidfd) = open_pidfd(identity.pid)? else {
        return Ok(None);
    };
    let stat = procfs::stat(identity.pid)?;
    Ok(stat.is_some_and(|stat| stat.identity == identity).then_some(pidfd))
}

fn signallable(pid: u32) -> Option<Pid> {
    i32::try_from(pid).ok().filter(|pid| *pid > 1).and_then(Pid::from_raw)
}
