//! Task spooler, with a server of its own.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::limits::SLOTS_COUNT;
use super::rounds::run;
use super::world::World;
use crate::failure::Failure;

/// Its Debian package.
const PACKAGE: &str = "task-spooler";
/// Where that package puts the program; elsewhere `tsp` may be something else.
const PROGRAM: &str = "/usr/bin/tsp";

/// A server that is started by the first command and ends with this value.
pub(super) struct Tsp<'a> {
    world: &'a World,
    program: PathBuf,
}

/// The program; root gets it installed. `Err` says why there is none.
pub(super) fn find() -> Result<PathBuf, String> {
    let program = PathBuf::from(PROGRAM);
    if !program.exists() {
        if !rustix::process::geteuid().is_root() {
            return Err(format!("{PACKAGE} is not installed"));
        }
        let status = Command::new("apt-get")
            .args(["install", "--yes", "--quiet", PACKAGE])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .status();
        if !status.is_ok_and(|status| status.success()) || !program.exists() {
            return Err(format!("{PACKAGE} could not be installed"));
        }
    }
    Ok(program)
}

impl<'a> Tsp<'a> {
    pub(super) fn new(world: &'a World, program: &Path) -> Self {
        Self { world, program: program.to_path_buf() }
    }

    /// `tsp` with these words: a job, or a request to the server.
    pub(super) fn command(&self, words: &[&str]) -> Command {
        let mut command = self.world.command(&self.program);
        command
            .args(words)
            .env("TS_SOCKET", self.world.place("tsp.socket"))
            .env("TS_SLOTS", SLOTS_COUNT.to_string())
            .env("TMPDIR", self.world.place("jobs"));
        command
    }

    /// Waits for the end of the job that was added last.
    pub(super) fn wait_for_last(&self) -> Result<(), Failure> {
        run(&mut self.command(&["-w"]))
    }
}

impl Drop for Tsp<'_> {
    fn drop(&mut self) {
        // A server that was never started can not be ended.
        let _ = run(&mut self.command(&["-K"]));
    }
}
