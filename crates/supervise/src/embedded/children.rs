//! The signal that a child has ended, as a descriptor to wait on.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};

/// SIGCHLD, held back from its default effect. One may stand for many ended children.
#[derive(Debug)]
pub(super) struct ChildSignal(SignalFd);

impl ChildSignal {
    /// Blocks the signal for this thread: call it before any other thread exists.
    pub(super) fn block() -> io::Result<Self> {
        let mut set = SigSet::empty();
        set.add(Signal::SIGCHLD);
        set.thread_block()?;
        Ok(Self(SignalFd::with_flags(&set, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)?))
    }

    /// Readable when children may have ended.
    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }

    /// Takes the signal. Whoever reaps afterwards misses no child.
    pub(super) fn take(&self) {
        while matches!(self.0.read_signal(), Ok(Some(_))) {}
    }
}
