//! The signals that ask this process to end, as a descriptor to wait on.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use nix::sys::signal::{SigSet, Signal, raise};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use rustix::process::{DumpableBehavior, set_dumpable_behavior};

use crate::raw;

/// SIGTERM, SIGINT, SIGHUP and SIGQUIT, held back from their default effect and readable one by one (STATE.md 3.5: to a
/// runner they mean an orderly stop).
#[derive(Debug)]
pub struct TerminationSignals(SignalFd);

impl TerminationSignals {
    /// Blocks these signals for this thread and those it starts later: call it before any other thread exists. They
    /// stay blocked for the life of the process. A signal that the process was started to ignore (`nohup`) stays ignored.
    ///
    /// # Errors
    /// No descriptor is left.
    pub fn block() -> io::Result<Self> {
        let mut set = SigSet::empty();
        for signal in [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP, Signal::SIGQUIT] {
            // A blocked signal is kept even where it would be ignored.
            if !raw::is_ignored(signal as i32)? {
                set.add(signal);
            }
        }
        set.thread_block()?;
        Ok(Self(SignalFd::with_flags(&set, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)?))
    }

    /// The descriptor that becomes readable when one of the signals has arrived.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }

    /// Takes the number of one signal that has arrived; `None` when there is none.
    pub fn take(&self) -> Option<i32> {
        let information = self.0.read_signal().ok().flatten()?;
        i32::try_from(information.ssi_signo).ok()
    }

    /// Ends this process by a signal that was taken, as if it had never been held back: whoever waits for the process sees
    /// by what it ended.
    pub fn end_by(self, number: i32) -> ! {
        // SIGQUIT would leave the memory in a file, with all that was secret.
        let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
        if let Ok(signal) = Signal::try_from(number) {
            let mut set = SigSet::empty();
            set.add(signal);
            // Blocked only in the threads that block() was called for, of which this is one.
            let _ = set.thread_unblock().and_then(|()| raise(signal));
        }
        std::process::exit(128 + number)
    }
}
