//! Raw material of the provider, kept only where the user asked for it (runners.md 1.7).

use std::fs::{DirBuilder, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use super::family::Family;

/// A fresh directory with mode 700 in the debug directory; its files have mode 600.
#[derive(Debug)]
pub struct DebugDirectory {
    path: PathBuf,
}

impl DebugDirectory {
    /// Makes `<debug>/<runner>.XXXXXX`.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn create(debug: &Path, family: &Family) -> io::Result<Self> {
        let directory = tempfile::Builder::new()
            .prefix(&format!("{}.", family.program))
            .permissions(Permissions::from_mode(0o700))
            .disable_cleanup(true)
            .tempdir_in(debug)?;
        Ok(Self { path: directory.keep() })
    }

    /// Makes `<debug>/<name>`.
    ///
    /// # Errors
    /// Those of the file system; it exists.
    pub fn create_named(debug: &Path, name: &str) -> io::Result<Self> {
        let path = debug.join(name);
        DirBuilder::new().mode(0o700).create(&path)?;
        Ok(Self { path })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a file.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let mut file =
            OpenOptions::new().write(true).create_new(true).mode(0o600).open(self.path.join(name))?;
        file.write_all(bytes)
    }
}
