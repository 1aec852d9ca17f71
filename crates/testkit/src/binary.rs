//! Finds the programs of this crate for the tests of other crates.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::SystemTime;

/// The program with that name, built anew when a source of this crate is younger: Cargo builds the programs of a
/// package for the tests of that package alone.
///
/// # Errors
/// The place of the running test is unknown, or the program could not be built.
pub fn path(name: &str) -> io::Result<PathBuf> {
    of_package(env!("CARGO_PKG_NAME"), name)
}

/// The same for a program of another package of this workspace; any source of any room counts then.
///
/// # Errors
/// As [`path`].
pub fn of_package(package: &str, name: &str) -> io::Result<PathBuf> {
    let test = std::env::current_exe()?;
    let profile = test
        .ancestors()
        .skip(1)
        .find(|folder| !folder.ends_with("deps") && !folder.ends_with("examples"))
        .ok_or_else(|| io::Error::other("the test lies in no build folder"))?;
    let program = profile.join(name);
    if !is_current(package, &program)? {
        build(package, profile)?;
    }
    Ok(program)
}

fn is_current(package: &str, program: &Path) -> io::Result<bool> {
    let Ok(built) = fs::metadata(program).and_then(|metadata| metadata.modified()) else {
        return Ok(false);
    };
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    if package == env!("CARGO_PKG_NAME") {
        return Ok(youngest(&here.join("src"))? < built);
    }
    for room in fs::read_dir(here.parent().unwrap_or(here))? {
        let sources = room?.path().join("src");
        if sources != here.join("src") && youngest(&sources)? >= built {
            return Ok(false);
        }
    }
    Ok(true)
}

fn youngest(directory: &Path) -> io::Result<SystemTime> {
    let mut latest = SystemTime::UNIX_EPOCH;
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let changed = if entry.file_type()?.is_dir() {
            youngest(&entry.path())?
        } else {
            entry.metadata()?.modified()?
        };
        latest = latest.max(changed);
    }
    Ok(latest)
}

fn build(package: &str, profile: &Path) -> io::Result<()> {
    let target = profile.parent().ok_or_else(|| io::Error::other("no build folder"))?;
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let profile_name = match profile.file_name() {
        Some(name) if name != "debug" => name.to_owned(),
        _ => "dev".into(),
    };
    let status = Command::new(cargo)
        // With the features that `cargo xtask test` builds them with: else the two would build it in turn.
        .args(["build", "--quiet", "--package", package, "--all-features", "--bins", "--target-dir"])
        .arg(target)
        .arg("--profile")
        .arg(profile_name)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .stdin(Stdio::null())
        .status()?;
    if status.success() {
        Ok(())
    } else {
        Err(io::Error::other(format!("the programs of {package} could not be built")))
    }
}
