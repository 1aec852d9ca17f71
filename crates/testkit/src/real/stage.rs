//! A stage: one real CLI, a model server, a home and a workspace, in a closed network.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;
use thiserror::Error;

use super::component::{Component, Pins, PinsError, target_directory};
use super::endpoint;
use super::skip::skip;
use crate::closed_network;
use crate::model_server::ModelServer;

/// Programs of the system that CLIs use.
const SYSTEM_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Where a real CLI runs. Everything on it goes with it.
///
/// The thread that sets it moves into a closed network and stays there; start what belongs to the stage from it.
#[derive(Debug)]
pub struct Stage {
    component: Component,
    version: String,
    server: ModelServer,
    /// Outside the system's temporary directory: codex switches parts of itself off there.
    files: TempDir,
    /// Short, and in the system's temporary directory.
    temporary: TempDir,
}

/// Why there is no stage.
#[derive(Debug, Error)]
pub enum StageError {
    /// It can not be on this host, or nothing is installed.
    #[error("{0}")]
    Unavailable(String),
    /// The pinned versions are not known.
    #[error(transparent)]
    Pins(#[from] PinsError),
    /// A file could not be made.
    #[error("the stage could not be built: {0}")]
    Build(#[from] io::Error),
}

impl Stage {
    /// A stage for a test; `None` after the test was reported as skipped ([`skip`]).
    ///
    /// # Panics
    /// The stage could be, but building it failed; or it can not be, and real components are demanded.
    #[must_use]
    pub fn for_test(test: &str, component: Component) -> Option<Self> {
        match Self::set(component) {
            Ok(stage) => Some(stage),
            Err(StageError::Unavailable(reason)) => {
                skip(test, &reason);
                None
            }
            Err(error) => panic!("{test}: {error}"),
        }
    }

    /// Builds a stage for a CLI at its pinned version.
    ///
    /// # Errors
    /// See [`StageError`].
    pub fn set(component: Component) -> Result<Self, StageError> {
        let pins = Pins::read()?;
        let programs = programs(component, &pins)?;
        closed_network::enter().map_err(StageError::Unavailable)?;
        let homes = target_directory().join("real-homes");
        fs::create_dir_all(&homes)?;
        let stage = Self {
            component,
            version: pins.version(component).to_owned(),
            server: ModelServer::start()?,
            files: TempDir::new_in(homes)?,
            temporary: TempDir::new()?,
        };
        fs::create_dir(stage.workspace())?;
        fs::write(stage.workspace().join("README.md"), "A file to look at.\n")?;
        fs::create_dir(stage.programs())?;
        for (name, path) in programs {
            symlink(path, stage.programs().join(name))?;
        }
        for (name, content) in endpoint::files(component, &stage.server.url()) {
            let path = stage.home().join(name);
            fs::create_dir_all(path.parent().unwrap_or(&path))?;
            fs::write(path, content)?;
        }
        Ok(stage)
    }

    /// The CLI on it.
    #[must_use]
    pub fn component(&self) -> Component {
        self.component
    }

    /// The version of the CLI.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The model that the CLI talks to.
    #[must_use]
    pub fn server(&self) -> &ModelServer {
        &self.server
    }

    /// The home directory, with the configuration of the CLI.
    #[must_use]
    pub fn home(&self) -> PathBuf {
        self.files.path().join("home")
    }

    /// A folder to work in, with one `README.md`; no git repository.
    #[must_use]
    pub fn workspace(&self) -> PathBuf {
        self.files.path().join("workspace")
    }

    /// For TMPDIR.
    #[must_use]
    pub fn temporary(&self) -> &Path {
        self.temporary.path()
    }

    /// The folder in which PATH finds the CLI and what it needs.
    #[must_use]
    pub fn programs(&self) -> PathBuf {
        self.files.path().join("bin")
    }

    /// The whole environment that a CLI needs here: all of it passes the filter of providers.md 1.7.
    #[must_use]
    pub fn environment(&self) -> Vec<(&'static str, OsString)> {
        let mut path = self.programs().into_os_string();
        path.push(":");
        path.push(SYSTEM_PATH);
        vec![
            ("HOME", self.home().into_os_string()),
            ("PATH", path),
            ("TMPDIR", self.temporary().as_os_str().to_owned()),
            ("LANG", "C.UTF-8".into()),
            ("USER", "tester".into()),
            ("LOGNAME", "tester".into()),
            ("SHELL", "/bin/bash".into()),
        ]
    }

    /// The CLI itself in that environment and workspace.
    #[must_use]
    pub fn command(&self) -> Command {
        let mut command = Command::new(self.programs().join(self.component.name()));
        command.env_clear().envs(self.environment()).current_dir(self.workspace());
        command
    }
}

/// The CLI and what it needs, as name and installed file.
fn programs(component: Component, pins: &Pins) -> Result<Vec<(&'static str, PathBuf)>, StageError> {
    let wanted = [component].into_iter().chain(component.needs().iter().copied());
    wanted
        .map(|part| {
            let version = pins.version(part);
            let path = part.executable(version).ok_or_else(|| {
                let name = part.name();
                StageError::Unavailable(format!(
                    "{name} {version} is not installed (cargo xtask real install {name})"
                ))
            })?;
            Ok((part.name(), path))
        })
        .collect()
}
