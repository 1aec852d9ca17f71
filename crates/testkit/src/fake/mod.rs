//! A fake AI CLI with named misbehaviours.
//!
//! One program, installed under the name of the CLI whose grammar it shall speak: `agy`, `claude`, `codex`, `opencode`, `pi`, or
//! anything else for the worker protocol. A turn misbehaves as the markers `[[fake: NAME …]]` of its brief say, and as those of its own
//! configuration say, which lies beside it ([`Fake::configure`]); the configuration also reaches `--version` and
//! `--help`. [`Behaviour`] lists the names.

mod behaviour;
mod launch;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

pub use behaviour::{Behaviour, Until};
pub use launch::{Launch, Log, Process};

use crate::binary;

/// The program that [`install`] copies.
pub const PROGRAM: &str = "testkit-fake-cli";
/// A working directory may be deleted by a fake only when it holds a file of this name.
pub const EXPENDABLE_FILE: &str = "expendable";

/// An installed fake CLI.
#[derive(Debug, Clone)]
pub struct Fake {
    path: PathBuf,
}

/// Puts a fake CLI of that name into a folder, as a file of its own: it may be replaced, and its metadata changes for
/// nobody else.
///
/// # Errors
/// The program could not be built or copied.
pub fn install(directory: &Path, name: &str) -> io::Result<Fake> {
    let path = directory.join(name);
    // Another process copies: a descriptor of ours that is open for writing would be inherited by what another
    // thread starts at this moment, and the file could not be executed while it is ("text file busy").
    let copied = Command::new("cp").arg("--reflink=auto").arg(binary::path(PROGRAM)?).arg(&path).status()?;
    if copied.success() {
        Ok(Fake { path })
    } else {
        Err(io::Error::other(format!("{} could not be copied", path.display())))
    }
}

impl Fake {
    /// The executable.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Sets the behaviours of every later start, written as in a brief. An empty text removes them.
    ///
    /// # Errors
    /// The file could not be written.
    pub fn configure(&self, markers: &str) -> io::Result<()> {
        fs::write(configuration_path(&self.path), markers)
    }
}

/// Where the configuration of a fake lies.
#[must_use]
pub fn configuration_path(executable: &Path) -> PathBuf {
    let mut name = executable.as_os_str().to_owned();
    name.push(".fake");
    PathBuf::from(name)
}
