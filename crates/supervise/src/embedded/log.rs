//! The supervisor's log: standard error, which is the log file once the process is detached. Bounded; nobody reads it but
//! people.

use std::fmt::Display;
use std::io::{Write, stderr};
use std::time::SystemTime;

use record::Timestamp;
use rustix::fs::{fstat, ftruncate};

use crate::limits::LOG_MAX_BYTES;

/// Writes one line with the time and our process id. A log that is full begins anew; one that can not be written is left
/// alone, since the work matters more.
pub(super) fn line(message: impl Display) {
    let mut output = stderr().lock();
    if fstat(&output).is_ok_and(|file| u64::try_from(file.st_size).is_ok_and(|size| size > LOG_MAX_BYTES)) {
        // Runners append to the same open file description, so the next byte of anybody is the first one.
        let _ = ftruncate(&output, 0);
    }
    let time =
        Timestamp::from_system_time(SystemTime::now()).map(|time| time.to_string()).unwrap_or_default();
    let _ = output.write_all(format!("{time} [{}] {message}\n", std::process::id()).as_bytes());
}
