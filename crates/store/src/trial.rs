//! What the file system under a root does, found out by trying (STATE.md 2, 4): in a staging directory of its own, which is
//! gone afterwards.

use std::fs::File;
use std::io::{self, Write};

use crate::directory::{Access, Directory, FILE_MODE};
use crate::error::{At, StoreError};
use crate::lock::{self, IfMissing, Lock, Sharing};
use crate::once::{Kind, Place, Placed, place};
use crate::root::Root;
use crate::staging::Staging;

const ONE: &str = "one";
const OTHER: &str = "other";
const LOCK: &str = "lock";

/// What was tried, and whether it did what the store relies on.
#[derive(Debug)]
pub struct FileSystemTrial {
    /// A file moved to a name that is taken leaves what is there.
    pub renames_without_replacing: io::Result<bool>,
    /// A lock that one open file holds keeps another from having it, and can be asked for.
    pub locks_exclude: io::Result<bool>,
    /// A file and its directory can be made durable.
    pub syncs: io::Result<()>,
}

impl Root {
    /// Tries what the store needs of its file system.
    ///
    /// # Errors
    /// [`StoreError::ReadOnly`] or another reason for which nothing can be tried here.
    pub fn try_file_system(&self) -> Result<FileSystemTrial, StoreError> {
        let staging = Staging::create(self)?;
        let directory = staging.directory();
        Ok(FileSystemTrial {
            renames_without_replacing: renames(directory).map_err(io::Error::other),
            locks_exclude: locks(directory).map_err(io::Error::other),
            syncs: syncs(directory),
        })
    }
}

fn write(directory: &Directory, name: &str) -> io::Result<File> {
    let mut file = directory.create_file(name, FILE_MODE)?;
    file.write_all(name.as_bytes())?;
    Ok(file)
}

fn renames(directory: &Directory) -> Result<bool, StoreError> {
    write(directory, ONE).and_then(|_| write(directory, OTHER)).at(directory.path())?;
    let ours = directory.identity_of(ONE)?.ok_or_else(|| StoreError::damaged(directory.path(), "forgets"))?;
    let from = Place { directory, name: ONE };
    let placed = place(from, Place { directory, name: OTHER }, ours, Kind::File, "store.trial")?;
    Ok(placed == Placed::Taken && directory.read_file(OTHER, 16)?.as_deref() == Some(OTHER.as_bytes()))
}

fn locks(directory: &Directory) -> Result<bool, StoreError> {
    let take = || Lock::try_take(directory, LOCK, IfMissing::Create, Sharing::Exclusive);
    let seen = || -> Result<bool, StoreError> {
        let Some(file) = directory.open_file(LOCK, Access::Read)? else { return Ok(false) };
        lock::is_locked(&file).at(directory.path())
    };
    let held = take()?;
    let excludes = held.is_some() && take()?.is_none() && seen()?;
    drop(held);
    Ok(excludes && !seen()?)
}

fn syncs(directory: &Directory) -> io::Result<()> {
    let file = directory.create_file("durable", FILE_MODE)?;
    file.sync_all()?;
    directory.file().sync_all()
}
