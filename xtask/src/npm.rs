//! npm, as it is configured on this machine.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::failure::Failure;

/// Installs one package into a folder. No install script runs: the programs lie in the packages.
pub(crate) fn install(directory: &Path, package: &str, version: &str) -> Result<(), Failure> {
    let wanted = format!("{package}@{version}");
    let status = Command::new("npm")
        .args(["install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix"])
        .arg(directory)
        .arg(&wanted)
        .stdin(Stdio::null())
        .status()
        .map_err(not_started)?;
    if status.success() { Ok(()) } else { Err(Failure::Program(format!("npm install {wanted}"))) }
}

/// The newest version that a package offers within a range (`latest`, `22`).
pub(crate) fn newest(package: &str, range: &str) -> Result<String, Failure> {
    let wanted = format!("{package}@{range}");
    let output = Command::new("npm")
        .args(["view", &wanted, "version", "--json"])
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .map_err(not_started)?;
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    // One version comes as a text, several as a list in rising order.
    let version = answer.as_array().and_then(|versions| versions.last()).unwrap_or(&answer);
    match version.as_str() {
        Some(version) if output.status.success() => Ok(version.to_owned()),
        _ => Err(Failure::Program(format!("npm view {wanted} version"))),
    }
}

fn not_started(source: std::io::Error) -> Failure {
    Failure::Start { program: "npm".to_owned(), source }
}
