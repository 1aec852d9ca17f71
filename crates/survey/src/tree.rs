//! Opening things inside the workspace, and nothing outside of it.
//!
//! Each step of a path is opened relative to its parent and never through a symbolic link, so a
//! workspace can not lead the survey to another place. Only regular files are opened for reading.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

/// The workspace, held open.
#[derive(Debug)]
pub(crate) struct Tree {
    root: OwnedFd,
    /// The folder opened last: neighbours are asked for one after the other.
    latest: Option<(PathBuf, OwnedFd)>,
}

/// What a path of the workspace turned out to be.
#[derive(Debug)]
pub(crate) enum Entry {
    /// A regular file, open for reading, and its size in bytes.
    File(File, u64),
    /// A folder.
    Folder,
    /// A symbolic link, or something behind one; not followed.
    Link,
    /// A pipe, a socket or a device; not opened.
    Special,
    /// Nothing is there.
    Missing,
    /// It is there, but the system refuses it.
    Refused,
}

const FOLDER_FLAGS: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Non-blocking, so that a file replaced by a pipe in this very moment can not hold the survey.
const FILE_FLAGS: OFlags =
    OFlags::RDONLY.union(OFlags::NOFOLLOW).union(OFlags::NONBLOCK).union(OFlags::CLOEXEC);

impl Tree {
    /// Opens the workspace. Here alone a symbolic link is followed: the caller named it.
    pub(crate) fn open(workspace: &Path) -> io::Result<Self> {
        let flags = FOLDER_FLAGS.difference(OFlags::NOFOLLOW);
        let root = rustix::fs::open(workspace, flags, Mode::empty())?;
        Ok(Self { root, latest: None })
    }

    /// Looks at one path below the workspace.
    pub(crate) fn entry(&mut self, path: &Path) -> Entry {
        self.look(path).unwrap_or_else(|error| match error {
            Errno::NOENT => Entry::Missing,
            // What the kernel says of a link that stands where a folder (NOTDIR) or a file (LOOP)
            // was asked for; also of a file that stands where a folder was.
            Errno::NOTDIR | Errno::LOOP => Entry::Link,
            _ => Entry::Refused,
        })
    }

    /// Opens a folder of the workspace; the empty path is the workspace.
    pub(crate) fn folder(&mut self, path: &Path) -> rustix::io::Result<OwnedFd> {
        if let Some((latest, folder)) = &self.latest
            && latest == path
        {
            return rustix::io::fcntl_dupfd_cloexec(folder, 0);
        }
        let mut folder = rustix::io::fcntl_dupfd_cloexec(&self.root, 0)?;
        for component in path.components() {
            let Component::Normal(name) = component else {
                return Err(Errno::INVAL);
            };
            folder = rustix::fs::openat(&folder, name, FOLDER_FLAGS, Mode::empty())?;
        }
        Ok(folder)
    }

    fn look(&mut self, path: &Path) -> rustix::io::Result<Entry> {
        let (Some(name), Some(parent)) = (path.file_name(), path.parent()) else {
            return Err(Errno::INVAL);
        };
        if self.latest.as_ref().is_none_or(|(latest, _)| latest != parent) {
            self.latest = Some((parent.to_owned(), self.folder(parent)?));
        }
        let folder = match &self.latest {
            Some((_, folder)) => folder.as_fd(),
            None => self.root.as_fd(),
        };
        let status = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
        match FileType::from_raw_mode(status.st_mode) {
            FileType::Directory => return Ok(Entry::Folder),
            FileType::Symlink => return Ok(Entry::Link),
            FileType::RegularFile => {}
            _ => return Ok(Entry::Special),
        }
        let file = rustix::fs::openat(folder, name, FILE_FLAGS, Mode::empty())?;
        let status = rustix::fs::fstat(&file)?;
        if FileType::from_raw_mode(status.st_mode) != FileType::RegularFile {
            return Ok(Entry::Special);
        }
        Ok(Entry::File(File::from(file), u64::try_from(status.st_size).unwrap_or(0)))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::os::unix::fs::symlink;

    use super::*;

    fn kind(tree: &mut Tree, path: &str) -> &'static str {
        match tree.entry(Path::new(path)) {
            Entry::File(..) => "file",
            Entry::Folder => "folder",
            Entry::Link => "link",
            Entry::Special => "special",
            Entry::Missing => "missing",
            Entry::Refused => "refused",
        }
    }

    #[test]
    fn only_what_lies_inside_is_opened() {
        let outside = tempfile::tempdir().unwrap();
        std::fs::write(outside.path().join("secret"), "s").unwrap();
        let inside = tempfile::tempdir().unwrap();
        let root = inside.path();
        std::fs::create_dir_all(root.join("a/b")).unwrap();
        std::fs::write(root.join("a/b/file"), "hello").unwrap();
        symlink(outside.path(), root.join("a/away")).unwrap();
        symlink(outside.path().join("secret"), root.join("a/secret")).unwrap();
        rustix::fs::mknodat(rustix::fs::CWD, root.join("a/pipe"), FileType::Fifo, Mode::RUSR, 0).unwrap();

        let mut tree = Tree::open(root).unwrap();
        assert_eq!(kind(&mut tree, "a/b"), "folder");
        assert_eq!(kind(&mut tree, "a/b/none"), "missing");
        assert_eq!(kind(&mut tree, "a/none/none"), "missing");
        assert_eq!(kind(&mut tree, "a/secret"), "link");
        assert_eq!(kind(&mut tree, "a/away/secret"), "link");
        assert_eq!(kind(&mut tree, "a/pipe"), "special");
        assert_eq!(kind(&mut tree, "../secret"), "refused");
        assert_eq!(kind(&mut tree, "/etc/hostname"), "refused");
        let Entry::File(mut file, size) = tree.entry(Path::new("a/b/file")) else {
            panic!("a/b/file is a file");
        };
        let mut text = String::new();
        file.read_to_string(&mut text).unwrap();
        assert_eq!((text.as_str(), size), ("hello", 5));
    }
}
