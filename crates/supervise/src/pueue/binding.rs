//! Which queue is meant: what is recorded at admission, and its comparison before every question about the task.

use std::path::{Path, PathBuf};

use record::AbsolutePath;
use record::submission::{BoundExecutable, PueueBinding};
use store::Root;

use super::client::Client;
use super::config::{Config, Surroundings};
use super::error::{PueueError, at};
use crate::installed::{self, is_executable};

/// Name of the client on PATH.
const CLIENT: &str = "pueue";
/// Name of the daemon, beside the client.
const DAEMON: &str = "pueued";

/// The queue of a configuration as it is now.
///
/// # Errors
/// A program is missing or not of version 4, or the configuration can not be used.
pub(super) fn bind(root: &Root, config: &AbsolutePath, is_private: bool) -> Result<PueueBinding, PueueError> {
    let config = Config::read(config, &Surroundings::of_this_process())?;
    let client = on_path()?;
    let daemon = if is_private { Some(executable(root, &beside(&client)?)?) } else { None };
    let version = Client { program: client.clone(), config: config.path.clone() }.version()?;
    Ok(PueueBinding {
        client: executable(root, &client)?,
        daemon,
        version,
        config: config.path,
        config_sha256: config.sha256,
        endpoint: config.endpoint,
    })
}

/// A client of the queue that a task was admitted for. The programs may have been upgraded since, to another Pueue 4: what
/// must not change is which daemon is asked.
///
/// # Errors
/// The queue is another one now, or there is no client that fits.
pub(super) fn client_of(root: &Root, binding: &PueueBinding) -> Result<Client, PueueError> {
    let config = Config::read(&binding.config, &Surroundings::of_this_process())?;
    if config.sha256 != binding.config_sha256 {
        return Err(PueueError::Changed { what: "its configuration" });
    }
    if config.endpoint != binding.endpoint {
        return Err(PueueError::Changed { what: "the place of its socket" });
    }
    let recorded = binding.client.path.as_path();
    let program = if is_executable(recorded) { recorded.to_path_buf() } else { on_path()? };
    let client = Client { program, config: config.path };
    if executable(root, &client.program)? != binding.client {
        client.version()?;
    }
    Ok(client)
}

/// The daemon for the private queue of a task: the recorded one, else the one of today's installation.
pub(super) fn daemon_of(binding: &PueueBinding) -> Result<PathBuf, PueueError> {
    match &binding.daemon {
        Some(daemon) if is_executable(daemon.path.as_path()) => Ok(daemon.path.to_path_buf()),
        _ => beside(&on_path()?),
    }
}

/// The client that the caller would run by hand.
pub(super) fn on_path() -> Result<PathBuf, PueueError> {
    installed::on_path(CLIENT)
        .ok_or_else(|| PueueError::Missing { program: CLIENT, place: "on PATH".to_owned() })
}

/// Client and daemon of one installation belong together.
pub(super) fn beside(client: &Path) -> Result<PathBuf, PueueError> {
    let daemon = client.with_file_name(DAEMON);
    if is_executable(&daemon) {
        return daemon.canonicalize().map_err(at(&daemon));
    }
    Err(PueueError::Missing { program: DAEMON, place: format!("beside {}", client.display()) })
}

fn executable(root: &Root, path: &Path) -> Result<BoundExecutable, PueueError> {
    installed::bound(root, path).map_err(at(path))
}
