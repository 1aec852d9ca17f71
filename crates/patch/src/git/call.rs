//! One git process, bounded in time and answer.

use std::io::{self, Read as _};
use std::os::fd::AsFd as _;
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;
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

/// A call under way. It has a thread of its own, since starting a program blocks the thread that does it. Dropped before
/// its end, it is waited for: nothing outlives a check.
#[derive(Debug)]
pub(crate) struct Call(Option<JoinHandle<Answer>>);

impl Call {
    /// Starts a command. Standard error is dropped: git quotes the patch there.
    pub(super) fn start(mut command: Command) -> Self {
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        Self(Some(std::thread::spawn(move || run(&mut command).unwrap_or_default())))
    }

    /// Waits for the end. A call that could not be started, was ended by a signal, answered too much or ran too long has
    /// not succeeded.
    pub(crate) fn finish(mut self) -> Answer {
        self.0.take().and_then(|thread| thread.join().ok()).unwrap_or_default()
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        if let Some(thread) = self.0.take() {
            // Only its end matters here.
            let _ = thread.join();
        }
    }
}

fn run(command: &mut Command) -> io::Result<Answer> {
    let mut child = command.spawn()?;
    let stdout = collect(&mut child);
    if stdout.is_err() {
        // It has ended already where this fails.
        let _ = child.kill();
    }
    let status = child.wait()?;
    Ok(Answer { success: status.success(), stdout: stdout? })
}

/// Everything that a child writes, until it closes the pipe.
fn collect(child: &mut Child) -> io::Result<Vec<u8>> {
    let mut pipe = child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
    let end = Instant::now() + GIT_MAX_SECONDS;
    let mut bytes = Vec::new();
    let mut buffer = [0; 64 << 10];
    loop {
        let left = end.saturating_duration_since(Instant::now());
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
