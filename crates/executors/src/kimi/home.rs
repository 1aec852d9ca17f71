//! The home of one run (runners.md 3.4, 3.5): everything that the vendor's program finds there was put there.

use std::io;
use std::path::PathBuf;

use super::config;
use super::lane::Lane;
use super::ripgrep::Ripgrep;
use super::sandbox::SHELL;
use crate::common::environment::ChildEnvironment;
use crate::common::exit::Refusal;
use crate::common::run_directory::RunDirectory;

/// Directories and files in the run directory.
#[derive(Clone, Debug)]
pub(super) struct Home {
    /// HOME; may be written.
    pub(super) home: PathBuf,
    /// KIMI_CODE_HOME, inside HOME.
    pub(super) kimi: PathBuf,
    /// TMPDIR; may be written.
    pub(super) scratch: PathBuf,
    /// What the child reads and can not change.
    pub(super) policy: PathBuf,
    /// The agent file.
    pub(super) agent: PathBuf,
    /// An empty directory, in place of the user's skills.
    pub(super) skills: PathBuf,
    /// `config.toml`
    pub(super) config: PathBuf,
    /// The directory that is first on PATH.
    pub(super) programs: PathBuf,
    /// The private copy of ripgrep.
    pub(super) ripgrep: PathBuf,
}

/// Names of the generated files in the vendor's directory.
pub(super) const CONFIG: &str = "config.toml";
pub(super) const TERMINAL: &str = "tui.toml";

impl Home {
    /// Builds it, without any credential.
    ///
    /// # Errors
    /// 69.
    pub(super) fn build(
        lane: Lane,
        ripgrep: &Ripgrep,
        run_directory: &RunDirectory,
    ) -> Result<Self, Refusal> {
        let unavailable = |why: &dyn std::fmt::Display| {
            Refusal::unavailable(format!("the private home can not be made: {why}"))
        };
        let make = || -> io::Result<Self> {
            let home = Self {
                home: run_directory.directory("home")?,
                kimi: run_directory.directory("home/.kimi-code")?,
                scratch: run_directory.directory("scratch")?,
                policy: run_directory.directory("policy")?,
                skills: run_directory.directory("policy/skills")?,
                agent: run_directory.file("policy/agent.md", config::agent(lane).as_bytes())?,
                config: run_directory.file("home/.kimi-code/config.toml", config::config(lane).as_bytes())?,
                programs: run_directory.directory("programs")?,
                ripgrep: PathBuf::new(),
            };
            run_directory.file("home/.kimi-code/tui.toml", config::TERMINAL.as_bytes())?;
            Ok(home)
        };
        let mut home = make().map_err(|error| unavailable(&error))?;
        home.ripgrep = ripgrep.copy(&home.programs).map_err(|why| unavailable(&why))?;
        Ok(home)
    }

    /// The whole environment of a child.
    pub(super) fn environment(&self) -> ChildEnvironment {
        let mut environment = ChildEnvironment::nothing();
        let mut path = self.programs.clone().into_os_string();
        path.push(":/usr/bin:/bin");
        environment.set("PATH", path);
        environment.set("HOME", &self.home);
        environment.set("KIMI_CODE_HOME", &self.kimi);
        environment.set("TMPDIR", &self.scratch);
        for (name, value) in [
            ("SHELL", SHELL),
            ("LANG", "C.UTF-8"),
            ("NO_COLOR", "1"),
            ("CI", "1"),
            ("KIMI_DISABLE_TELEMETRY", "1"),
            ("KIMI_CODE_NO_AUTO_UPDATE", "1"),
            ("KIMI_DISABLE_CRON", "1"),
        ] {
            environment.set(name, value);
        }
        environment
    }
}
