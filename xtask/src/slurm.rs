//! Installs Slurm from Debian's packages, for tests with a cluster of their own.

use std::path::Path;
use std::process::{Command, Stdio};

use testkit::real::slurm;

use crate::failure::Failure;

/// The daemons of both sides, the clients, and who vouches for them.
const PACKAGES: [&str; 4] = ["munge", "slurm-client", "slurmctld", "slurmd"];
const MANAGER: &str = "/usr/bin/apt-get";

/// Installs what is missing, where this user may.
pub(crate) fn install() -> Result<(), Failure> {
    let Some(missing) = slurm::missing() else { return Ok(()) };
    let by_hand = format!("{missing}; by hand: apt-get install {}", PACKAGES.join(" "));
    if !rustix::process::geteuid().is_root() || !Path::new(MANAGER).exists() {
        return Err(Failure::Other(by_hand));
    }
    apt(&["update", "--quiet"])?;
    let install = ["install", "--quiet", "--yes", "--no-install-recommends"];
    apt(&[&install[..], &PACKAGES].concat())?;
    match slurm::missing() {
        None => Ok(()),
        Some(_) => Err(Failure::Other(by_hand)),
    }
}

fn apt(words: &[&str]) -> Result<(), Failure> {
    let mut command = Command::new(MANAGER);
    command.args(words).env("DEBIAN_FRONTEND", "noninteractive").stdin(Stdio::null());
    let status = command.status().map_err(|source| Failure::Start { program: MANAGER.to_owned(), source })?;
    if status.success() { Ok(()) } else { Err(Failure::Program(format!("apt-get {}", words[0]))) }
}
