//! The home of one run: everything that the vendor's program finds there was put there (runners.md 6).

use std::io;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::limits::LOGIN_MAX_BYTES;
use crate::common::environment::ChildEnvironment;
use crate::common::exit::Refusal;
use crate::common::files::read_regular;
use crate::common::report::json_file;
use crate::common::run_directory::RunDirectory;
use crate::common::surroundings::Surroundings;

/// The vendor's directory in a home.
const VENDOR: &str = ".gemini/antigravity-cli";
/// The vendor's own credential store there, where it has no keyring: the one file of the user's home that a run gets.
const LOGIN: &str = "antigravity-oauth-token";
/// Every kind of tool of the vendor.
const DENIED: [&str; 7] =
    ["read_file", "write_file", "command", "unsandboxed", "read_url", "execute_url", "mcp"];
/// With one of them the vendor's program looks for its login elsewhere.
const REMOTE_MARKERS: [&str; 3] = ["SSH_CLIENT", "SSH_CONNECTION", "SSH_TTY"];

/// Directories in the run directory.
#[derive(Clone, Debug)]
pub(super) struct Home {
    /// HOME; may be written.
    pub(super) home: PathBuf,
    /// TMPDIR; may be written.
    pub(super) scratch: PathBuf,
    /// The working directory, empty.
    pub(super) workspace: PathBuf,
}

impl Home {
    /// Builds it with a copy of the user's login.
    ///
    /// # Errors
    /// 69.
    pub(super) fn build(
        user_home: &Path,
        runtime_model: &str,
        run_directory: &RunDirectory,
    ) -> Result<Self, Refusal> {
        let login = user_home.join(VENDOR).join(LOGIN);
        let login = read_regular(&login, LOGIN_MAX_BYTES).map_err(|error| {
            let path = login.display();
            Refusal::login(format!("agy holds no login in {path} ({error}); sign in by running agy"))
        })?;
        let make = || -> io::Result<Self> {
            let home = Self {
                home: run_directory.directory("home")?,
                scratch: run_directory.directory("scratch")?,
                workspace: run_directory.directory("workspace")?,
            };
            run_directory.directory("home/.gemini")?;
            run_directory.directory(&format!("home/{VENDOR}"))?;
            run_directory.file(&format!("home/{VENDOR}/settings.json"), &settings(runtime_model))?;
            run_directory.file(&format!("home/{VENDOR}/{LOGIN}"), &login)?;
            Ok(home)
        };
        make().map_err(|error| Refusal::unavailable(format!("the private home can not be made: {error}")))
    }

    /// The copy of the login.
    pub(super) fn login(&self) -> PathBuf {
        self.home.join(VENDOR).join(LOGIN)
    }

    /// The whole environment of a child.
    ///
    /// # Errors
    /// 64: a variable is named that is not passed on.
    pub(super) fn environment(&self, surroundings: &Surroundings) -> Result<ChildEnvironment, Refusal> {
        let mut environment = ChildEnvironment::of_user(surroundings)?;
        // Also where the user asks to pass one.
        REMOTE_MARKERS.iter().for_each(|name| environment.remove(name));
        environment.set("HOME", &self.home);
        environment.set("TMPDIR", &self.scratch);
        Ok(environment)
    }
}

fn settings(runtime_model: &str) -> Vec<u8> {
    json_file(&json!({
        "model": runtime_model,
        "permissions": {"allow": [], "deny": DENIED.map(|tool| format!("{tool}(*)"))},
        "toolPermission": "strict",
        "artifactReviewPolicy": "always",
        "allowNonWorkspaceAccess": false,
    }))
}
