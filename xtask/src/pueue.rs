//! Installs Pueue from its published sources: `target/real/pueue-VERSION/bin`.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use testkit::real::{Pins, target_directory};

use crate::failure::Failure;
use crate::versions;

/// Its key in the file of pins.
const NAME: &str = "pueue";

/// Installs the pinned version unless it is there; returns it.
pub(crate) fn install() -> Result<String, Failure> {
    let version = version()?;
    let directory = directory(&version);
    if directory.join("bin/pueued").is_file() {
        return Ok(version);
    }
    let partial = directory.with_extension("partial");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command
        .args(["install", "--quiet", "--locked", NAME, "--version", &version, "--root"])
        .arg(&partial)
        .stdin(Stdio::null());
    let status = command.status().map_err(|source| Failure::Start { program: "cargo".to_owned(), source })?;
    if !status.success() {
        return Err(Failure::Program(format!("cargo install {NAME} {version}")));
    }
    // The folder gets its name when all is in it, so a name means a whole installation.
    fs::rename(&partial, &directory).map_err(Failure::file(directory))?;
    Ok(version)
}

/// Where a version is installed.
pub(crate) fn directory(version: &str) -> PathBuf {
    target_directory().join("real").join(format!("{NAME}-{version}"))
}

/// The pinned version.
pub(crate) fn version() -> Result<String, Failure> {
    let pin = versions::read_table()?.remove(NAME);
    pin.ok_or_else(|| Failure::Other(format!("{}: no {NAME}", Pins::path().display())))
}
