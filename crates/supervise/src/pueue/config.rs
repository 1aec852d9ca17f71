//! Where a configuration of Pueue puts the socket. Pueue decides what else it means; keys that it does not know it ignores,
//! and so do we.

use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use nix::unistd::{User, geteuid};
use record::{AbsolutePath, Sha256Digest};
use serde::Deserialize;

use super::error::{PueueError, at};
use crate::limits::PUEUE_CONFIG_MAX_BYTES;

/// The part that names the endpoint.
#[derive(Debug, Default, Deserialize)]
struct Settings {
    #[serde(default)]
    shared: Shared,
}

#[derive(Debug, Default, Deserialize)]
struct Shared {
    pueue_directory: Option<PathBuf>,
    runtime_directory: Option<PathBuf>,
    use_unix_socket: Option<bool>,
    unix_socket_path: Option<PathBuf>,
}

/// A configuration as it lies there now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Config {
    pub(super) path: AbsolutePath,
    pub(super) sha256: Sha256Digest,
    pub(super) endpoint: AbsolutePath,
}

/// The variables that Pueue takes defaults from, and the user's name.
#[derive(Clone, Debug, Default)]
pub(super) struct Surroundings {
    home: Option<PathBuf>,
    data: Option<PathBuf>,
    runtime: Option<PathBuf>,
    user: Option<String>,
}

impl Surroundings {
    /// Those of this process.
    pub(super) fn of_this_process() -> Self {
        // As Pueue: a relative directory in one of these variables is none.
        let directory = |value: Option<OsString>| value.map(PathBuf::from).filter(|path| path.is_absolute());
        Self {
            home: directory(std::env::var_os("HOME")),
            data: directory(std::env::var_os("XDG_DATA_HOME")),
            runtime: directory(std::env::var_os("XDG_RUNTIME_DIR")),
            user: User::from_uid(geteuid()).ok().flatten().map(|user| user.name),
        }
    }

    fn expanded(&self, path: &Path) -> Option<PathBuf> {
        match path.strip_prefix("~") {
            Ok(rest) => Some(self.home.as_ref()?.join(rest)),
            Err(_) => Some(path.to_path_buf()),
        }
    }
}

impl Config {
    /// Reads a configuration.
    ///
    /// # Errors
    /// It is no regular file without symbolic links on the way, is too large, can not be parsed, or names no Unix socket
    /// with an absolute path.
    pub(super) fn read(path: &AbsolutePath, surroundings: &Surroundings) -> Result<Self, PueueError> {
        let refused = |why: &str| PueueError::Config { path: path.to_path_buf(), why: why.to_owned() };
        let canonical = path.as_path().canonicalize().map_err(at(path.as_path()))?;
        if canonical != path.as_path() {
            return Err(refused("it is reached through a symbolic link"));
        }
        let file = File::open(path).map_err(at(path.as_path()))?;
        if !file.metadata().map_err(at(path.as_path()))?.is_file() {
            return Err(refused("it is no regular file"));
        }
        let mut bytes = Vec::new();
        let limit = PUEUE_CONFIG_MAX_BYTES + 1;
        let length = file.take(limit).read_to_end(&mut bytes).map_err(at(path.as_path()))?;
        if length as u64 == limit {
            return Err(refused("it is too large"));
        }
        let endpoint =
            endpoint(&bytes, path.as_path().parent(), surroundings).map_err(|why| refused(&why))?;
        Ok(Self { path: path.clone(), sha256: Sha256Digest::of(&bytes), endpoint })
    }
}

/// The absolute path of the socket. A relative one is meant from the directory of the configuration, which is where we start
/// client and private daemon.
fn endpoint(
    bytes: &[u8],
    directory: Option<&Path>,
    surroundings: &Surroundings,
) -> Result<AbsolutePath, String> {
    let settings: Settings = serde_norway::from_slice(bytes).map_err(|error| error.to_string())?;
    let shared = settings.shared;
    if shared.use_unix_socket == Some(false) {
        return Err("it does not use a Unix socket, so the queue may be on another machine".to_owned());
    }
    let socket = match shared.unix_socket_path {
        Some(path) => surroundings.expanded(&path),
        None => default_socket(&shared, surroundings),
    };
    let socket = socket.ok_or("the place of the socket depends on variables that are not set")?;
    let socket = match directory {
        Some(directory) => directory.join(socket),
        None => socket,
    };
    AbsolutePath::new(&socket).map_err(|fault| format!("the socket {}: {fault}", socket.display()))
}

