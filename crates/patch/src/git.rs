//! git in isolation: it never runs a program that the repository names (patch-verifier.md 6, 8.1).
//!
//! Every call gets an exact environment. The calls that read the patch see a private, empty git directory; only the
//! queries for the top level, the git directory and two settings see the real one, and these start no program.

mod call;

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

pub(crate) use call::{Answer, Call};

use crate::scratch::Scratch;

/// The git program and the search path that it may use for itself.
#[derive(Debug, Clone)]
pub(crate) struct Git {
    program: PathBuf,
    search: OsString,
}

impl Git {
    /// The first `git` in the absolute directories of a search path. Relative entries are dropped: they would let the
    /// current directory name the program.
    pub(crate) fn find(search: Option<&OsStr>) -> Option<Self> {
        let directories: Vec<PathBuf> =
            std::env::split_paths(search?).filter(|directory| directory.is_absolute()).collect();
        let program = directories.iter().map(|directory| directory.join("git")).find(|file| {
            file.metadata().is_ok_and(|facts| facts.is_file() && facts.permissions().mode() & 0o111 != 0)
        })?;
        Some(Self { program, search: std::env::join_paths(&directories).ok()? })
    }
}

/// What git says about a worktree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Discovery {
    /// The top level.
    pub top: PathBuf,
    /// The git directory of this worktree.
    pub git_directory: PathBuf,
    /// The git directory that worktrees share; the same in an ordinary clone.
    pub common_directory: PathBuf,
}

/// The two settings of the repository that change how text is compared.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Settings {
    /// `core.autocrlf`.
    pub autocrlf: Option<OsString>,
    /// `core.eol`.
    pub eol: Option<OsString>,
}

/// A private place for git: an empty git directory, an empty directory as home and as worktree of the reading, and the
/// bytes of the patch.
#[derive(Debug)]
pub(crate) struct Isolation {
    git: Git,
    scratch: Scratch,
    workdir: PathBuf,
}

impl Isolation {
    /// Makes the place under `temporary`, with a copy of the patch: git judges the bytes that were judged here.
    ///
    /// # Errors
    /// It can not be made, or it or git itself would lie inside the worktree.
    pub(crate) fn new(git: &Git, temporary: &Path, workdir: &Path, patch: Option<&[u8]>) -> io::Result<Self> {
        let outside = |path: &Path| path.canonicalize().is_ok_and(|path| !path.starts_with(workdir));
        if !outside(temporary) || !outside(&git.program) {
            return Err(io::Error::other("inside the worktree"));
        }
        let scratch = Scratch::new(&temporary.canonicalize()?)?;
        for directory in ["empty", "git", "git/objects", "git/refs"] {
            scratch.make_directory(directory)?;
        }
        scratch.write("git/HEAD", b"ref: refs/heads/none\n")?;
        if let Some(bytes) = patch {
            scratch.write("patch", bytes)?;
        }
        Ok(Self { git: git.clone(), scratch, workdir: workdir.to_owned() })
    }

    /// `git` with the exact environment and nothing else.
    fn command(&self, directory: &Path) -> Command {
        let home = self.scratch.path("empty");
        let mut command = Command::new(&self.git.program);
        command
            .env_clear()
            .env("PATH", &self.git.search)
            .env("LC_ALL", "C")
            .env("XDG_CONFIG_HOME", home.join(".config"))
            .env("HOME", home)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .env("GIT_ATTR_NOSYSTEM", "1")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_OPTIONAL_LOCKS", "0")
            .current_dir(directory)
            .stdin(Stdio::null())
            .args(["--no-optional-locks", "-c", "core.hooksPath=/dev/null"]);
        command
    }

    /// A call that does not see the repository's git directory.
    fn private(&self, worktree: &Path, settings: &Settings) -> Command {
        let mut command = self.command(worktree);
        command.env("GIT_DIR", self.scratch.path("git")).env("GIT_WORK_TREE", worktree);
        for option in [
            "core.protectHFS=true",
            "core.protectNTFS=true",
            "core.fsmonitor=false",
            "core.attributesFile=/dev/null",
        ] {
            command.args(["-c", option]);
        }
        for (name, value) in [("core.autocrlf=", &settings.autocrlf), ("core.eol=", &settings.eol)] {
            if let Some(value) = value {
                let mut option = OsString::from(name);
                option.push(value);
                command.arg("-c").arg(option);
            }
        }
        command
    }

    /// Asks for the version.
    pub(crate) fn version(&self) -> Call {
        let mut command = self.command(&self.scratch.path("empty"));
        command.arg("--version");
        Call::start(command)
    }

