//! Finds, measures and ends the processes of a world.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// The processes that have `place` in their command line or their environment.
pub(super) fn that_name(place: &Path) -> Vec<u32> {
    let place = place.as_os_str().as_bytes();
    all().filter(|pid| ["cmdline", "environ"].iter().any(|file| contains(&read(*pid, file), place))).collect()
}

/// The processes of an executable (its file name) whose command line holds every one of `words`.
pub(super) fn of_program(program: &str, words: &[&str]) -> Vec<u32> {
    all()
        .filter(|pid| {
            let executable = fs::read_link(format!("/proc/{pid}/exe")).unwrap_or_default();
            let command_line = read(*pid, "cmdline");
            executable.file_name().is_some_and(|name| name == program)
                && words.iter().all(|word| contains(&command_line, word.as_bytes()))
        })
        .collect()
}

/// Anonymous resident memory (`RssAnon` of proc_pid_status(5)) in KiB.
pub(super) fn anonymous_kibibytes(pid: u32) -> Option<f64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let value = status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
    value.trim().strip_suffix(" kB")?.parse().ok()
}

/// Kills a process and waits until it is gone. `is_meant` is asked once the process can no longer be taken for another.
pub(super) fn end(pid: u32, is_meant: impl Fn() -> bool) {
    let Some(number) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return };
    // An error means that it is gone already.
    let Ok(handle) = pidfd_open(number, PidfdFlags::empty()) else { return };
    if is_meant() && pidfd_send_signal(&handle, Signal::KILL).is_ok() {
        let _ = poll(&mut [PollFd::new(&handle, PollFlags::IN)], None);
    }
}

fn all() -> impl Iterator<Item = u32> {
    let ourselves = std::process::id();
    fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(move |pid| *pid != ourselves)
}

/// Nothing when it is gone, or not ours to see.
fn read(pid: u32, file: &str) -> Vec<u8> {
    fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default()
}

fn contains(haystack: &[u8], needle: &[u8]) -> bool {
    haystack.windows(needle.len()).any(|window| window == needle)
}
