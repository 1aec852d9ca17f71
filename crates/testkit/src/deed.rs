//! What a fake tries from inside a sandbox, and the ways in which it is in the way of its caller.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::limits::LINGER_MAX_SECONDS;
use crate::watch::until_there;

/// First argument of a process that is left behind.
const STAYER: &str = "__stayer";

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
    say("started");
}

/// Makes a file with the number of this process in the temporary directory; it appears whole.
fn say(name: &str) {
    let path = PathBuf::from(std::env::var_os("TMPDIR").unwrap_or_default()).join(name);
    let staged = path.with_extension("new");
    let _ = fs::write(&staged, std::process::id().to_string()).and_then(|()| fs::rename(&staged, path));
}

/// Is deaf to the signal that asks for an end.
pub fn deaf() {
    let mut set = nix::sys::signal::SigSet::empty();
    set.add(nix::sys::signal::Signal::SIGTERM);
    let _ = set.thread_block();
}

/// Is told to end, makes the file `told` in the temporary directory, and does nothing all the same until it is killed.
pub fn stubborn() -> ! {
    let mut set = nix::sys::signal::SigSet::empty();
    set.add(nix::sys::signal::Signal::SIGTERM);
    if set.thread_block().and_then(|()| set.wait()).is_ok() {
        say("told");
    }
    hang()
}

/// Does nothing until it is ended.
pub fn hang() -> ! {
    std::thread::sleep(Duration::from_secs(LINGER_MAX_SECONDS));
    std::process::exit(1)
}

/// What a setup says in place of the usual answer to a question; a failure where it is null.
#[must_use]
pub fn print(setup: &Value, member: &str, usual: &str) -> ExitCode {
    match setup.get(member) {
        None => print!("{usual}"),
        Some(Value::Null) => return ExitCode::FAILURE,
        Some(other) => print!("{}", other.as_str().unwrap_or_default()),
    }
    ExitCode::SUCCESS
}

/// Leaves a process behind, which says its number in the file `left` of the working directory.
pub fn leave() {
    let path = Path::new("left");
    let own = std::env::current_exe().unwrap_or_default();
    let child = Command::new(own).arg(STAYER).arg(path).stdin(Stdio::null()).stdout(Stdio::null()).spawn();
    if child.is_ok() {
        until_there(path);
    }
}

/// Plays the process that is left behind, if these are the arguments of one.
#[must_use]
pub fn stay_if_asked(words: &[&str]) -> Option<ExitCode> {
    if words.first() != Some(&STAYER) {
        return None;
    }
    let path = Path::new(words.get(1)?);
    let staged = path.with_extension("staged");
    // Whoever sees the file sees the number in it.
    let said =
        fs::write(&staged, format!("{}\n", std::process::id())).and_then(|()| fs::rename(&staged, path));
    if said.is_err() {
        return Some(ExitCode::FAILURE);
    }
    hang()
}