fn default_socket(shared: &Shared, surroundings: &Surroundings) -> Option<PathBuf> {
    let directory = match (&shared.runtime_directory, &surroundings.runtime, &shared.pueue_directory) {
        (Some(path), _, _) => surroundings.expanded(path)?,
        (None, Some(path), _) => path.clone(),
        (None, None, Some(path)) => surroundings.expanded(path)?,
        (None, None, None) => match &surroundings.data {
            Some(data) => data.join("pueue"),
            None => surroundings.home.as_ref()?.join(".local/share/pueue"),
        },
    };
    Some(directory.join(format!("pueue_{}.socket", surroundings.user.as_ref()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn surroundings() -> Surroundings {
        let path = |text: &str| Some(PathBuf::from(text));
        Surroundings {
            home: path("/home/u"),
            data: None,
            runtime: path("/run/u"),
            user: Some("u".to_owned()),
        }
    }

    fn socket(text: &str, surroundings: &Surroundings) -> Result<String, String> {
        endpoint(text.as_bytes(), Some(Path::new("/etc/q")), surroundings)
            .map(|path| path.as_str().to_owned())
    }

    #[test]
    fn the_socket_is_where_pueue_puts_it() {
        let usual = surroundings();
        let bare = Surroundings { runtime: None, ..usual.clone() };
        let data = Surroundings { data: Some("/data".into()), ..bare.clone() };
        let socket = |text: &str, here: &Surroundings| socket(text, here).unwrap();
        assert_eq!(socket("shared: {unix_socket_path: /a/s}", &usual), "/a/s");
        assert_eq!(socket("shared: {unix_socket_path: ~/s}", &usual), "/home/u/s");
        assert_eq!(socket("shared: {unix_socket_path: s}", &usual), "/etc/q/s");
        assert_eq!(socket("shared: {runtime_directory: ~/r}", &usual), "/home/u/r/pueue_u.socket");
        assert_eq!(
            socket("shared: {unix_socket_path: null, odd: [1]}\nmore: 2", &usual),
            "/run/u/pueue_u.socket"
        );
        assert_eq!(socket("shared: {pueue_directory: /p}", &bare), "/p/pueue_u.socket");
        assert_eq!(socket("client: {}", &bare), "/home/u/.local/share/pueue/pueue_u.socket");
        assert_eq!(socket("client: {}", &data), "/data/pueue/pueue_u.socket");
    }

    #[test]
    fn a_queue_that_may_be_elsewhere_is_refused() {
        assert!(
            socket("shared: {use_unix_socket: false}", &surroundings()).unwrap_err().contains("Unix socket")
        );
        assert!(socket("shared: [", &surroundings()).is_err());
        assert!(socket("shared: {}", &Surroundings::default()).is_err());
    }

    #[test]
    fn only_a_plain_file_is_a_configuration() {
        let directory = tempfile::tempdir().unwrap();
        let base = directory.path().canonicalize().unwrap();
        let good = base.join("pueue.yml");
        std::fs::write(&good, "shared: {unix_socket_path: /s}").unwrap();
        let read = |path: &Path| Config::read(&AbsolutePath::new(path).unwrap(), &surroundings());
        let config = read(&good).unwrap();
        assert_eq!(config.endpoint.as_str(), "/s");
        assert_eq!(config.sha256, Sha256Digest::of(b"shared: {unix_socket_path: /s}"));
        let link = base.join("link");
        std::os::unix::fs::symlink(&good, &link).unwrap();
        let large = base.join("large");
        File::create(&large).unwrap().set_len(PUEUE_CONFIG_MAX_BYTES + 1).unwrap();
        for wrong in [link, large, base.clone(), base.join("missing")] {
            assert!(read(&wrong).is_err(), "{}", wrong.display());
        }
    }
}
