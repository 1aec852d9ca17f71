//! Making a freshly started process of ours independent of who started it (STATE.md 3.2).

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use nix::sys::signal::SigSet;
use rustix::fs::Mode;
use rustix::process::{Resource, Rlimit, chdir, getrlimit, setpriority_process, setrlimit, setsid, umask};
use rustix::stdio::{dup2_stderr, dup2_stdin, dup2_stdout};

use crate::raw;

/// First descriptor that is not standard input, output or error.
pub(crate) const FIRST_OTHER_DESCRIPTOR: u32 = 3;

/// Detaches this process: a session of its own without a controlling terminal, working directory `/`, umask 077, standard
/// input from `/dev/null`, standard output and error to `log` (appended to, created with mode 0600, never followed through
/// a link) or to `/dev/null`, every other descriptor closed, every signal with its default disposition, none blocked, resource limits and niceness
/// that a shell may have set undone as far as possible.
///
/// It must be the first act of the process, before a thread is started or a descriptor opened. `log` must be absolute or
/// relative to the directory that the process was started in. Standard error is replaced last: until then an error can
/// still be printed where the starter sees it.
///
/// # Errors
/// The log can not be opened, or the process leads a process group already and so can not start a session.
pub fn become_detached(log: Option<&Path>) -> io::Result<()> {
    close_inherited_descriptors()?;
    reset_signals()?;
    reset_limits();
    umask(Mode::RWXG | Mode::RWXO);
    setsid()?;
    let null = OpenOptions::new().read(true).write(true).open("/dev/null")?;
    let output = match log {
        Some(path) => open_log(path)?,
        None => null.try_clone()?,
    };
    chdir("/")?;
    dup2_stdin(&null)?;
    dup2_stdout(&output)?;
    dup2_stderr(&output)?;
    Ok(())
}

/// Closes every descriptor but the three standard ones. It must be the first act of a process, before it opens anything:
/// what it closes is what the starter left open by mistake.
///
/// # Errors
/// The kernel can not close a range and `/proc` is not there either.
pub fn close_inherited_descriptors() -> io::Result<()> {
    raw::close_from(FIRST_OTHER_DESCRIPTOR)
}

/// Every signal with its default disposition, none blocked.
pub(crate) fn reset_signals() -> io::Result<()> {
    raw::reset_signal_dispositions();
    Ok(SigSet::empty().thread_set_mask()?)
}

/// Undoes, as far as this user may, what the starter's shell limits: a process that serves everybody must not pass on one
/// caller's bounds. A lowered hard limit stays for whoever is not the superuser.
fn reset_limits() {
    for resource in [Resource::Fsize, Resource::Cpu, Resource::As, Resource::Data, Resource::Rss] {
        let without = Rlimit { current: None, maximum: None };
        if setrlimit(resource, without).is_err() {
            let maximum = getrlimit(resource).maximum;
            // The soft limit can always be raised to the hard one.
            let _ = setrlimit(resource, Rlimit { current: maximum, maximum });
        }
    }
    let _ = setpriority_process(None, 0);
}

fn open_log(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new()
        .append(true)
        .create(true)
        .mode(0o600)
        .custom_flags(libc::O_NOFOLLOW | libc::O_NOCTTY | libc::O_NONBLOCK)
        .open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the log is not a regular file"));
    }
    Ok(file)
}
