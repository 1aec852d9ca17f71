//! What the machine and its file system cost at the moment, so that a reader can tell a slow program from a slow hour.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use super::limits::CALIBRATION_SAMPLES_COUNT;
use super::rounds::time;
use super::table::{Samples, Unit};
use crate::failure::Failure;

/// A sentence: load, and medians of making a file, of making it durable, and of starting a program.
pub(super) fn take(directory: &Path) -> Result<String, Failure> {
    let (mut made, mut synced, mut started) = (Vec::new(), Vec::new(), Vec::new());
    let milliseconds = |begun: Instant| begun.elapsed().as_secs_f64() * 1e3;
    for _ in 0..CALIBRATION_SAMPLES_COUNT {
        // New folders are spread over the file system, and tasks are new folders.
        let folder = tempfile::tempdir_in(directory).map_err(Failure::file(directory))?;
        let path = folder.path().join("file");
        let begun = Instant::now();
        let mut file = File::create_new(&path).map_err(Failure::file(&path))?;
        made.push(milliseconds(begun));
        let begun = Instant::now();
        file.write_all(b"content").and_then(|()| file.sync_all()).map_err(Failure::file(&path))?;
        synced.push(milliseconds(begun));
        started.push(time(&mut Command::new("true"))?.as_secs_f64() * 1e3);
    }
    let median = |values| Samples::new(values, Unit::Milliseconds).median();
    Ok(format!(
        "load average {}; to make a file takes {:.3} ms, to sync it {:.2} ms, to run `true` {:.2} ms",
        load(),
        median(made),
        median(synced),
        median(started)
    ))
}

/// What does not change.
pub(super) fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!("{cores} cores, Linux {}.", kernel.trim())
}

fn load() -> String {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().next().unwrap_or("unknown").to_owned()
}
