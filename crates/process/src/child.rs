//! A child that executes the program: waiting for its end, by its starter or by a later process that adopts it.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::event::PollFlags;
use rustix::io::Errno;
use rustix::process::{WaitId, WaitIdOptions, WaitIdStatus, waitid};

use crate::identity::{ProcessIdentity, ProcessState, open_identified, process_state};
use crate::limits::ADOPTED_REAP_TIMEOUT;
use crate::poll::wait_for;
use crate::raw::reaped_wait_status;

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// It exited with this code.
    Exited(i32),
    /// This signal ended it.
    Signalled(i32),
    /// It ended, and nobody can tell how: it was the child of a process that did not pass it on.
    Ended,
}

impl Ending {
    /// The meaning of a wait status as `wait(2)` returns it.
    fn from_wait_status(status: i32) -> Self {
        match status & 0x7f {
            0 => Self::Exited((status >> 8) & 0xff),
            signal => Self::Signalled(signal),
        }
    }

    /// The meaning of what `waitid(2)` returns for a process that ended.
    pub(crate) fn from_wait_id(status: &WaitIdStatus) -> Self {
        if let Some(code) = status.exit_status() {
            Self::Exited(code)
        } else if let Some(signal) = status.terminating_signal() {
            Self::Signalled(signal)
        } else {
            Self::Ended
        }
    }
}

/// A process that executes a program we started.
///
/// A child of this process stays a zombie after its end until the value is dropped, so that its number means nothing else
/// while the rest of its tree is swept. Dropping the value of a living child does nothing to it.
#[derive(Debug)]
pub struct Child {
    identity: ProcessIdentity,
    pidfd: OwnedFd,
    ending: Option<Ending>,
}

impl Child {
    pub(crate) fn new(identity: ProcessIdentity, pidfd: OwnedFd) -> Self {
        Self { identity, pidfd, ending: None }
    }

    /// Takes over a child that another process started (STATE.md 3.6). `None` when no such process runs: a number that
    /// has another start time belongs to somebody else, and a zombie has ended.
    ///
    /// # Errors
    /// It could not be determined: no descriptor is left, or `/proc` did not answer.
    pub fn adopt(identity: ProcessIdentity) -> io::Result<Option<Self>> {
        let Some(pidfd) = open_identified(identity)? else {
            return Ok(None);
        };
        match process_state(identity) {
            ProcessState::Alive => Ok(Some(Self::new(identity, pidfd))),
            ProcessState::Gone => Ok(None),
            ProcessState::Undetermined => Err(io::Error::other("/proc did not answer")),
        }
    }

    /// Which process this is.
    pub fn identity(&self) -> ProcessIdentity {
        self.identity
    }

    /// The descriptor that becomes readable when the process has ended.
    pub fn pidfd(&self) -> BorrowedFd<'_> {
        self.pidfd.as_fd()
    }

    /// Waits until the process has ended, one of `also` is readable, or `timeout` has passed; only the first gives an
    /// [`Ending`]. An ending that is known once is given again at once.
    ///
    /// The ending of an adopted child is known only after its parent reaped it, and only where the kernel keeps it
    /// (Linux 6.15); that takes up to one second more (STATE.md 3.6).
    ///
    /// # Errors
    /// The kernel could not wait.
    pub fn wait(&mut self, timeout: Duration, also: &[BorrowedFd<'_>]) -> io::Result<Option<Ending>> {
        if self.ending.is_none() && wait_for(self.pidfd.as_fd(), PollFlags::IN, also, timeout)? {
            self.ending = self.ending_of_ended()?;
        }
        Ok(self.ending)
    }

    fn ending_of_ended(&self) -> io::Result<Option<Ending>> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        match waitid(WaitId::PidFd(self.pidfd.as_fd()), options) {
            Ok(status) => Ok(status.as_ref().map(Ending::from_wait_id)),
            // Not our child, or reaped already: the kernel keeps the status for the descriptor from then on.
            Err(Errno::CHILD) => {
                wait_for(self.pidfd.as_fd(), PollFlags::empty(), &[], ADOPTED_REAP_TIMEOUT)?;
                let status = reaped_wait_status(self.pidfd.as_fd());
                Ok(Some(status.map_or(Ending::Ended, Ending::from_wait_status)))
            }
            Err(error) => Err(error.into()),
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if self.ending.is_some() {
            // Somebody else's child can not be reaped here, and need not be.
            let _ = waitid(WaitId::PidFd(self.pidfd.as_fd()), WaitIdOptions::EXITED | WaitIdOptions::NOHANG);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Ending;

    #[test]
    fn wait_statuses_are_understood() {
        assert_eq!(Ending::from_wait_status(0), Ending::Exited(0));
        assert_eq!(Ending::from_wait_status(7 << 8), Ending::Exited(7));
        assert_eq!(Ending::from_wait_status(255 << 8), Ending::Exited(255));
        assert_eq!(Ending::from_wait_status(9), Ending::Signalled(9));
        assert_eq!(Ending::from_wait_status(11 | 0x80), Ending::Signalled(11));
    }
}