    /// Asks for top level, git directory and common directory.
    pub(crate) fn discovery(&self) -> Call {
        let mut command = self.command(&self.workdir);
        command.args([
            "rev-parse",
            "--path-format=absolute",
            "--show-toplevel",
            "--git-dir",
            "--git-common-dir",
        ]);
        Call::start(command)
    }

    /// Asks for the two settings.
    pub(crate) fn settings(&self) -> Call {
        let mut command = self.command(&self.workdir);
        command.args(["config", "-z", "--get-regexp", "^core\\.(autocrlf|eol)$"]);
        Call::start(command)
    }

    /// Asks how git reads the patch at a level: one record a section, then creations and deletions.
    pub(crate) fn reading(&self, level: u8) -> Call {
        let mut command = self.private(&self.scratch.path("empty"), &Settings::default());
        command
            .args(["apply", "--numstat", "--summary", "-z"])
            .arg(format!("-p{level}"))
            .arg(self.scratch.path("patch"));
        Call::start(command)
    }

    /// Asks whether the patch applies at a level.
    pub(crate) fn check(&self, level: u8, settings: &Settings) -> Call {
        let mut command = self.private(&self.workdir, settings);
        command
            .args(["apply", "--check", "--whitespace=nowarn"])
            .arg(format!("-p{level}"))
            .arg(self.scratch.path("patch"));
        Call::start(command)
    }

    /// Asks for the attributes of paths that decide over line ends.
    ///
    /// # Errors
    /// The list of paths can not be stored.
    pub(crate) fn attributes(&self, paths: &[&str], settings: &Settings) -> io::Result<Call> {
        let list = self.scratch.write("paths", paths.join("\0").as_bytes())?;
        let mut command = self.private(&self.workdir, settings);
        command
            .args(["check-attr", "-z", "--stdin", "text", "crlf", "eol"])
            .stdin(std::fs::File::open(list)?);
        Ok(Call::start(command))
    }
}

fn names_neither(file: &Path) -> bool {
    match std::fs::symlink_metadata(file) {
        Err(error) => return error.kind() == io::ErrorKind::NotFound,
        Ok(facts) if !facts.is_file() || facts.len() > CONFIGURATION_MAX_BYTES => return false,
        Ok(_) => {}
    }
    let Ok(mut bytes) = std::fs::read(file) else { return false };
    bytes.make_ascii_lowercase();
    let holds = |word: &str| memchr::memmem::find(&bytes, word.as_bytes()).is_some();
    !["autocrlf", "eol", "include"].into_iter().any(holds)
}

impl Discovery {
    /// Reads the answer of [`Isolation::discovery`]; `None` when git could not name the worktree. A path that holds a line
    /// feed can not be told apart and is not named either.
    pub(crate) fn read(answer: &Answer) -> Option<Self> {
        let text = answer.succeeded()?.strip_suffix(b"\n")?;
        let mut lines = text.split(|byte| *byte == b'\n').map(|line| PathBuf::from(OsStr::from_bytes(line)));
        let found =
            Self { top: lines.next()?, git_directory: lines.next()?, common_directory: lines.next()? };
        lines.next().is_none().then_some(found)
    }
}

/// Largest configuration that is looked through before git is asked instead, in bytes.
const CONFIGURATION_MAX_BYTES: u64 = 1 << 20;

impl Settings {
    /// Whether the repository of a worktree plainly has neither setting, so that git need not be asked: the names of the
    /// two keys, and of what brings in other files, stand nowhere in its configuration. Keys can not be written in another
    /// way (git-config(1), "Syntax").
    pub(crate) fn plainly_absent(workdir: &Path) -> bool {
        let control = workdir.join(".git");
        let is_own = control.symlink_metadata().is_ok_and(|facts| facts.is_dir())
            && control.join("commondir").symlink_metadata().is_err();
        is_own && ["config", "config.worktree"].iter().all(|name| names_neither(&control.join(name)))
    }

    /// Reads the answer of [`Isolation::settings`]; the last value of a name counts.
    pub(crate) fn read(answer: &Answer) -> Self {
        let mut settings = Self::default();
        for entry in answer.succeeded().unwrap_or_default().split(|byte| *byte == 0) {
            let end = entry.iter().position(|byte| *byte == b'\n');
            let (name, value) = match end {
                Some(end) => (&entry[..end], &entry[end + 1..]),
                None => (entry, &b"true"[..]),
            };
            let value = Some(OsString::from_vec(value.to_vec()));
            match name {
                b"core.autocrlf" => settings.autocrlf = value,
                b"core.eol" => settings.eol = value,
                _ => {}
            }
        }
        settings
    }
}
