//! The supervisor's log: standard error, which is the log file once the process is detached. Bounded; nobody reads it but
//! people.

use std::fmt::Display;
use std::io::{Write, stderr};
use std::time::SystemTime;

use record::Timestamp;
use rustix::fs::{fstat, ftruncate};

use crate::limits::LOG_MAX_BYTES;

/// Writes one line with the time and our process id. A log that can not be written is left alone: the work matters more.
pub(super) fn line(message: impl Display) {
    let time =
        Timestamp::from_system_time(SystemTime::now()).map(|time| time.to_string()).unwrap_or_default();
    let line = format!("{time} [{}] {message}\n", std::process::id());
    let _ = stderr().lock().write_all(line.as_bytes());
}

/// Begins the log anew when it is full. Only for a detached process: before, standard error is somebody else's file.
pub(super) fn bound() {
    let output = stderr().lock();
    let size = fstat(&output).map_or(0, |file| u64::try_from(file.st_size).unwrap_or(0));
    if size > LOG_MAX_BYTES {
        // Runners append to the same open file, so the next line of anybody is the first one.
        let _ = ftruncate(&output, 0);
    }
}
