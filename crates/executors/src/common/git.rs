//! git on a checkout that nobody vouches for: monitor, hooks, pager, transport and the settings of user and system are off. What
//! has no switch, submodules and filters, is refused by those who ask.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::surroundings::executable_file;

/// Settings that beat those of the checkout.
const SETTINGS: [&str; 6] = [
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.attributesFile=/dev/null",
    "core.quotePath=false",
    "protocol.allow=never",
    "safe.bareRepository=explicit",
];
/// The whole environment, beside the search path.
const ENVIRONMENT: [(&str, &str); 9] = [
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("GIT_ATTR_NOSYSTEM", "1"),
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_PAGER", "cat"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("LC_ALL", "C"),
];
/// The mode of an entry of the index that stands for another repository.
const GITLINK_MODE: &[u8] = b"160000 ";

/// The git of one checkout. Every answer is nothing where git can not give it.
#[derive(Clone, Debug)]
pub struct Git {
    program: PathBuf,
    search_path: OsString,
    directory: PathBuf,
}

impl Git {
    /// Finds git. Directories that are relative or lie in the checkout are passed over: what lies there is not the user's git.
    pub fn of(directory: &Path) -> Option<Self> {
        let directory = directory.canonicalize().ok()?;
        let path = std::env::var_os("PATH")?;
        let is_foreign =
            |place: &PathBuf| place.canonicalize().is_ok_and(|place| !place.starts_with(&directory));
        let places: Vec<PathBuf> =
            std::env::split_paths(&path).filter(|place| place.is_absolute() && is_foreign(place)).collect();
        let program = places.iter().find_map(|place| executable_file(&place.join("git")))?;
        Some(Self { program, search_path: std::env::join_paths(&places).ok()?, directory })
    }

    /// What git answers.
    pub fn ask<S: AsRef<OsStr>>(&self, words: &[S]) -> Option<Vec<u8>> {
        let output = Command::new(&self.program)
            .args(["--no-optional-locks", "--no-pager"])
            .args(SETTINGS.iter().flat_map(|setting| ["-c", setting]))
            .args(words)
            .current_dir(&self.directory)
            .env_clear()
            .envs(ENVIRONMENT)
            .env("PATH", &self.search_path)
            .stdin(Stdio::null())
            .output()
            .ok()?;
        output.status.success().then_some(output.stdout)
    }

    /// Paths that git answers, each ended by NUL.
    pub fn paths(&self, words: &[&str]) -> Option<Vec<PathBuf>> {
        let bytes = self.ask(words)?;
        let names = bytes.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        Some(names.map(|name| PathBuf::from(OsStr::from_bytes(name))).collect())
    }

    /// Whether the directory is the top of its checkout.
    pub fn is_top(&self) -> Option<bool> {
        let top = self.ask(&["rev-parse", "--show-toplevel"])?;
        let top = Path::new(OsStr::from_bytes(top.strip_suffix(b"\n")?)).canonicalize().ok()?;
        Some(top == self.directory)
    }

    /// The commit that it is at.
    pub fn head(&self) -> Option<String> {
        let head = self.ask(&["rev-parse", "--verify", "HEAD^{commit}"])?;
        Some(String::from_utf8_lossy(head.trim_ascii_end()).into_owned())
    }

    /// Whether the checkout holds others (submodules): their own settings would count where git looks into them.
    pub fn has_gitlinks(&self) -> Option<bool> {
        let entries = self.ask(&["ls-files", "--stage", "-z"])?;
        Some(entries.split(|byte| *byte == 0).any(|entry| entry.starts_with(GITLINK_MODE)))
    }
}
