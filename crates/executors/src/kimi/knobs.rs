//! What the user sets beside the command line (runners.md 3.1).

use std::path::PathBuf;
use std::time::Duration;

use super::limits::{
    GRACE_MAX_SECONDS, HEARTBEAT_DEFAULT_SECONDS, HEARTBEAT_MAX_SECONDS, LOGIN_WAIT_DEFAULT_SECONDS,
    LOGIN_WAIT_MAX_SECONDS,
};
use crate::common::child::KILL_GRACE;
use crate::common::exit::Refusal;
use crate::common::login::LoginMode;
use crate::common::surroundings::Surroundings;

/// Every setting, with its default.
#[derive(Clone, Debug)]
pub(super) struct Knobs {
    /// The user's home directory, without symbolic links.
    pub(super) user_home: PathBuf,
    /// The vendor's directory of the user, without symbolic links where it exists.
    pub(super) ambient: PathBuf,
    /// The data home of the runners.
    pub(super) data_home: PathBuf,
    /// Where the pinned ripgrep lies.
    pub(super) ripgrep_store: PathBuf,
    pub(super) heartbeat: Duration,
    pub(super) grace: Duration,
    pub(super) login_mode: LoginMode,
    pub(super) login_wait: Duration,
    platform: Option<String>,
}

impl Knobs {
    /// Reads all of them.
    ///
    /// # Errors
    /// 64: one has no usable value. 69: there is no home directory.
    pub(super) fn of(surroundings: &Surroundings) -> Result<Self, Refusal> {
        let login_mode = match surroundings.text("DELEGATION_KIMI_OAUTH_MODE")? {
            None => LoginMode::Serialized,
            Some(mode) => LoginMode::of(&mode, "DELEGATION_KIMI_OAUTH_MODE")?,
        };
        let seconds = |name, range| surroundings.number(name, range);
        let grace = seconds("DELEGATION_KIMI_CANCEL_GRACE_SECONDS", 0..=GRACE_MAX_SECONDS)?;
        let wait = seconds("DELEGATION_KIMI_OAUTH_WAIT_SECONDS", 0..=LOGIN_WAIT_MAX_SECONDS)?;
        // A heartbeat is no reason to refuse a run.
        let heartbeat = seconds("DELEGATION_KIMI_HEARTBEAT_SECONDS", 1..=HEARTBEAT_MAX_SECONDS);
        let heartbeat = heartbeat.ok().flatten().unwrap_or(HEARTBEAT_DEFAULT_SECONDS);
        let platform = surroundings.text("DELEGATION_KIMI_PLATFORM")?;
        let home = surroundings.variable("HOME").map(PathBuf::from);
        let user_home = home.and_then(|home| home.canonicalize().ok());
        let user_home = user_home
            .ok_or_else(|| Refusal::unavailable("HOME names no directory, so none can be closed off"))?;
        let ambient =
            surroundings.variable("KIMI_CODE_HOME").map_or(user_home.join(".kimi-code"), PathBuf::from);
        let data_home =
            surroundings.data_home().unwrap_or_else(|| user_home.join(".local/share/delegation-kit"));
        let store = surroundings.variable("DELEGATION_KIMI_RG_STORE").map(PathBuf::from);
        Ok(Self {
            ambient: ambient.canonicalize().unwrap_or(ambient),
            ripgrep_store: store.unwrap_or_else(|| data_home.join("kimi-rg")),
            data_home,
            user_home,
            heartbeat: Duration::from_secs(heartbeat),
            grace: grace.map_or(KILL_GRACE, Duration::from_secs),
            login_mode,
            login_wait: Duration::from_secs(wait.unwrap_or(LOGIN_WAIT_DEFAULT_SECONDS)),
            platform,
        })
    }

    /// Refuses a platform that has not the means (tests name another one).
    ///
    /// # Errors
    /// 69.
    pub(super) fn demand_platform(&self) -> Result<(), Refusal> {
        match &self.platform {
            Some(platform) if !platform.eq_ignore_ascii_case("linux") => {
                Err(Refusal::sandbox(format!("platform {platform}: Kimi needs Linux with Landlock 3")))
            }
            _ => Ok(()),
        }
    }
}
