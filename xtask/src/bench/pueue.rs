//! Pueue, with a daemon of its own.

use std::fs::{self, File};
use std::os::unix::fs::DirBuilderExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::limits::{QUEUE_QUESTION_MILLISECONDS, SLOTS_COUNT, WAIT_MAX_SECONDS};
use super::rounds::{not_started, read, run};
use super::world::World;
use crate::failure::Failure;
use crate::pueue::{directory, version};

/// A daemon that ends with this value.
pub(super) struct Pueue<'a> {
    world: &'a World,
    daemon: Child,
}

impl<'a> Pueue<'a> {
    /// Starts a daemon with a new state and waits until it answers.
    pub(super) fn start(world: &'a World) -> Result<Self, Failure> {
        let state = world.place("pueue");
        fs::DirBuilder::new().mode(0o700).create(&state).map_err(Failure::file(&state))?;
        let place = state.display();
        // 448 is 0700.
        let configuration = format!(
            "shared:\n  pueue_directory: {place}\n  runtime_directory: {place}\n  use_unix_socket: true\n  \
             unix_socket_path: {place}/socket\n  unix_socket_permissions: 448\n  pid_path: {place}/pid\n\
             daemon:\n  compress_state_file: false\n"
        );
        fs::write(state.join("pueue.yml"), configuration).map_err(Failure::file(&state))?;
        let log = || File::create(state.join("daemon.log")).map_err(Failure::file(&state));
        let mut command = client(world, "pueued")?;
        command.stdin(Stdio::null()).stdout(log()?).stderr(log()?);
        let daemon = command.spawn().map_err(|source| not_started(&command, source))?;
        let pueue = Self { world, daemon };
        // The socket is there before the daemon answers.
        let slots = SLOTS_COUNT.to_string();
        pueue.ask_until("answer", || Ok(run(pueue.command()?.args(["parallel", &slots])).is_ok()))?;
        Ok(pueue)
    }

    /// The daemon.
    pub(super) fn daemon(&self) -> u32 {
        self.daemon.id()
    }

    /// A client of the daemon.
    pub(super) fn command(&self) -> Result<Command, Failure> {
        client(self.world, "pueue")
    }

    /// `pueue add` of a command.
    pub(super) fn add(&self, more: &[&str], job: &[&str]) -> Result<Command, Failure> {
        let mut command = self.command()?;
        command.arg("add").args(more).arg("--").args(job);
        Ok(command)
    }

    /// Waits until all jobs are done. Pueue's own `wait` asks every two seconds only.
    pub(super) fn wait_until_idle(&self) -> Result<(), Failure> {
        self.ask_until("end its jobs", || {
            let status = read(self.command()?.args(["status", "--json"]))?;
            let status: Value = serde_json::from_slice(&status).unwrap_or_default();
            let is_done = |task: &Value| task["status"]["Done"].is_object();
            Ok(status["tasks"].as_object().is_some_and(|tasks| tasks.values().all(is_done)))
        })
    }

    /// Asks again and again: pueue tells nobody.
    fn ask_until(&self, what: &str, ask: impl Fn() -> Result<bool, Failure>) -> Result<(), Failure> {
        let deadline = Instant::now() + Duration::from_secs(WAIT_MAX_SECONDS);
        while !ask()? {
            if Instant::now() >= deadline {
                return Err(Failure::Other(format!("pueue does not {what}")));
            }
            std::thread::sleep(Duration::from_millis(QUEUE_QUESTION_MILLISECONDS));
        }
        Ok(())
    }
}

impl Drop for Pueue<'_> {
    fn drop(&mut self) {
        // The world ends the jobs that it leaves.
        let _ = self.daemon.kill();
        let _ = self.daemon.wait();
    }
}

fn client(world: &World, program: &str) -> Result<Command, Failure> {
    let mut command = world.command(directory(&version()?).join("bin").join(program));
    command.arg("-c").arg(world.place("pueue/pueue.yml"));
    Ok(command)
}
