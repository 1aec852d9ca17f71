//! One git process, bounded in time and answer.

use std::io::Read as _;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};

use crate::limits::{GIT_ANSWER_MAX_BYTES, GIT_MAX_SECONDS};

/// How a call ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answer {
    success: bool,
    stdout: Vec<u8>,
}

impl Answer {
    /// The standard output of a call that exited with 0.
    pub fn succeeded(&self) -> Option<&[u8]> {
        self.success.then_some(&self.stdout)
    }
}

/// A call under way. Dropped before its end, it is killed and reaped.
#[derive(Debug)]
pub struct Call(Option<Running>);

#[derive(Debug)]
struct Running {
    child: Child,
    stdout: Receiver<Option<Vec<u8>>>,
}

impl Call {
    /// Starts a command. Standard error is dropped: git quotes the patch there.
    pub(super) fn start(mut command: Command) -> Self {
        let spawned = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        let Ok(mut child) = spawned else { return Self(None) };
        let (sender, stdout) = channel();
        if let Some(pipe) = child.stdout.take() {
            std::thread::spawn(move || {
                let mut bytes = Vec::new();
                let whole = pipe
                    .take(GIT_ANSWER_MAX_BYTES)
                    .read_to_end(&mut bytes)
                    .is_ok_and(|count| (count as u64) < GIT_ANSWER_MAX_BYTES);
                // Nobody listens any more when the call was given up.
                let _ = sender.send(whole.then_some(bytes));
            });
        }
        Self(Some(Running { child, stdout }))
    }

    /// Waits for the end. A call that could not be started, was ended by a signal, answered too much or ran too long has
    /// not succeeded.
    pub fn finish(mut self) -> Answer {
        let Some(mut running) = self.0.take() else { return Answer::default() };
        let stdout = running.stdout.recv_timeout(GIT_MAX_SECONDS).ok().flatten();
        if stdout.is_none() {
            // It has ended already where this fails.
            let _ = running.child.kill();
        }
        let success = running.child.wait().is_ok_and(|status| status.success());
        Answer { success: success && stdout.is_some(), stdout: stdout.unwrap_or_default() }
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        if let Some(mut running) = self.0.take() {
            let _ = running.child.kill();
            let _ = running.child.wait();
        }
    }
}
