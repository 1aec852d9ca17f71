//! The program under trial, as a lead uses it.

use std::ffi::{OsStr, OsString};
use std::fs;
#[cfg(test)]
use std::path::Path;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::failure::Failure;

/// The `delegate` under trial, with a root and an environment.
pub(super) struct Delegate {
    program: PathBuf,
    root: PathBuf,
    environment: Vec<(OsString, OsString)>,
}

impl Delegate {
    /// The caller's environment reaches the CLIs, as it does in daily use; what it says about other roots does not count.
    pub(super) fn new(
        program: PathBuf,
        root: PathBuf,
        environment: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Self {
        let is_ours = |name: &OsStr| name.as_encoded_bytes().starts_with(b"DELEGATE_");
        let environment = environment.into_iter().filter(|(name, _)| !is_ours(name)).collect();
        Self { program, root, environment }
    }

    /// The answer of a command, whatever its exit code.
    pub(super) fn ask<S: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = S>,
    ) -> Result<Value, Failure> {
        let output = Command::new(&self.program)
            .arg("--json")
            .arg("--root")
            .arg(&self.root)
            .args(arguments)
            .env_clear()
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .output()
            .map_err(|source| Failure::Start { program: self.program.display().to_string(), source })?;
        serde_json::from_slice(&output.stdout)
            .map_err(|error| Failure::Other(format!("{} printed no JSON: {error}", self.program.display())))
    }

    /// The profiles that have a program of their own; or the one that was named, which must be one of them.
    pub(super) fn providers(&self, only: Option<&str>) -> Result<Vec<String>, Failure> {
        let answer = self.ask(["providers"])?;
        let listed = answer["providers"].as_array().map(Vec::as_slice).unwrap_or_default();
        let providers: Vec<String> = listed
            .iter()
            .filter(|provider| provider["runtime"]["executable"].is_string())
            .filter_map(|provider| provider["id"].as_str().map(str::to_owned))
            .filter(|id| only.is_none_or(|only| only == id))
            .collect();
        match (providers.is_empty(), only) {
            (true, Some(only)) => Err(Failure::Other(format!("no profile {only} has a program of its own"))),
            _ => Ok(providers),
        }
    }

    /// The committed answer of a task.
    pub(super) fn result(&self, answer: &Value) -> Option<String> {
        let id = answer["task_id"].as_str()?;
        fs::read_to_string(self.root.join("tasks").join(id).join("result.txt")).ok()
    }

    /// The state root.
    #[cfg(test)]
    pub(super) fn root(&self) -> &Path {
        &self.root
    }
}
