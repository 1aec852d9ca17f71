//! One git process, bounded in time and answer.

use std::io::{self, Read as _};
use std::os::fd::AsFd as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::limits::{GIT_ANSWER_MAX_BYTES, GIT_MAX_SECONDS};

/// How a call ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Answer {
    success: bool,
    stdout: Vec<u8>,
}

impl Answer {
    /// The standard output of a call that exited with 0.
    pub(crate) fn succeeded(&self) -> Option<&[u8]> {
        self.success.then_some(&self.stdout)
    }
}

/// A call under way. Dropped before its end, it is killed: nothing outlives a check.
#[derive(Debug)]
pub(crate) struct Call {
    /// Absent where git could not be started, and after the end.
    child: Option<Child>,
    deadline: Instant,
}

impl Call {
    /// Starts a command. Standard error is dropped: git quotes the patch there. An answer longer than a pipe holds is
    /// written on when it is waited for.
    pub(super) fn start(mut command: Command) -> Self {
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        Self { child: command.spawn().ok(), deadline: Instant::now() + GIT_MAX_SECONDS }
    }

    /// Waits for the end. A call that could not be started, was ended by a signal, answered too much or ran too long has
    /// not succeeded.
    pub(crate) fn finish(mut self) -> Answer {
        let Some(child) = &mut self.child else { return Answer::default() };
        let Ok(stdout) = collect(child, self.deadline) else { return Answer::default() };
        let ended = child.wait();
        self.child = None;
        ended.map(|status| Answer { success: status.success(), stdout }).unwrap_or_default()
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            // It may have ended by itself.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Everything that a child writes, until it closes the pipe.
fn collect(child: &mut Child, deadline: Instant) -> io::Result<Vec<u8>> {
    let mut pipe = child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
    let mut bytes = Vec::new();
    let mut buffer = [0; 64 << 10];
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left == Duration::ZERO || bytes.len() as u64 > GIT_ANSWER_MAX_BYTES {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let timeout = Timespec { tv_sec: left.as_secs().cast_signed(), tv_nsec: left.subsec_nanos().into() };
        let ready = poll(&mut [PollFd::new(&pipe.as_fd(), PollFlags::IN)], Some(&timeout));
        match ready {
            Ok(0) => {}
            Ok(_) => match pipe.read(&mut buffer)? {
                0 => return Ok(bytes),
                count => bytes.extend_from_slice(&buffer[..count]),
            },
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}
