//! What a command shows while it waits for another program to answer.

use std::io::{self, IsTerminal, Write};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Instant;

use super::amount;
use crate::limits::{PATIENCE_WORTH_SAYING, PROGRESS_INTERVAL};

/// Says now and then what is waited for, until it is dropped.
pub(crate) struct Patience(Option<(Sender<()>, JoinHandle<()>)>);

impl Patience {
    /// Words for a person on standard error; none when the command speaks JSON.
    pub(crate) fn on_stderr(json: bool, what: String) -> Self {
        if json {
            return Self(None);
        }
        let (sender, receiver) = channel::<()>();
        let thread = std::thread::Builder::new().spawn(move || {
            let began = Instant::now();
            let is_terminal = io::stderr().is_terminal();
            let mut said = false;
            let rhythm = if is_terminal { PATIENCE_WORTH_SAYING } else { PROGRESS_INTERVAL };
            while receiver.recv_timeout(rhythm) == Err(RecvTimeoutError::Timeout) {
                let words = format!("{what}, {}", amount::seconds(began.elapsed().as_secs_f64().round()));
                let mut stderr = io::stderr().lock();
                // That nobody can see it is no fault.
                let _ = if is_terminal {
                    stderr.write_all(format!("\r{words}\x1b[K").as_bytes())
                } else {
                    stderr.write_all(format!("{words}\n").as_bytes())
                };
                said = true;
            }
            if said && is_terminal {
                let _ = write!(io::stderr().lock(), "\r\x1b[K");
            }
        });
        // A host without threads to spare goes without words.
        Self(thread.ok().map(|thread| (sender, thread)))
    }
}

impl Drop for Patience {
    fn drop(&mut self) {
        if let Some((sender, thread)) = self.0.take() {
            drop(sender);
            let _ = thread.join();
        }
    }
}
