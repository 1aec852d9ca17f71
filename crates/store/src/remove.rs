//! Removing what a directory holds, however deep and however many: with a bounded number of names in memory and a bounded
//! number of directories open.

use std::ffi::OsStr;
use std::fs::Permissions;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;

use crate::directory::{Directory, Privacy};
use crate::error::{At, StoreError};
use crate::limits::{REMOVAL_MAX_DEPTH, REMOVAL_MAX_NAMES};
use crate::random::random_nonce;

/// Removes everything in a directory but one name. What is deeper than the bound is brought to the top first.
pub(crate) fn remove_content(directory: &Directory, keep: &str) -> Result<(), StoreError> {
    while !remove_below(directory, directory, keep, REMOVAL_MAX_DEPTH)? {}
    Ok(())
}

/// Removes a directory with everything in it; `false` when there is nothing of that name.
pub(crate) fn remove_tree(parent: &Directory, name: &str) -> Result<bool, StoreError> {
    let Some(directory) = parent.child_to_remove(name.as_ref())? else { return Ok(false) };
    remove_content(&directory, "")?;
    parent.remove_directory(name).at(parent.path_of(name))
}

/// One pass; `true` when nothing was brought to the top and nothing is left.
fn remove_below(top: &Directory, directory: &Directory, keep: &str, depth: u32) -> Result<bool, StoreError> {
    let mut is_done = true;
    loop {
        // Names that are no UTF-8 are removed too: a provider chose them.
        let names = directory.first_names(REMOVAL_MAX_NAMES, keep)?;
        if names.is_empty() {
            return Ok(is_done);
        }
        for name in &names {
            match rustix::fs::unlinkat(directory.file(), name.as_os_str(), AtFlags::empty()) {
                Ok(()) | Err(Errno::NOENT) => continue,
                Err(Errno::ISDIR | Errno::PERM) => {}
                Err(error) => return Err(StoreError::at(directory.path().join(name), error)),
            }
            let Some(child) = directory.child_to_remove(name)? else { continue };
            if depth == 0 {
                let to = random_nonce().to_string();
                rustix::fs::renameat(directory.file(), name.as_os_str(), top.file(), &to)
                    .at(directory.path().join(name))?;
                is_done = false;
                continue;
            }
            is_done &= remove_below(top, &child, "", depth - 1)?;
            directory.remove_named_directory(name).at(directory.path().join(name))?;
        }
    }
}

impl Directory {
    /// A directory in it that is to be removed: whoever may write in it chose its mode, so that is put right first.
    fn child_to_remove(&self, name: &OsStr) -> Result<Option<Self>, StoreError> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let path = self.path().join(name);
        let handle = match rustix::fs::openat(self.file(), name, flags, Mode::empty()) {
            Ok(handle) => handle,
            Err(Errno::NOENT) => return Ok(None),
            Err(error) => return Err(StoreError::at(path, error)),
        };
        // The descriptor names exactly this directory, whatever takes its name meanwhile.
        let through = format!("/proc/self/fd/{}", handle.as_raw_fd());
        let opened = || -> io::Result<_> {
            if std::fs::metadata(&through)?.permissions().mode() & 0o700 != 0o700 {
                std::fs::set_permissions(&through, Permissions::from_mode(0o700))?;
            }
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
            Ok(rustix::fs::open(&through, flags, Mode::empty())?)
        };
        Self::from_descriptor(opened().at(&path)?, path, Privacy::Owned).map(Some)
    }

    fn remove_named_directory(&self, name: &OsStr) -> io::Result<()> {
        match rustix::fs::unlinkat(self.file(), name, AtFlags::REMOVEDIR) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;

    use super::*;

    fn directory(path: &Path) -> Directory {
        fs::set_permissions(path, Permissions::from_mode(0o700)).unwrap();
        Directory::open(path).unwrap()
    }

    #[test]
    fn a_tree_goes_however_deep_wide_and_closed_it_is() {
        let temporary = tempfile::tempdir().unwrap();
        let mut deep = temporary.path().join("tree");
        fs::create_dir(&deep).unwrap();
        for number in 0..REMOVAL_MAX_NAMES * 2 + 1 {
            fs::write(deep.join(number.to_string()), "x").unwrap();
        }
        fs::write(deep.join(OsStr::from_bytes(b"no \xff text")), "x").unwrap();
        let outside = temporary.path().join("outside");
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("kept"), "x").unwrap();
        std::os::unix::fs::symlink(&outside, deep.join("link")).unwrap();
        for level in 0..REMOVAL_MAX_DEPTH * 3 {
            deep.push("d");
            fs::create_dir(&deep).unwrap();
            fs::write(deep.join("file"), "x").unwrap();
            std::os::unix::fs::symlink(&outside, deep.join("link")).unwrap();
            if level % 7 == 3 {
                fs::create_dir(deep.join("closed")).unwrap();
                fs::set_permissions(deep.join("closed"), Permissions::from_mode(0o000)).unwrap();
            }
        }
        let parent = directory(temporary.path());
        assert!(remove_tree(&parent, "tree").unwrap());
        assert!(!remove_tree(&parent, "tree").unwrap());
        assert!(outside.join("kept").exists());
    }

    #[test]
    fn one_name_may_stay() {
        let temporary = tempfile::tempdir().unwrap();
        for name in ["stays", "goes"] {
            fs::write(temporary.path().join(name), "x").unwrap();
        }
        remove_content(&directory(temporary.path()), "stays").unwrap();
        assert!(temporary.path().join("stays").exists());
        assert!(!temporary.path().join("goes").exists());
    }
}
