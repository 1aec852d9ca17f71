//! The user's login (runners.md 3.6, 3.7): how it comes into the home of a child. See [`crate::common::login`].

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::home::Home;
use super::knobs::Knobs;
use crate::common::exit::Refusal;
use crate::common::files::{exists, read_regular, write_new};
use crate::common::limits::LOGIN_MAX_BYTES;
use crate::common::login::tokens::of_files;
use crate::common::login::{
    Joining, Kind, Login, LoginMode, Placed, UserLogin, not_copied, private_directory,
};

const CREDENTIAL: &str = "credentials/kimi-code.json";
const CREDENTIAL_DIRECTORY: &str = "credentials";
const LOCK_TARGET: &str = "oauth/kimi-code";
const LOCK_DIRECTORY: &str = "oauth";
const DEVICE: &str = "device_id";

/// Kimi's login.
pub(super) static KIND: Kind = Kind {
    vendor: "Kimi",
    program: "kimi",
    file: CREDENTIAL,
    shared_file: CREDENTIAL,
    generations: "kimi-shared-oauth",
    replaces: |refreshed, _| tokens(refreshed).iter().all(Option::is_some),
};

/// Takes the right to the login, before anything is started that may refresh it.
///
/// # Errors
/// 69: there is none, or a file of it is none. 75: another run has it.
pub(super) fn begin(knobs: &Knobs) -> Result<Login, Refusal> {
    let ambient = &knobs.ambient;
    Files::read(ambient)?.demand_token()?;
    let user = UserLogin { kind: &KIND, directory: ambient.clone(), data_home: knobs.data_home.clone() };
    match knobs.login_mode {
        LoginMode::Serialized => user.take().map(Login::Alone),
        LoginMode::Shared => {
            let joining = Joining {
                wait: knobs.login_wait,
                fill: &|generation| Files::read(ambient)?.write(generation),
                note: "",
                prepare: &|_, _| Ok(()),
            };
            user.join(&joining).map(Login::Shared)
        }
    }
}

/// Puts the login into a home.
///
/// # Errors
/// 69: it can not be copied, or a file of it is none. 75: it changed meanwhile.
pub(super) fn put<'a>(login: &'a Login, knobs: &Knobs, home: &Home) -> Result<Placed<'a>, Refusal> {
    let isolated = &home.kimi;
    match login {
        Login::Alone(alone) => {
            alone.copied(isolated.join(CREDENTIAL), || Files::read(&knobs.ambient)?.write(isolated))
        }
        Login::Shared(shared) => {
            let generation = shared.directory();
            let device = read(generation, DEVICE)?;
            [CREDENTIAL_DIRECTORY, LOCK_DIRECTORY]
                .iter()
                .try_for_each(|name| symlink(generation.join(name), isolated.join(name)))
                .and_then(|()| write(isolated, DEVICE, device.as_deref()))
                .map_err(|error| not_copied(&error))?;
            Ok(Placed::Shared(shared))
        }
    }
}

/// Directories beyond its home that a child must be able to write.
pub(super) fn writable(login: &Login) -> Vec<PathBuf> {
    match login {
        Login::Alone(_) => Vec::new(),
        Login::Shared(shared) => {
            [CREDENTIAL_DIRECTORY, LOCK_DIRECTORY].map(|name| shared.directory().join(name)).into()
        }
    }
}

/// Every token below vendor's directories, to be found nowhere else; through the links of a shared login as well.
pub(super) fn secrets(directories: &[&Path]) -> Vec<String> {
    let files: Vec<_> = directories.iter().map(|directory| directory.join(CREDENTIAL)).collect();
    of_files(files.iter().map(PathBuf::as_path))
}

/// The three files of a login.
struct Files {
    credential: Option<Vec<u8>>,
    lock_target: Option<Vec<u8>>,
    device: Option<Vec<u8>>,
}

impl Files {
    /// Reads them. Regular files alone, in directories that are none by a link.
    ///
    /// # Errors
    /// 69.
    fn read(directory: &Path) -> Result<Self, Refusal> {
        let read = |name: &str| read(directory, name);
        Ok(Self { credential: read(CREDENTIAL)?, lock_target: read(LOCK_TARGET)?, device: read(DEVICE)? })
    }

    /// Refuses a login without any token. Whether one has expired is not looked at: access tokens live for minutes.
    ///
    /// # Errors
    /// 69.
    fn demand_token(&self) -> Result<(), Refusal> {
        let tokens = self.credential.as_deref().map(tokens).unwrap_or_default();
        if tokens.iter().any(Option::is_some) {
            return Ok(());
        }
        Err(Refusal::login("Kimi Code holds no login; sign in with: kimi login"))
    }

    /// Writes them below a directory, each with mode 600.
    ///
    /// # Errors
    /// 69.
    fn write(&self, directory: &Path) -> Result<(), Refusal> {
        private_directory(&directory.join(CREDENTIAL_DIRECTORY))
            .and_then(|()| private_directory(&directory.join(LOCK_DIRECTORY)))
            .and_then(|()| write(directory, CREDENTIAL, self.credential.as_deref()))
            .and_then(|()| write(directory, LOCK_TARGET, self.lock_target.as_deref()))
            .and_then(|()| write(directory, DEVICE, self.device.as_deref()))
            .map_err(|error| not_copied(&error))
    }
}

fn read(directory: &Path, name: &str) -> Result<Option<Vec<u8>>, Refusal> {
    let path = directory.join(name);
    let refused = |why: &dyn std::fmt::Display| Refusal::login(format!("{}: {why}", path.display()));
    let parent = path.parent().unwrap_or(directory);
    if fs::symlink_metadata(parent).is_ok_and(|metadata| metadata.is_symlink()) {
        return Err(refused(&"its directory is a symbolic link"));
    }
    if !exists(&path) {
        return Ok(None);
    }
    read_regular(&path, LOGIN_MAX_BYTES).map(Some).map_err(|error| refused(&error))
}

fn write(directory: &Path, name: &str, bytes: Option<&[u8]>) -> io::Result<()> {
    bytes.map_or(Ok(()), |bytes| write_new(&directory.join(name), bytes, 0o600))
}

/// Access and refresh token of a credential file, where it holds them: a login that was refreshed has both (runners.md 3.6).
fn tokens(credential: &[u8]) -> [Option<String>; 2] {
    let document: Value = serde_json::from_slice(credential).unwrap_or_default();
    let text = |name: &str| document.get(name)?.as_str().filter(|token| !token.trim().is_empty());
    ["access_token", "refresh_token"].map(|name| text(name).map(str::to_owned))
}
