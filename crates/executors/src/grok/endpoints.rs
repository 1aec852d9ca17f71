//! The sockets of container engines, which the vendor's sandbox closes off (runners.md 4.2): where one of them is a symbolic link,
//! it refuses every profile of ours.

use std::fs;
use std::path::PathBuf;

use super::knobs::Knobs;
use crate::common::exit::Refusal;
use crate::common::surroundings::Surroundings;

/// Other endpoints than the known ones, separated by colons (tests).
const OVERRIDE: &str = "DELEGATION_GROK_RUNTIME_SOCKET_ENDPOINTS";
const OF_MACHINE: [&str; 6] = [
    "/var/run/docker.sock",
    "/run/docker.sock",
    "/run/podman/podman.sock",
    "/var/run/podman/podman.sock",
    "/run/containerd/containerd.sock",
    "/var/run/containerd/containerd.sock",
];
const OF_USER: [&str; 3] = [".docker/run/docker.sock", ".docker/desktop/docker.sock", ".docker/docker.sock"];

/// Refuses a symbolic link among them.
///
/// # Errors
/// 69 with the path and what to do.
pub(super) fn demand_no_link(knobs: &Knobs, surroundings: &Surroundings) -> Result<(), Refusal> {
    let endpoints: Vec<PathBuf> = match surroundings.variable(OVERRIDE) {
        Some(paths) => std::env::split_paths(&paths).collect(),
        None => {
            let of_session = surroundings.variable("XDG_RUNTIME_DIR").map(PathBuf::from);
            let of_session = of_session.map(|directory| directory.join("podman/podman.sock"));
            let of_user = OF_USER.iter().map(|name| knobs.user_home.join(name));
            OF_MACHINE.iter().map(PathBuf::from).chain(of_user).chain(of_session).collect()
        }
    };
    let is_link = |path: &&PathBuf| fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink());
    match endpoints.iter().find(is_link) {
        None => Ok(()),
        Some(path) => Err(Refusal::sandbox(format!(
            "{} is a symbolic link, for which grok refuses any sandbox profile; replace it by the socket itself or remove it",
            path.display()
        ))),
    }
}
