//! The home of one run (runners.md 4.3): everything that the vendor's program finds there was put there.

use std::io;
use std::path::{Path, PathBuf};

use super::lane::Lane;
use crate::common::environment::ChildEnvironment;
use crate::common::exit::Refusal;
use crate::common::files::write_new;
use crate::common::run_directory::RunDirectory;
use crate::common::surroundings::Surroundings;

/// The vendor's directory in a home, and the files in it.
pub(super) const VENDOR: &str = ".grok";
pub(super) const LOGIN: &str = "auth.json";
pub(super) const CONFIG_FILE: &str = "config.toml";
pub(super) const SANDBOX_FILE: &str = "sandbox.toml";
/// Where the vendor's sandbox says what it did.
pub(super) const EVENTS_FILE: &str = "sandbox-events.jsonl";

/// Nothing of other tools is taken over, and nothing runs by itself.
pub(super) const CONFIG: &str = "\
[compat.claude]
skills = false
rules = false
agents = false
mcps = false
hooks = false

[compat.cursor]
skills = false
rules = false
agents = false
mcps = false
hooks = false

[compat.codex]
skills = false
rules = false
agents = false
mcps = false
hooks = false

[workflows]
enabled = false
";

/// A sandbox profile whose name no other run has, so that only its own event attests it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SandboxProfile {
    pub(super) name: String,
    lane: Lane,
}

impl SandboxProfile {
    /// That of a lane in a run, whose directory has a random name.
    pub(super) fn of(lane: Lane, run_directory: &RunDirectory) -> Self {
        let run = run_directory.path().file_name().unwrap_or_default().to_string_lossy();
        let random: String = run.rsplit('.').next().unwrap_or_default().to_owned();
        Self { name: format!("{}-{random}-{}", lane.sandbox(), std::process::id()), lane }
    }

    /// Its section of `sandbox.toml`.
    pub(super) fn section(&self) -> String {
        format!("[profiles.{}]\nextends = \"{}\"\nrestrict_network = true\n", self.name, self.lane.extends())
    }
}

/// Directories in the run directory.
#[derive(Clone, Debug)]
pub(super) struct Home {
    /// HOME
    home: PathBuf,
    /// TMPDIR
    pub(super) scratch: PathBuf,
    /// The vendor's directory.
    pub(super) vendor: PathBuf,
    is_shared: bool,
}

impl Home {
    /// A home without anything, for questions that need no login.
    ///
    /// # Errors
    /// 69.
    pub(super) fn empty(name: &str, run_directory: &RunDirectory) -> Result<Self, Refusal> {
        let make = || -> io::Result<Self> {
            let home = run_directory.directory(name)?;
            let scratch = run_directory.directory(&format!("{name}-scratch"))?;
            Ok(Self { vendor: home.join(VENDOR), home, scratch, is_shared: false })
        };
        make().map_err(|error| unavailable(&error))
    }

    /// A home with configuration and sandbox profile, without login.
    ///
    /// # Errors
    /// 69.
    pub(super) fn build(profile: &SandboxProfile, run_directory: &RunDirectory) -> Result<Self, Refusal> {
        let home = Self::empty("home", run_directory)?;
        let make = || -> io::Result<()> {
            run_directory.directory(&format!("home/{VENDOR}"))?;
            let file = |name: &str, text: &str| {
                run_directory.file(&format!("home/{VENDOR}/{name}"), text.as_bytes()).map(drop)
            };
            file(CONFIG_FILE, CONFIG)?;
            file(SANDBOX_FILE, &profile.section())
        };
        make().map_err(|error| unavailable(&error))?;
        Ok(home)
    }

    /// Writes the copy of the prompt that is sent, where every sandbox lets it be read.
    ///
    /// # Errors
    /// 69.
    pub(super) fn write_prompt(&self, text: &str) -> Result<PathBuf, Refusal> {
        let path = self.scratch.join("prompt.md");
        write_new(&path, text.as_bytes(), 0o600).map_err(|error| unavailable(&error))?;
        Ok(path)
    }

    /// The same home with another directory of the vendor, which several runs use.
    pub(super) fn with_shared(self, vendor: &Path) -> Self {
        Self { vendor: vendor.to_path_buf(), is_shared: true, ..self }
    }

    /// The whole environment of a child.
    ///
    /// # Errors
    /// 64: a variable is named that is not passed on.
    pub(super) fn environment(&self, surroundings: &Surroundings) -> Result<ChildEnvironment, Refusal> {
        let mut environment = ChildEnvironment::of_user(surroundings)?;
        environment.set("HOME", &self.home);
        environment.set("TMPDIR", &self.scratch);
        environment.remove("GROK_HOME");
        if self.is_shared {
            environment.set("GROK_HOME", &self.vendor);
        }
        Ok(environment)
    }
}

fn unavailable(why: &dyn std::fmt::Display) -> Refusal {
    Refusal::unavailable(format!("the private home can not be made: {why}"))
}
