//! Which queue is meant: what is recorded at admission, and its comparison before every question about the task.

use std::env;
use std::fs::{File, Metadata};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use record::submission::{BoundExecutable, SupervisorBinding};
use record::{AbsolutePath, Sha256Digest};
use store::{ProbeCache, Root};

use super::client::Client;
use super::config::{Config, Surroundings};
use super::error::{PueueError, at};
use crate::limits::IDENTITY_SETTLED_SECONDS;

/// Name of the client on PATH.
const CLIENT: &str = "pueue";
/// Name of the daemon, beside the client.
const DAEMON: &str = "pueued";

/// The queue of a configuration as it is now.
///
/// # Errors
/// A program is missing or not of version 4, or the configuration can not be used.
pub(super) fn bind(
    root: &Root,
    config: &AbsolutePath,
    is_private: bool,
) -> Result<SupervisorBinding, PueueError> {
    let config = Config::read(config, &Surroundings::of_this_process())?;
    let client = on_path()?;
    let daemon = if is_private { Some(executable(root, &beside(&client)?)?) } else { None };
    let version = Client { program: client.clone(), config: config.path.clone() }.version()?;
    Ok(SupervisorBinding {
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
pub(super) fn client_of(root: &Root, binding: &SupervisorBinding) -> Result<Client, PueueError> {
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
pub(super) fn daemon_of(binding: &SupervisorBinding) -> Result<PathBuf, PueueError> {
    match &binding.daemon {
        Some(daemon) if is_executable(daemon.path.as_path()) => Ok(daemon.path.to_path_buf()),
        _ => beside(&on_path()?),
    }
}

fn on_path() -> Result<PathBuf, PueueError> {
    let path = env::var_os("PATH").unwrap_or_default();
    let found = env::split_paths(&path).filter(|directory| directory.is_absolute());
    found
        .map(|directory| directory.join(CLIENT))
        .find(|program| is_executable(program))
        .and_then(|program| program.canonicalize().ok())
        .ok_or_else(|| PueueError::Missing { program: CLIENT, place: "on PATH".to_owned() })
}

/// Client and daemon of one installation belong together.
fn beside(client: &Path) -> Result<PathBuf, PueueError> {
    let daemon = client.with_file_name(DAEMON);
    if is_executable(&daemon) {
        return daemon.canonicalize().map_err(at(&daemon));
    }
    Err(PueueError::Missing { program: DAEMON, place: format!("beside {}", client.display()) })
}

fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

fn executable(root: &Root, path: &Path) -> Result<BoundExecutable, PueueError> {
    let file = File::open(path).map_err(at(path))?;
    let metadata = file.metadata().map_err(at(path))?;
    let clean = AbsolutePath::new(path).map_err(|fault| PueueError::Missing {
        program: CLIENT,
        place: format!("at a path that can be recorded ({fault})"),
    })?;
    let sha256 = digest(&root.probe_cache(), file, &metadata).map_err(at(path))?;
    Ok(BoundExecutable { path: clean, sha256 })
}

/// The digest of an executable: from the cache while its metadata are the same (STATE.md 3.1), for a submission should cost
/// no more than the question that it is.
fn digest(cache: &ProbeCache, file: File, metadata: &Metadata) -> std::io::Result<Sha256Digest> {
    let key = format!(
        "pueue-{}-{}-{}-{}.{}-{}.{}",
        metadata.dev(),
        metadata.ino(),
        metadata.size(),
        metadata.mtime(),
        metadata.mtime_nsec(),
        metadata.ctime(),
        metadata.ctime_nsec()
    );
    let known = cache.get(&key).and_then(|text| String::from_utf8(text).ok()?.parse().ok());
    if let Some(known) = known {
        return Ok(known);
    }
    let (sha256, _) = Sha256Digest::of_reader(file)?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    if i128::from(now) - i128::from(metadata.ctime()) > IDENTITY_SETTLED_SECONDS {
        // It only saves time.
        let _ = cache.put(&key, sha256.to_string().as_bytes());
    }
    Ok(sha256)
}
