//! Waiting for one descriptor, with a time limit and others that may interrupt the wait.

use std::io;
use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

/// Waits until `awaited` has one of `events` (or hung up), one of `interrupting` is readable, or `timeout` has passed.
/// Answers whether `awaited` is what happened. A timeout too large to be represented means no limit.
pub(crate) fn wait_for(
    awaited: BorrowedFd<'_>,
    events: PollFlags,
    interrupting: &[BorrowedFd<'_>],
    timeout: Duration,
) -> io::Result<bool> {
    let deadline = Instant::now().checked_add(timeout);
    let mut descriptors = Vec::with_capacity(1 + interrupting.len());
    descriptors.push(PollFd::from_borrowed_fd(awaited, events));
    descriptors
        .extend(interrupting.iter().map(|descriptor| PollFd::from_borrowed_fd(*descriptor, PollFlags::IN)));
    loop {
        let remaining = deadline
            .and_then(|deadline| Timespec::try_from(deadline.saturating_duration_since(Instant::now())).ok());
        match poll(&mut descriptors, remaining.as_ref()) {
            Ok(_) => return Ok(!descriptors[0].revents().is_empty()),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}
