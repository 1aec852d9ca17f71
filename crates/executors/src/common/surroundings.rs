//! What a runner sees of the machine: variables, and where it is installed.

use std::ffi::OsString;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use gates::source::Environment;

use super::exit::Refusal;

/// Environment and install root of this process.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// The real file of this program, symbolic links resolved.
    pub program: PathBuf,
    /// The install root: the parent of the directory that holds [`Self::program`] (runners.md 1.1).
    pub root: PathBuf,
}

impl Surroundings {
    /// Those of this process.
    ///
    /// # Errors
    /// 69: the file of this program can not be determined.
    pub fn of_process() -> Result<Self, Refusal> {
        let unknown = |why: &dyn std::fmt::Display| {
            Refusal::unavailable(format!("the file of this program is not known: {why}"))
        };
        let program = std::env::current_exe().and_then(|path| path.canonicalize());
        let program = program.map_err(|error| unknown(&error))?;
        let root = program.ancestors().nth(2).map(Path::to_path_buf);
        Ok(Self { root: root.ok_or_else(|| unknown(&"it has no directory"))?, program })
    }

    /// An environment variable; an empty one counts as unset.
    pub fn variable(&self, name: &str) -> Option<OsString> {
        std::env::var_os(name).filter(|value| !value.is_empty())
    }

    /// An environment variable as text.
    ///
    /// # Errors
    /// 64: it is not UTF-8.
    pub fn text(&self, name: &str) -> Result<Option<String>, Refusal> {
        let text = self.variable(name).map(OsString::into_string).transpose();
        text.map_err(|_| Refusal::usage(format!("{name} is not UTF-8")))
    }

    /// A whole number in an environment variable.
    ///
    /// # Errors
    /// 64: it is none, or out of range.
    pub fn number(&self, name: &str, range: RangeInclusive<u64>) -> Result<Option<u64>, Refusal> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        // The digits alone: a sign or white space would be read by nobody else.
        let number = Some(text).filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
        match number.and_then(|text| text.parse().ok()).filter(|number| range.contains(number)) {
            Some(number) => Ok(Some(number)),
            None => {
                let (first, last) = range.into_inner();
                Err(Refusal::usage(format!("{name} must be a whole number in {first}..{last}")))
            }
        }
    }

    /// `<root>/config/<name>`.
    pub fn config(&self, name: &str) -> PathBuf {
        self.root.join("config").join(name)
    }

    /// Where the gates come from: an override, the installation, this program itself.
    pub fn gates(&self) -> Environment<'static> {
        Environment { variable: &|name| std::env::var_os(name), installed: Some(self.root.join("config")) }
    }

    /// The data home of the runners: `DELEGATION_DATA_HOME`, else `$XDG_DATA_HOME/delegation-kit`, else
    /// `~/.local/share/delegation-kit` (runners.md 3.3). Nothing where none of the three variables is set.
    pub fn data_home(&self) -> Option<PathBuf> {
        let under = |name: &str, below: &str| Some(PathBuf::from(self.variable(name)?).join(below));
        under("DELEGATION_DATA_HOME", "")
            .or_else(|| under("XDG_DATA_HOME", "delegation-kit"))
            .or_else(|| under("HOME", ".local/share/delegation-kit"))
    }

    /// The file that a bare program name means on `PATH`, symbolic links resolved.
    pub fn find_program(&self, name: &str) -> Option<PathBuf> {
        let path = self.variable("PATH")?;
        std::env::split_paths(&path)
            .filter(|directory| directory.is_absolute())
            .filter_map(|directory| executable_file(&directory.join(name)))
            .next()
    }
}

/// A path as a regular file that may be executed, symbolic links resolved.
pub fn executable_file(path: &Path) -> Option<PathBuf> {
    let real = path.canonicalize().ok()?;
    let executable = real.is_file() && rustix::fs::access(&real, rustix::fs::Access::EXEC_OK).is_ok();
    executable.then_some(real)
}
