//! The list of files where git gives none: an own walk over the workspace.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FileType};

use crate::limits::{FILES_MAX, FOLDER_DEPTH_MAX};
use crate::tree::Tree;

/// Folders that hold what tools made or fetched, not what people wrote; never entered.
pub(crate) const SKIPPED_FOLDERS: [&str; 18] = [
    ".git",
    ".gradle",
    ".hg",
    ".idea",
    ".jj",
    ".mypy_cache",
    ".next",
    ".pytest_cache",
    ".ruff_cache",
    ".svn",
    ".terraform",
    ".tox",
    ".venv",
    "__pycache__",
    "bower_components",
    "node_modules",
    "target",
    "venv",
];

/// The paths of a workspace that the survey looks at.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    /// Relative to the workspace, in order, each once. Not only regular files.
    pub(crate) paths: Vec<PathBuf>,
    /// Files that git does not track and does not ignore; only where git made the list.
    pub(crate) untracked: Option<u64>,
    /// The names of [`SKIPPED_FOLDERS`] that were met and not entered.
    pub(crate) skipped: Vec<&'static str>,
    /// Folders that could not be read.
    pub(crate) refused_folders: u64,
    /// Folders left out because of [`FOLDER_DEPTH_MAX`].
    pub(crate) too_deep_folders: u64,
    /// There are more paths than the survey takes.
    pub(crate) is_cut: bool,
}

/// Lists every path below the workspace but folders, in order.
pub(crate) fn walk(tree: &mut Tree) -> Listing {
    walk_at_most(tree, FILES_MAX)
}

fn walk_at_most(tree: &mut Tree, files_max: usize) -> Listing {
    let mut listing = Listing::default();
    let mut pending = vec![PathBuf::new()];
    while let Some(folder) = pending.pop() {
        let Some(mut names) = read_folder(tree, &folder, files_max, &mut listing) else {
            listing.refused_folders += 1;
            continue;
        };
        names.sort();
        let mut folders = Vec::new();
        for (name, is_folder) in names {
            let path = folder.join(&name);
            if !is_folder {
                if listing.paths.len() == files_max {
                    listing.is_cut = true;
                    pending.clear();
                    folders.clear();
                    break;
                }
                listing.paths.push(path);
                continue;
            }
            let skipped = SKIPPED_FOLDERS.iter().find(|skipped| name == **skipped);
            if let Some(skipped) = skipped {
                if !listing.skipped.contains(skipped) {
                    listing.skipped.push(skipped);
                }
            } else if path.components().count() > FOLDER_DEPTH_MAX {
                listing.too_deep_folders += 1;
            } else {
                folders.push(path);
            }
        }
        pending.extend(folders.into_iter().rev());
    }
    listing.skipped.sort_unstable();
    listing.paths.sort_unstable();
    listing
}

/// The names in a folder, and which of them are folders; nothing if it can not be read.
fn read_folder(
    tree: &mut Tree,
    folder: &Path,
    names_max: usize,
    listing: &mut Listing,
) -> Option<Vec<(OsString, bool)>> {
    let descriptor = tree.folder(folder).ok()?;
    let mut names = Vec::new();
    for entry in Dir::read_from(&descriptor).ok()? {
        let entry = entry.ok()?;
        let bytes = entry.file_name().to_bytes();
        if bytes == b"." || bytes == b".." {
            continue;
        }
        if names.len() > names_max {
            listing.is_cut = true;
            break;
        }
        let kind = match entry.file_type() {
            FileType::Unknown => {
                rustix::fs::statat(&descriptor, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW)
                    .map_or(FileType::Unknown, |status| FileType::from_raw_mode(status.st_mode))
            }
            kind => kind,
        };
        // A file named like `.git` is what a linked working tree has; it is no content either.
        if bytes == b".git" && kind != FileType::Directory {
            continue;
        }
        names.push((OsString::from_vec(bytes.to_vec()), kind == FileType::Directory));
    }
    Some(names)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    fn listed(listing: &Listing) -> Vec<&str> {
        listing.paths.iter().map(|path| path.to_str().unwrap()).collect()
    }

    fn make(root: &Path, files: &[&str]) {
        for file in files {
            let path = root.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x\n").unwrap();
        }
    }

    #[test]
    fn what_tools_made_is_skipped_and_named() {
        let folder = tempfile::tempdir().unwrap();
        make(
            folder.path(),
            &[
                "b.rs",
                "a/z.rs",
                "a/node_modules/x.js",
                "target/debug/x",
                ".git/HEAD",
                "target.txt",
                ".hidden",
            ],
        );
        let listing = walk(&mut Tree::open(folder.path()).unwrap());
        assert_eq!(listed(&listing), [".hidden", "a/z.rs", "b.rs", "target.txt"]);
        assert_eq!(listing.skipped, [".git", "node_modules", "target"]);
        assert!(!listing.is_cut);
    }

    #[test]
    fn links_are_listed_and_never_entered() {
        let folder = tempfile::tempdir().unwrap();
        make(folder.path(), &["a/file"]);
        symlink("..", folder.path().join("a/up")).unwrap();
        let listing = walk(&mut Tree::open(folder.path()).unwrap());
        assert_eq!(listed(&listing), ["a/file", "a/up"]);
    }

    #[test]
    fn the_number_of_files_is_bounded() {
        let folder = tempfile::tempdir().unwrap();
        make(folder.path(), &["a/1", "a/2", "b/3", "c"]);
        let mut tree = Tree::open(folder.path()).unwrap();
        let cut = walk_at_most(&mut tree, 2);
        assert!(cut.is_cut);
        assert_eq!(cut.paths.len(), 2);
        let whole = walk_at_most(&mut tree, 4);
        assert!(!whole.is_cut);
        assert_eq!(whole.paths.len(), 4);
    }

    #[test]
    fn the_depth_is_bounded() {
        let folder = tempfile::tempdir().unwrap();
        let deep = vec!["d"; FOLDER_DEPTH_MAX].join("/");
        make(folder.path(), &[&format!("{deep}/in"), &format!("{deep}/d/out")]);
        let listing = walk(&mut Tree::open(folder.path()).unwrap());
        assert_eq!(listed(&listing), [format!("{deep}/in")]);
        assert_eq!(listing.too_deep_folders, 1);
    }
}
