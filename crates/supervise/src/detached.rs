//! Processes of ours that outlive the command that starts them: each detaches itself as its first act (STATE.md 3.2, 3.6).

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use store::{Root, Task};

use crate::RUN_WORD;
use crate::environment::handed_on;

/// The flag behind the runner's word with which it first leaves the session of whoever started it.
pub const DETACH_FLAG: &str = "--detach";

/// Starts a program of ours with an allow-listed environment and nothing of the caller's terminal. The child is the caller's
/// to reap; one that ends first leaves it to the system.
pub(crate) fn start(program: &Path, arguments: impl IntoIterator<Item = OsString>) -> io::Result<Child> {
    if !program.is_absolute() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the path is not absolute"));
    }
    Command::new(program)
        .args(arguments)
        .env_clear()
        .envs(handed_on(std::env::vars_os()))
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
}

/// Starts a detached runner for one task; harmless when another one is faster. `delegate` is our own executable.
///
/// # Errors
/// It can not be started.
pub fn start_runner(delegate: &Path, root: &Root, task: &Task) -> io::Result<Child> {
    let words = [RUN_WORD.into(), DETACH_FLAG.into(), "--root".into(), root.path().as_path().into()];
    start(delegate, words.into_iter().chain([task.id().to_string().into()]))
}
