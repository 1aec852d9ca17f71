//! A file appears once and whole: temporary name, write, sync, rename that replaces nothing, sync of the directory
//! (STATE.md 2).

use std::fs::File;
use std::io::{self, Write};

use rustix::fs::{AtFlags, RenameFlags};
use rustix::io::Errno;

use crate::directory::{Directory, FILE_MODE, Identity, identity};
use crate::error::{At, StoreError};
use crate::limits::DRAFT_MAX_TRIES;
use crate::points::RecordPoints;
use crate::random::random_nonce;

/// What the names of half-written files begin with.
pub(crate) const TEMPORARY_PREFIX: &str = ".new-";

/// What came of giving something its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Placed {
    /// It has the name.
    Ours,
    /// Something else had it before; it is untouched.
    Taken,
}

/// A file under a name that nobody looks at. Dropping it removes that name.
pub(crate) struct Temporary<'a> {
    directory: &'a Directory,
    name: String,
    file: File,
    points: &'static RecordPoints,
}

impl<'a> Temporary<'a> {
    /// A new, empty file in the directory.
    pub(crate) fn create(
        directory: &'a Directory,
        points: &'static RecordPoints,
    ) -> Result<Self, StoreError> {
        let name = format!("{TEMPORARY_PREFIX}{}", random_nonce());
        let file = directory.create_file(&name, FILE_MODE).at(directory.path_of(&name))?;
        let temporary = Self { directory, name, file, points };
        fault::point(points.created).at(directory.path())?;
        Ok(temporary)
    }

    /// The file, for looking at it.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Syncs it and gives it its name, unless that is taken.
    pub(crate) fn place_once(self, name: &str) -> Result<Placed, StoreError> {
        self.sync(name)?;
        let ours = identity(&self.file).at(self.directory.path_of(name))?;
        let from = Place { directory: self.directory, name: &self.name };
        let placed =
            place(from, Place { directory: self.directory, name }, ours, Kind::File, self.points.renamed)?;
        if placed == Placed::Ours {
            sync_entry(self.directory, name, self.points)?;
        }
        Ok(placed)
    }

    /// Syncs it and gives it its name, whatever had it before.
    pub(crate) fn replace(self, name: &str) -> Result<(), StoreError> {
        self.sync(name)?;
        let Self { directory, points, .. } = self;
        self.rename_over(name)?;
        sync_entry(directory, name, points)
    }

    /// Gives it its name, whatever had it before, and syncs nothing.
    pub(crate) fn rename_over(self, name: &str) -> Result<(), StoreError> {
        let directory = self.directory.file();
        rustix::fs::renameat(directory, &self.name, directory, name).at(self.directory.path_of(name))?;
        fault::point(self.points.renamed).at(self.directory.path_of(name))
    }

    fn sync(&self, name: &str) -> Result<(), StoreError> {
        let path = || self.directory.path_of(name);
        fault::point(self.points.written).at(path())?;
        self.file.sync_all().at(path())?;
        fault::synced(&self.file);
        fault::point(self.points.synced).at(path())
    }
}

impl Write for Temporary<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        // After a rename the name is gone already; a left-over is harmless.
        let _ = self.directory.remove_file(&self.name);
    }
}

/// Writes a file that appears once and whole.
pub(crate) fn write_once(
    directory: &Directory,
    name: &str,
    bytes: &[u8],
    points: &'static RecordPoints,
) -> Result<Placed, StoreError> {
    for _ in 1..DRAFT_MAX_TRIES {
        match write_and_place(directory, name, bytes, points) {
            // Whoever tidies an ended task takes the draft for that of a lost writer.
            Err(StoreError::NotFound { .. }) => {}
            result => return result,
        }
    }
    write_and_place(directory, name, bytes, points)
}

fn write_and_place(
    directory: &Directory,
    name: &str,
    bytes: &[u8],
    points: &'static RecordPoints,
) -> Result<Placed, StoreError> {
    let mut temporary = Temporary::create(directory, points)?;
    temporary.write_all(bytes).at(directory.path_of(name))?;
    temporary.place_once(name)
}

/// Makes a new name durable. Until that has happened nobody may act on it.
pub(crate) fn sync_entry(directory: &Directory, name: &str, points: &RecordPoints) -> Result<(), StoreError> {
    uncertain(directory, name, || {
        directory.sync()?;
        fault::point(points.directory_synced)
    })
}

/// A failure here leaves open whether what is visible is durable.
pub(crate) fn uncertain(
    directory: &Directory,
    name: &str,
    sync: impl FnOnce() -> io::Result<()>,
) -> Result<(), StoreError> {
    sync().map_err(|source| StoreError::Uncertain { path: directory.path_of(name), source })
}

/// A name in a directory.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) directory: &'a Directory,
    pub(crate) name: &'a str,
}

