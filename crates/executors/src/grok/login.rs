//! The user's login (runners.md 4.6): how it comes into the home of a child. See [`crate::common::login`].

use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use super::home::{CONFIG, CONFIG_FILE, EVENTS_FILE, Home, LOGIN, SANDBOX_FILE, SandboxProfile, VENDOR};
use super::knobs::Knobs;
use super::limits::LOGIN_WAIT_SECONDS;
use crate::common::exit::Refusal;
use crate::common::files::{read_regular, replace, write_new};
use crate::common::limits::LOGIN_MAX_BYTES;
use crate::common::login::{
    Joining, Kind, Login, LoginMode, Placed, UserLogin, not_copied, private_directory, tokens,
};

/// Grok's login.
pub(super) static KIND: Kind = Kind {
    vendor: "Grok",
    program: "grok",
    file: LOGIN,
    shared_file: ".grok/auth.json",
    generations: "grok-shared-oauth",
    replaces: tokens::are_all_kept,
};

/// Takes the right to the login, before anything is started that may refresh it.
///
/// # Errors
/// 69: there is none. 75: another run has it.
pub(super) fn begin(mode: LoginMode, knobs: &Knobs, profile: &SandboxProfile) -> Result<Login, Refusal> {
    read(&knobs.ambient)?;
    let user =
        UserLogin { kind: &KIND, directory: knobs.ambient.clone(), data_home: knobs.data_home.clone() };
    match mode {
        LoginMode::Serialized => user.take().map(Login::Alone),
        LoginMode::Shared => {
            let section = profile.section();
            let joining = Joining {
                wait: Duration::from_secs(LOGIN_WAIT_SECONDS),
                fill: &|generation| {
                    let vendor = generation.join(VENDOR);
                    private_directory(&vendor).map_err(|error| not_copied(&error))?;
                    copy(&knobs.ambient, &vendor)
                },
                note: &section,
                prepare: &|generation, others| prepare(&generation.join(VENDOR), &section, others),
            };
            user.join(&joining).map(Login::Shared)
        }
    }
}

/// Puts the login into a home, or leads the home to the one that runs share.
///
/// # Errors
/// 69: it can not be copied. 75: it changed meanwhile.
pub(super) fn put<'a>(login: &'a Login, knobs: &Knobs, home: Home) -> Result<(Placed<'a>, Home), Refusal> {
    match login {
        Login::Alone(alone) => {
            let placed = alone.copied(home.vendor.join(LOGIN), || copy(&knobs.ambient, &home.vendor))?;
            Ok((placed, home))
        }
        Login::Shared(shared) => {
            Ok((Placed::Shared(shared), home.with_shared(&shared.directory().join(VENDOR))))
        }
    }
}

/// Makes the vendor's directory that runs share ready for one that joins: our configuration, and the profiles of all.
fn prepare(vendor: &Path, section: &str, others: &[String]) -> io::Result<()> {
    if others.is_empty() {
        // What runs before it attested needs nobody any more.
        match fs::remove_file(vendor.join(EVENTS_FILE)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    replace(&vendor.join(CONFIG_FILE), CONFIG.as_bytes())?;
    replace(&vendor.join(SANDBOX_FILE), format!("{section}{}", others.concat()).as_bytes())
}

fn copy(ambient: &Path, vendor: &Path) -> Result<(), Refusal> {
    write_new(&vendor.join(LOGIN), &read(ambient)?, 0o600).map_err(|error| not_copied(&error))
}

/// The user's login.
///
/// # Errors
/// 69.
fn read(ambient: &Path) -> Result<Vec<u8>, Refusal> {
    let path = ambient.join(LOGIN);
    let refused = |why: &dyn std::fmt::Display| {
        Refusal::login(format!("{}: {why}; sign in with: grok login", path.display()))
    };
    let bytes = read_regular(&path, LOGIN_MAX_BYTES).map_err(|error| refused(&error))?;
    if tokens::are_there(&bytes) { Ok(bytes) } else { Err(refused(&"it holds no login")) }
}
