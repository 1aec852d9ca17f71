//! What the commands that archive a program do alike (`pin` and `pin-rg`, runners.md 3.3, 4.6): `[--from PATH] [--force]`, and a
//! store whose directory `current` is replaced as a whole.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::exit::{Exit, Refusal};
use super::files::swap;
use super::limits::PIN_WAIT_SECONDS;
use super::lock::{Lock, LockError};
use super::surroundings::executable_file;

/// The words behind the command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    from: Option<PathBuf>,
    /// Whether another program that is archived is replaced.
    pub force: bool,
}

impl Line {
    /// Reads them; nothing where help is asked for.
    ///
    /// # Errors
    /// 64.
    pub fn parse(words: &[OsString]) -> Result<Option<Self>, Refusal> {
        let mut line = Self::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match word.to_str() {
                Some("-h" | "--help") => return Ok(None),
                Some("--force") if !line.force => line.force = true,
                Some("--from") if line.from.is_none() => {
                    let value = words.next().ok_or_else(|| Refusal::usage("--from needs a value"))?;
                    line.from = Some(value.into());
                }
                _ => return Err(Refusal::usage(format!("unknown argument {}", word.to_string_lossy()))),
            }
        }
        Ok(Some(line))
    }

    /// Accepts the words.
    ///
    /// # Errors
    /// 64.
    pub fn check(words: &[OsString]) -> Result<(), Refusal> {
        Self::parse(words).map(drop)
    }

    /// The real file of the program that is named, if one is.
    ///
    /// # Errors
    /// 64: it can not be executed.
    pub fn named(&self) -> Result<Option<PathBuf>, Refusal> {
        let Some(path) = &self.from else { return Ok(None) };
        let no_program = || Refusal::usage(format!("{} is no executable file", path.display()));
        executable_file(path).map(Some).ok_or_else(no_program)
    }
}

/// A store that this process alone changes.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    _lock: Lock,
}

impl Store {
    /// Makes the store where it is missing, and locks it.
    ///
    /// # Errors
    /// 75: another command is at work. 69: something else stands in the place of the lock. 70: those of the file system.
    pub fn open(path: &Path) -> Result<Self, Refusal> {
        let failed = |path: &Path, error: io::Error| {
            Refusal::new(Exit::Failed, format!("the program is not pinned: {}: {error}", path.display()))
        };
        let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(path);
        let path = made.and_then(|()| path.canonicalize()).map_err(|error| failed(path, error))?;
        let file = path.join(".lock");
        let lock =
            Lock::acquire(&file, Duration::from_secs(PIN_WAIT_SECONDS)).map_err(|error| match error {
                LockError::Busy => Refusal::new(Exit::Temporary, "another program is being pinned"),
                LockError::NotAFile => Refusal::unavailable(format!("{} is no lock file", file.display())),
                LockError::Io(error) => failed(&file, error),
            })?;
        Ok(Self { path, _lock: lock })
    }

    /// Where it is, without symbolic links.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The directory that is replaced as a whole.
    pub fn current(&self) -> PathBuf {
        current(&self.path)
    }

    /// An empty directory in it, which goes when it is not put in the place of [`Self::current`].
    ///
    /// # Errors
    /// Those of the file system.
    pub fn stage(&self) -> io::Result<tempfile::TempDir> {
        tempfile::Builder::new().prefix(".staged.").tempdir_in(&self.path)
    }

    /// Puts a staged directory in the place of the current one.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn put(&self, staged: &tempfile::TempDir) -> io::Result<()> {
        swap(staged.path(), &self.current())
    }
}

/// The directory of a store that runs use.
pub fn current(store: &Path) -> PathBuf {
    store.join("current")
}
