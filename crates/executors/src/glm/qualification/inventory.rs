//! A digest of everything below a directory: for each path its kind, its name, its mode, and its content or target, separated by
//! NUL bytes and sorted by bytes.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use record::Sha256Digest;

use super::git::{GIT_DIRECTORY, tracked};
use crate::common::git::Git;

/// The digest of a workspace: every path in it but the git directory, and every tracked path that is missing.
pub(super) fn of_tree(workdir: &Path) -> Option<Sha256Digest> {
    let mut paths = below(workdir, Some(&workdir.join(GIT_DIRECTORY))).ok()?;
    paths.extend(tracked(&Git::of(workdir)?)?);
    digest(workdir, &paths).ok()
}

/// The digest of its git directory.
pub(super) fn of_git_directory(workdir: &Path) -> Option<Sha256Digest> {
    let directory = workdir.join(GIT_DIRECTORY);
    // A link in its place would lead elsewhere.
    fs::symlink_metadata(&directory).ok().filter(fs::Metadata::is_dir)?;
    digest(&directory, &below(&directory, None).ok()?).ok()
}

/// What a workspace holds that git can not be asked about: it waits for whoever writes into a pipe, and does not look into another
/// checkout.
///
/// # Errors
/// It can not be read.
pub(super) fn oddity(workdir: &Path) -> io::Result<Option<&'static str>> {
    let own = Path::new(GIT_DIRECTORY);
    for path in below(workdir, None)? {
        let kind = fs::symlink_metadata(workdir.join(&path))?.file_type();
        if !(kind.is_file() || kind.is_dir() || kind.is_symlink()) {
            return Ok(Some("has a pipe, a socket or a device in it"));
        }
        if path != own && path.file_name() == Some(own.as_os_str()) {
            return Ok(Some("has another checkout in it"));
        }
    }
    Ok(None)
}

/// Every path below a directory, relative to it.
fn below(root: &Path, without: Option<&Path>) -> io::Result<BTreeSet<PathBuf>> {
    let mut found = BTreeSet::new();
    let mut open = vec![root.to_path_buf()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(&directory)? {
            let entry = entry?;
            let path = entry.path();
            if Some(path.as_path()) == without {
                continue;
            }
            found.extend(path.strip_prefix(root).map(Path::to_path_buf));
            if entry.file_type()?.is_dir() {
                open.push(path);
            }
        }
    }
    Ok(found)
}

fn digest(root: &Path, paths: &BTreeSet<PathBuf>) -> io::Result<Sha256Digest> {
    let mut records = paths.iter().map(|path| record(root, path)).collect::<io::Result<Vec<_>>>()?;
    records.sort();
    Ok(Sha256Digest::of(&records.concat()))
}

fn record(root: &Path, path: &Path) -> io::Result<Vec<u8>> {
    let full = root.join(path);
    let metadata = match fs::symlink_metadata(&full) {
        Ok(metadata) => Some(metadata),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => None,
        Err(error) => return Err(error),
    };
    let mode = metadata.as_ref().map(|metadata| format!("{:04o}", metadata.permissions().mode() & 0o7777));
    let (kind, content) = match &metadata {
        None => ("missing", Vec::new()),
        Some(metadata) if metadata.is_symlink() => {
            ("symlink", fs::read_link(&full)?.as_os_str().as_bytes().to_vec())
        }
        Some(metadata) if metadata.is_dir() => ("directory", Vec::new()),
        Some(metadata) if metadata.is_file() => {
            let (digest, _) = Sha256Digest::of_reader(fs::File::open(&full)?)?;
            ("file", digest.to_string().into_bytes())
        }
        // A pipe or a socket has no content that could be read without waiting for somebody.
        Some(_) => ("other", Vec::new()),
    };
    let mode = mode.unwrap_or_default();
    let parts = [kind.as_bytes(), path.as_os_str().as_bytes(), mode.as_bytes(), &content];
    Ok(parts.iter().flat_map(|part| [part, &b"\0"[..]]).flatten().copied().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_change_changes_the_digest() {
        let root = tempfile::tempdir().expect("a directory");
        let root = root.path();
        let now = || digest(root, &below(root, None).expect("a list")).expect("a digest");
        let mut seen = vec![now()];
        let changes: [&dyn Fn() -> io::Result<()>; 7] = [
            &|| fs::write(root.join("file"), "one"),
            &|| fs::write(root.join("file"), "two"),
            &|| fs::set_permissions(root.join("file"), fs::Permissions::from_mode(0o755)),
            &|| fs::create_dir(root.join("empty")),
            &|| std::os::unix::fs::symlink("file", root.join("link")),
            &|| fs::write(root.join("empty/deep"), ""),
            &|| fs::remove_file(root.join("file")),
        ];
        for (index, change) in changes.iter().enumerate() {
            change().expect("changed");
            let digest = now();
            assert!(!seen.contains(&digest), "change {index}");
            seen.push(digest);
        }
        let missing = BTreeSet::from([PathBuf::from("file")]);
        assert_ne!(
            digest(root, &missing).expect("a digest"),
            digest(root, &BTreeSet::new()).expect("a digest")
        );
    }
}
