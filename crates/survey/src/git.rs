//! Running git on a repository that nobody vouches for.
//!
//! Git is asked only what it can answer without running anything the repository names: monitor,
//! hooks, pager, signature check, transport, text conversion and external diff are off or never
//! reached, nothing is written, and the caller's `GIT_*` variables do not reach it. Filters have no
//! switch of their own; [`crate::repository`] never compares a file that has one. Answers are
//! bounded.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::fs::Access;

use crate::limits::GIT_ERROR_MAX_BYTES;

/// Settings that beat those of the repository.
const SETTINGS: [&str; 6] = [
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.attributesFile=/dev/null",
    "log.showSignature=false",
    "protocol.allow=never",
    "safe.bareRepository=explicit",
];

/// The whole environment of git, beside what [`PASSED_ON`] names.
const ENVIRONMENT: [(&str, &str); 8] = [
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("GIT_ATTR_NOSYSTEM", "1"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_PAGER", "cat"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("LC_ALL", "C"),
];

/// Variables that lead git to the settings of its user, whose ignore rules and trusted folders
/// apply.
const PASSED_ON: [&str; 3] = ["HOME", "XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL"];

/// Git, found and ready to be asked about one workspace.
#[derive(Debug)]
pub(crate) struct Git {
    program: PathBuf,
    search_path: OsString,
    workspace: PathBuf,
}

/// What git answered.
#[derive(Debug)]
pub(crate) enum Reply {
    /// Its standard output, and whether more was to come than the caller wanted.
    Output(Vec<u8>, bool),
    /// It failed; what it said on standard error.
    Refused(Vec<u8>),
}

impl Git {
    /// Finds git on a search path (the value of `PATH`). Folders that are relative or lie in the
    /// workspace are passed over: what lies there is not the user's git.
    pub(crate) fn find(search_path: &OsStr, workspace: &Path) -> Option<Self> {
        let workspace = workspace.canonicalize().ok()?;
        let folders: Vec<PathBuf> = std::env::split_paths(search_path)
            .filter(|folder| folder.is_absolute())
            .filter(|folder| {
                let real = folder.canonicalize();
                real.is_ok_and(|real| !real.starts_with(&workspace))
            })
            .collect();
        let program = folders
            .iter()
            .map(|folder| folder.join("git"))
            .find(|file| file.is_file() && rustix::fs::access(file, Access::EXEC_OK).is_ok())?;
        Some(Self { program, search_path: std::env::join_paths(folders).ok()?, workspace })
    }

    #[cfg(test)]
    pub(crate) fn program(&self) -> &Path {
        &self.program
    }

    /// Asks one question and waits for the answer, of which at most `max_bytes` are taken.
    ///
    /// # Errors
    /// Git could not be started or its answer not be read.
    pub(crate) fn ask(&self, arguments: &[&str], max_bytes: usize) -> io::Result<Reply> {
        let mut command = Command::new(&self.program);
        command
            .args(["--no-optional-locks", "--no-pager"])
            .args(SETTINGS.iter().flat_map(|setting| ["-c", setting]))
            .args(arguments)
            .env_clear()
            .envs(ENVIRONMENT)
            .env("PATH", &self.search_path)
            .envs(PASSED_ON.iter().filter_map(|name| Some((name, std::env::var_os(name)?))))
            .current_dir(&self.workspace)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let answer = read_both(&mut child, max_bytes);
        if !matches!(answer, Ok((_, false, _))) {
            // It may be about to write more than anybody will read.
            child.kill()?;
        }
        let status = child.wait()?;
        let (output, is_cut, errors) = answer?;
        if is_cut || status.success() {
            Ok(Reply::Output(output, is_cut))
        } else {
            Ok(Reply::Refused(errors))
        }
    }
}

/// Both streams of a child at once, each bounded, so that neither can hold the other.
fn read_both(child: &mut Child, max_bytes: usize) -> io::Result<(Vec<u8>, bool, Vec<u8>)> {
    let (Some(mut stdout), Some(mut stderr)) = (child.stdout.take(), child.stderr.take()) else {
        return Err(io::Error::other("git was started without its pipes"));
    };
    let errors = std::thread::spawn(move || -> io::Result<Vec<u8>> {
        let mut errors = Vec::new();
        (&mut stderr).take(GIT_ERROR_MAX_BYTES as u64).read_to_end(&mut errors)?;
        io::copy(&mut stderr, &mut io::sink())?;
        Ok(errors)
    });
    let mut output = Vec::new();
    (&mut stdout).take(max_bytes as u64).read_to_end(&mut output)?;
    let is_cut = output.len() == max_bytes && stdout.read(&mut [0])? > 0;
    if is_cut {
        return Ok((output, true, Vec::new()));
    }
    let errors = errors.join().map_err(|_| io::Error::other("the reader of git's errors failed"))??;
    Ok((output, false, errors))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn make_git(folder: &Path, script: &str) {
        fs::create_dir_all(folder).unwrap();
        let file = folder.join("git");
        fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    }

    #[test]
    fn a_git_of_the_workspace_is_not_the_users_git() {
        let workspace = tempfile::tempdir().unwrap();
        make_git(&workspace.path().join("bin"), "exit 0");
        let elsewhere = tempfile::tempdir().unwrap();
        let inside = workspace.path().join("bin");
        let search = |folders: &[&Path]| {
            let path = std::env::join_paths(folders).unwrap();
            Git::find(&path, workspace.path()).map(|git| git.program)
        };
        assert_eq!(search(&[&inside, Path::new("bin"), Path::new("")]), None);
        make_git(elsewhere.path(), "exit 0");
        assert_eq!(search(&[&inside, elsewhere.path()]), Some(elsewhere.path().join("git")));
    }

    #[test]
    fn answers_are_bounded_and_failures_told() {
        let workspace = tempfile::tempdir().unwrap();
        let tools = tempfile::tempdir().unwrap();
        make_git(
            tools.path(),
            "case \"$*\" in *endless) while :; do echo more; done;; *short) echo abc;;\n\
             *env) env;; *) echo no >&2; exit 128;; esac",
        );
        let git = Git::find(tools.path().as_os_str(), workspace.path()).unwrap();
        let Reply::Output(output, is_cut) = git.ask(&["endless"], 10).unwrap() else {
            panic!("an endless answer is cut");
        };
        assert_eq!((output.len(), is_cut), (10, true));
        let Reply::Output(output, is_cut) = git.ask(&["short"], 4).unwrap() else {
            panic!("a short answer is whole");
        };
        assert_eq!((&output[..], is_cut), (&b"abc\n"[..], false));
        let Reply::Refused(errors) = git.ask(&["fail"], 10).unwrap() else {
            panic!("a failure is told");
        };
        assert_eq!(errors, b"no\n");
    }
}
