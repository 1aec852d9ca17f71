//! The temporary folder of a part: HOME, workspace, programs, roots. All that was started there ends with it.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use record::TaskId;
use tempfile::TempDir;
use testkit::fake;
use testkit::real::{target_directory, workspace_directory};

use super::changes::Changes;
use super::limits::SLOTS_COUNT;
use super::rounds::run;
use super::{processes, rounds};
use crate::failure::Failure;

/// The built-in worker.
pub(super) const SURVEY: &str = "offline:survey";
/// codex, played by the fake CLI unless a part says otherwise.
pub(super) const CODEX: &str = "codex:exec";
/// The programs of the system that jobs use.
const SYSTEM_PATH: &str = "/usr/local/bin:/usr/bin:/bin";
/// The folder of the release build.
const PROFILE: &str = "release";

/// The folder of all worlds. It is removed when everything was measured: on ext4 without a journal, to make a file takes
/// many times longer for a minute after thousands were removed, so one part would be measured in the wake of another.
pub(super) struct Worlds(TempDir);

/// A temporary folder, and `delegate` in it.
pub(super) struct World {
    directory: PathBuf,
}

/// Where and as whom `delegate` is started.
#[derive(Debug, Clone)]
pub(super) struct Lead {
    root: PathBuf,
    workspace: PathBuf,
    environment: Vec<(&'static str, OsString)>,
}

/// Builds what is measured.
pub(super) fn build() -> Result<(), Failure> {
    // One package at a time: what one asks of the crates that they share does not reach the other.
    for package in ["cli", "testkit"] {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = Command::new(cargo);
        command
            .args(["build", "--quiet", "--bins", "--package", package, "--profile", PROFILE, "--target-dir"])
            .arg(target_directory())
            .current_dir(workspace_directory());
        let status = command.status().map_err(|source| rounds::not_started(&command, source))?;
        if !status.success() {
            return Err(Failure::Program(format!("cargo build --package {package}")));
        }
    }
    Ok(())
}

fn built(program: &str) -> PathBuf {
    target_directory().join(PROFILE).join(program)
}

impl Worlds {
    /// They lie below the target directory: a provider may write in the system's temporary directory, so no root may be
    /// there.
    pub(super) fn new() -> Result<Self, Failure> {
        let target = target_directory();
        let made = tempfile::Builder::new().prefix("bench-").tempdir_in(&target);
        made.map(Self).map_err(Failure::file(target))
    }

    pub(super) fn path(&self) -> &Path {
        self.0.path()
    }
}

impl World {
    /// An empty world of that name.
    pub(super) fn new(worlds: &Worlds, name: &str) -> Result<Self, Failure> {
        let world = Self { directory: worlds.path().join(name) };
        fs::create_dir(&world.directory).map_err(Failure::file(&world.directory))?;
        for name in ["home", "workspace", "bin", "jobs"] {
            let path = world.place(name);
            fs::create_dir(&path).map_err(Failure::file(path))?;
        }
        let brief = world.brief();
        fs::write(&brief, "Survey.\n").map_err(Failure::file(brief))?;
        run(Command::new("cp").arg(built(fake::PROGRAM)).arg(world.place("bin/codex")))?;
        // Else the repository of this project would be the workspace's.
        run(Command::new("git").args(["init", "--quiet"]).arg(world.place("workspace")))?;
        Ok(world)
    }

    /// A path in the folder.
    pub(super) fn place(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// The brief that asks for nothing special.
    pub(super) fn brief(&self) -> PathBuf {
        self.place("brief.md")
    }

    /// A command in the small environment that ours and the peers have here.
    pub(super) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.env_clear().envs(self.environment()).current_dir(&self.directory);
        command
    }

    fn environment(&self) -> Vec<(&'static str, OsString)> {
        let path = format!("{}:{SYSTEM_PATH}", self.place("bin").display());
        vec![("HOME", self.place("home").into()), ("PATH", path.into()), ("LANG", "C.UTF-8".into())]
    }

    /// A lead with a root of that name.
    pub(super) fn lead(&self, root: &str) -> Lead {
        Lead { root: self.place(root), workspace: self.place("workspace"), environment: self.environment() }
    }
}

impl Lead {
    /// The same root, another workspace and environment.
    pub(super) fn elsewhere(self, workspace: PathBuf, environment: Vec<(&'static str, OsString)>) -> Self {
        Self { workspace, environment, ..self }
    }

    /// The same with one more variable.
    pub(super) fn and(mut self, name: &'static str, value: impl Into<OsString>) -> Self {
        self.environment.push((name, value.into()));
        self
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    pub(super) fn task_directory(&self, id: TaskId) -> PathBuf {
        self.root.join("tasks").join(id.to_string())
    }

    /// `delegate` with these words.
    pub(super) fn delegate<S: AsRef<OsStr>>(&self, words: impl IntoIterator<Item = S>) -> Command {
        let mut command = Command::new(built("delegate"));
        command
            .args(words)
            .env_clear()
            .envs(self.environment.iter().cloned())
            .env("DELEGATE_ROOT", &self.root)
            .env("DELEGATE_SLOTS", SLOTS_COUNT.to_string())
            .current_dir(&self.workspace);
        command
    }

    /// `delegate dispatch` of a brief.
    pub(super) fn dispatch(&self, provider: &str, brief: &Path) -> Command {
        let mut command = self.delegate(["dispatch", "--json", "--provider", provider, "--brief"]);
        command.arg(brief).arg("--cwd").arg(&self.workspace);
        command
    }

    /// Waits until every task of the root has ended.
    pub(super) fn wait_until_idle(&self) -> Result<(), Failure> {
        let open = self.root.join("open");
        let is_empty = || fs::read_dir(&open).is_ok_and(|mut names| names.next().is_none());
        Changes::of(&open)?.until("the end of all tasks", is_empty)
    }

    /// The supervisor of the root.
    pub(super) fn supervisor(&self) -> Option<u32> {
        let root = self.root.to_string_lossy();
        processes::of_program("delegate", &["__supervise", &root]).first().copied()
    }

    /// Ends the supervisor of the root, if there is one.
    pub(super) fn end_supervisor(&self) {
        if let Some(pid) = self.supervisor() {
            processes::end(pid, || self.supervisor() == Some(pid));
        }
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let path = &self.directory;
        // What is found may start another process while it is ended.
        loop {
            let left = processes::that_name(path);
            if left.is_empty() {
                return;
            }
            for pid in left {
                processes::end(pid, || processes::that_name(path).contains(&pid));
            }
        }
    }
}
