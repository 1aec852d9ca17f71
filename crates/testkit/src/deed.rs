//! What a fake tries from inside a sandbox, and the ways in which it is in the way of its caller.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::limits::LINGER_MAX_SECONDS;

/// The loader of this platform.
const LOADERS: [&str; 2] = ["/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"];

/// A word for what came of an attempt: `done`, `denied`, or the error.
#[must_use]
pub fn outcome(attempt: &io::Result<()>) -> String {
    match attempt {
        Ok(()) => "done".to_owned(),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => "denied".to_owned(),
        Err(error) => error.to_string(),
    }
}

/// Adds a line to a file, which may be new.
///
/// # Errors
/// Those of the file system.
pub fn write(path: &Path) -> io::Result<()> {
    OpenOptions::new().append(true).create(true).open(path)?.write_all(b"by the fake\n")
}

/// Runs a program to its end.
///
/// # Errors
/// It did not start, or its status tells of a failure.
pub fn execute(program: &str, arguments: &[&str]) -> io::Result<()> {
    let status = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()?;
    if status.success() { Ok(()) } else { Err(io::Error::other(status.to_string())) }
}

/// Starts a program by handing it to the loader.
///
/// # Errors
/// Those of [`execute`].
pub fn load(program: &str) -> io::Result<()> {
    let loader = LOADERS.into_iter().find(|loader| Path::new(loader).exists()).unwrap_or_default();
    execute(loader, &[program])
}

/// Makes the file `started` in the temporary directory, for a test that waits for it.
pub fn announce() {
    let path = PathBuf::from(std::env::var_os("TMPDIR").unwrap_or_default()).join("started");
    let _ = fs::write(path, "");
}

/// Is deaf to the signal that asks for an end.
pub fn deaf() {
    let mut set = nix::sys::signal::SigSet::empty();
    set.add(nix::sys::signal::Signal::SIGTERM);
    let _ = set.thread_block();
}

/// Does nothing until it is ended.
pub fn hang() -> ! {
    std::thread::sleep(Duration::from_secs(LINGER_MAX_SECONDS));
    std::process::exit(1)
}
