//! What is installed, at which version, and where its executable lies (providers.md 11.1).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::skip::skip;

/// Something that is installed from npm for the tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Component {
    /// OpenAI codex: a static binary.
    Codex,
    /// pi: JavaScript, run by [`Component::Node`].
    Pi,
    /// Claude Code: a single binary.
    Claude,
    /// opencode: a single binary.
    Opencode,
    /// The Node that runs pi.
    Node,
    /// pnpm, for the npm package: a single binary.
    Pnpm,
    /// bun, for the npm package: a single binary.
    Bun,
}

/// Why the pinned versions are not known.
#[derive(Debug, Error)]
pub enum PinsError {
    /// The file can not be read.
    #[error("{}: {source}", path.display())]
    Read {
        /// The file with the pins.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The file is not a table of versions.
    #[error("{}: {message}", path.display())]
    Parse {
        /// The file with the pins.
        path: PathBuf,
        /// What is wrong.
        message: String,
    },
}

/// The pinned versions: `xtask/real-versions.toml`.
#[derive(Debug, Clone)]
pub struct Pins(BTreeMap<String, String>);

impl Component {
    /// Every component.
    pub const ALL: [Self; 7] =
        [Self::Codex, Self::Pi, Self::Claude, Self::Opencode, Self::Node, Self::Pnpm, Self::Bun];

    /// Its name: the key in the pin file, the word on command lines, and the program that PATH finds.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Codex => "codex",
            Self::Pi => "pi",
            Self::Claude => "claude",
            Self::Opencode => "opencode",
            Self::Node => "node",
            Self::Pnpm => "pnpm",
            Self::Bun => "bun",
        }
    }

    /// The component of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|component| component.name() == name)
    }

    /// The npm package that carries the program for this machine, and what its versions end in.
    #[must_use]
    pub fn package(self) -> (String, String) {
        let platform = platform();
        match self {
            Self::Codex => ("@openai/codex".to_owned(), format!("-{platform}")),
            Self::Pi => ("@earendil-works/pi-coding-agent".to_owned(), String::new()),
            Self::Claude => (format!("@anthropic-ai/claude-code-{platform}"), String::new()),
            Self::Opencode => (format!("opencode-{platform}"), String::new()),
            Self::Node => (format!("node-{platform}"), String::new()),
            Self::Pnpm => (format!("@pnpm/exe.{platform}"), String::new()),
            // bun names this processor in another way.
            Self::Bun => (format!("@oven/bun-{}", platform.replace("arm64", "aarch64")), String::new()),
        }
    }

    /// The components that this one needs to run.
    #[must_use]
    pub fn needs(self) -> &'static [Self] {
        match self {
            Self::Pi => &[Self::Node],
            _ => &[],
        }
    }

    /// The program at its pinned version for a test that needs no stage; `None` after the test was reported as skipped
    /// ([`skip`]).
    ///
    /// # Panics
    /// The pins can not be read, or it is not installed and real components are demanded.
    #[must_use]
    pub fn for_test(self, test: &str) -> Option<PathBuf> {
        let pins = Pins::read().unwrap_or_else(|error| panic!("{test}: {error}"));
        let version = pins.version(self);
        let found = self.executable(version);
        if found.is_none() {
            let name = self.name();
            skip(test, &format!("{name} {version} is not installed (cargo xtask real install {name})"));
        }
        found
    }

    /// Where a version is installed: the folder that holds `node_modules`.
    #[must_use]
    pub fn directory(self, version: &str) -> PathBuf {
        let name = format!("{}-{version}", self.name());
        target_directory().join("real").join(name)
    }

    /// The file that PATH shall find, when that version is installed.
    #[must_use]
    pub fn executable(self, version: &str) -> Option<PathBuf> {
        let (package, _) = self.package();
        let below = match self {
            Self::Codex => format!("vendor/{}-unknown-linux-musl/bin/codex", std::env::consts::ARCH),
            Self::Pi => "dist/bundle/cli.js".to_owned(),
            Self::Claude => "claude".to_owned(),
            Self::Opencode => "bin/opencode".to_owned(),
            Self::Node => "bin/node".to_owned(),
            Self::Pnpm => "pnpm".to_owned(),
            Self::Bun => "bin/bun".to_owned(),
        };
        let path = self.directory(version).join("node_modules").join(package).join(below);
        path.is_file().then_some(path)
    }
}

impl Pins {
    /// Where the pins are kept.
    #[must_use]
    pub fn path() -> PathBuf {
        workspace_directory().join("xtask/real-versions.toml")
    }

    /// Reads the file.
    ///
    /// # Errors
    /// It can not be read, or is not a table of strings that names every component.
    pub fn read() -> Result<Self, PinsError> {
        let path = Self::path();
        let text = std::fs::read_to_string(&path)
            .map_err(|source| PinsError::Read { path: path.clone(), source })?;
        let pins: BTreeMap<String, String> = toml::from_str(&text)
            .map_err(|error| PinsError::Parse { path: path.clone(), message: error.to_string() })?;
        let missing = Component::ALL.iter().find(|component| !pins.contains_key(component.name()));
        match missing {
            Some(component) => {
                Err(PinsError::Parse { path, message: format!("no version of {}", component.name()) })
            }
            None => Ok(Self(pins)),
        }
    }

    /// The pinned version.
    #[must_use]
    pub fn version(&self, component: Component) -> &str {
        self.named(component.name()).unwrap_or_default()
    }

    /// The pinned version of something that is no [`Component`].
    #[must_use]
    pub fn named(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }
}

/// Root of this workspace, as it was when this crate was built.
#[must_use]
pub fn workspace_directory() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_path_buf()
}

/// The folder for build products of this workspace; real components lie in `real` below it.
#[must_use]
pub fn target_directory() -> PathBuf {
    workspace_directory().join("target")
}

/// npm's words for this machine.
fn platform() -> String {
    let architecture = match std::env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        other => other,
    };
    format!("{}-{architecture}", std::env::consts::OS)
}