/// What is moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    File,
    Directory,
}

/// Moves `from` to `to` unless something is there. `ours` is what is moved: after an error, as of a lost reply of a file
/// server, the destination tells whether it was moved all the same.
pub(crate) fn place(
    from: Place<'_>,
    to: Place<'_>,
    ours: Identity,
    kind: Kind,
    point: &str,
) -> Result<Placed, StoreError> {
    let moved = rename_without_replacing(from, to, kind).map_err(io::Error::from);
    let Err(error) = moved.and_then(|()| fault::point(point)) else {
        return Ok(Placed::Ours);
    };
    match to.directory.identity_of(to.name) {
        Ok(Some(found)) if found == ours => Ok(Placed::Ours),
        Ok(_) if is_taken(&error) => Ok(Placed::Taken),
        Ok(_) => Err(StoreError::at(to.directory.path_of(to.name), error)),
        Err(_) => uncertain(to.directory, to.name, || Err(error)).map(|()| Placed::Ours),
    }
}

fn is_taken(error: &io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::EXIST | Errno::NOTEMPTY))
}

fn rename_without_replacing(from: Place<'_>, to: Place<'_>, kind: Kind) -> rustix::io::Result<()> {
    let (source, target) = (from.directory.file(), to.directory.file());
    match rustix::fs::renameat_with(source, from.name, target, to.name, RenameFlags::NOREPLACE) {
        Err(Errno::INVAL | Errno::NOSYS) => move_by_other_means(from, to, kind),
        result => result,
    }
}

/// For file systems that can not rename without replacing.
fn move_by_other_means(from: Place<'_>, to: Place<'_>, kind: Kind) -> rustix::io::Result<()> {
    let (source, target) = (from.directory.file(), to.directory.file());
    match kind {
        Kind::File => {
            rustix::fs::linkat(source, from.name, target, to.name, AtFlags::empty())?;
            rustix::fs::unlinkat(source, from.name, AtFlags::empty())
        }
        // A plain rename replaces only an empty directory, and a task is none.
        Kind::Directory => rustix::fs::renameat(source, from.name, target, to.name),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn directory() -> (tempfile::TempDir, Directory) {
        let temporary = tempfile::tempdir().unwrap();
        fs::set_permissions(temporary.path(), fs::Permissions::from_mode(0o700)).unwrap();
        let directory = Directory::open(temporary.path()).unwrap();
        (temporary, directory)
    }

    fn both(directory: &Directory) -> (Place<'_>, Place<'_>) {
        (Place { directory, name: "from" }, Place { directory, name: "to" })
    }

    #[test]
    fn the_fallback_for_files_moves_and_replaces_nothing() {
        let (temporary, directory) = directory();
        let (from, to) = both(&directory);
        fs::write(temporary.path().join("from"), "new").unwrap();
        move_by_other_means(from, to, Kind::File).unwrap();
        assert!(!temporary.path().join("from").exists());
        fs::write(temporary.path().join("from"), "other").unwrap();
        assert_eq!(move_by_other_means(from, to, Kind::File), Err(Errno::EXIST));
        assert_eq!(fs::read_to_string(temporary.path().join("to")).unwrap(), "new");
    }

    #[test]
    fn the_fallback_for_directories_does_not_replace_one_with_content() {
        let (temporary, directory) = directory();
        let (from, to) = both(&directory);
        for name in ["from", "to"] {
            fs::create_dir(temporary.path().join(name)).unwrap();
        }
        fs::write(temporary.path().join("to/request.json"), "first").unwrap();
        let error = move_by_other_means(from, to, Kind::Directory).unwrap_err();
        assert!(is_taken(&error.into()), "{error}");
        assert_eq!(fs::read_to_string(temporary.path().join("to/request.json")).unwrap(), "first");
    }

    #[test]
    fn after_an_error_a_destination_that_is_ours_counts_as_moved() {
        let (temporary, directory) = directory();
        let (from, to) = both(&directory);
        fs::write(temporary.path().join("to"), "moved by a call whose reply was lost").unwrap();
        let ours = directory.identity_of("to").unwrap().unwrap();
        assert_eq!(place(from, to, ours, Kind::File, "store.test").unwrap(), Placed::Ours);
    }

    #[test]
    fn after_an_error_a_destination_of_another_is_taken() {
        let (temporary, directory) = directory();
        let (from, to) = both(&directory);
        for name in ["from", "to"] {
            fs::write(temporary.path().join(name), name).unwrap();
        }
        let ours = directory.identity_of("from").unwrap().unwrap();
        assert_eq!(place(from, to, ours, Kind::File, "store.test").unwrap(), Placed::Taken);
        assert_eq!(fs::read_to_string(temporary.path().join("to")).unwrap(), "to");
    }
}
