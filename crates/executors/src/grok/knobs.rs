//! What the user sets beside the command line (runners.md 4.1).

use std::path::PathBuf;
use std::time::Duration;

use super::limits::{OPERATION_DEFAULT_SECONDS, OPERATION_MAX_SECONDS};
use crate::common::exit::Refusal;
use crate::common::surroundings::Surroundings;

const TIMEOUT: &str = "DELEGATION_GROK_TIMEOUT_SECONDS";

/// Every setting, with its default.
#[derive(Clone, Debug)]
pub(super) struct Knobs {
    /// The vendor's directory of the user, without symbolic links where it exists.
    pub(super) ambient: PathBuf,
    /// The user's home directory, without symbolic links.
    pub(super) user_home: PathBuf,
    /// The data home of the runners.
    pub(super) data_home: PathBuf,
    /// Where programs are archived.
    pub(super) store: PathBuf,
    /// The program that the user names.
    pub(super) program: Option<PathBuf>,
    /// The wall-clock limit of an ordinary run.
    pub(super) limit: Duration,
}

impl Knobs {
    /// Reads all of them.
    ///
    /// # Errors
    /// 69: there is no home directory, or the limit is none.
    pub(super) fn of(surroundings: &Surroundings) -> Result<Self, Refusal> {
        let limit = surroundings.number(TIMEOUT, 1..=OPERATION_MAX_SECONDS);
        let limit = limit.map_err(|refusal| Refusal::unavailable(refusal.message))?;
        let path = |name: &str| surroundings.variable(name).map(PathBuf::from);
        let user_home = path("HOME").and_then(|home| home.canonicalize().ok());
        let user_home = user_home.ok_or_else(|| Refusal::unavailable("HOME names no directory"))?;
        let ambient = path("DELEGATION_GROK_HOME").unwrap_or_else(|| user_home.join(".grok"));
        let data_home =
            surroundings.data_home().unwrap_or_else(|| user_home.join(".local/share/delegation-kit"));
        Ok(Self {
            ambient: ambient.canonicalize().unwrap_or(ambient),
            store: path("DELEGATION_GROK_BIN_STORE").unwrap_or_else(|| data_home.join("grok-cli")),
            program: path("DELEGATION_GROK_BIN"),
            limit: Duration::from_secs(limit.unwrap_or(OPERATION_DEFAULT_SECONDS)),
            data_home,
            user_home,
        })
    }
}
