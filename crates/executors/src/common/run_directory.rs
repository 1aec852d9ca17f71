//! The private directory of one run, removed on every way out.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use super::exit::Refusal;
use super::family::Family;

/// A directory below the temporary one, with mode 700. Dropping it removes it with everything in it.
#[derive(Debug)]
pub struct RunDirectory {
    _directory: tempfile::TempDir,
    path: PathBuf,
}

impl RunDirectory {
    /// Makes it below `TMPDIR`.
    ///
    /// # Errors
    /// 69: it can not be made.
    pub fn create(family: &Family) -> Result<Self, Refusal> {
        let made = tempfile::Builder::new()
            .prefix(&format!("{}.", family.program))
            .permissions(Permissions::from_mode(0o700))
            .tempdir()
            .and_then(|directory| Ok((directory.path().canonicalize()?, directory)));
        match made {
            Ok((path, directory)) => Ok(Self { _directory: directory, path }),
            Err(error) => Err(Refusal::unavailable(format!("no private directory can be made: {error}"))),
        }
    }

    /// Where it is, without symbolic links.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes a directory in it, with mode 700.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn directory(&self, name: &str) -> io::Result<PathBuf> {
        let path = self.path.join(name);
        fs::create_dir_all(&path)?;
        fs::set_permissions(&path, Permissions::from_mode(0o700))?;
        Ok(path)
    }

    /// Writes a new file in it, with mode 600.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn file(&self, name: &str, bytes: &[u8]) -> io::Result<PathBuf> {
        let path = self.path.join(name);
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        file.write_all(bytes)?;
        Ok(path)
    }

    /// Opens a new file in it for appending and reading, with mode 600.
    pub(super) fn stream(&self, name: &str) -> io::Result<File> {
        let path = self.path.join(name);
        OpenOptions::new().append(true).read(true).create_new(true).mode(0o600).open(path)
    }
}
