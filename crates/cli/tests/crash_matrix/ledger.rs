//! The disk after a power cut: what the ledger of crate `fault` says was synced, and nothing else.
//!
//! This is the worst disk that the rules of the system calls allow: a file has the bytes of its last sync, a directory the
//! entries of its own last sync, and what was never synced is empty. A real disk keeps more, up to everything; that other
//! end is tried as well, by leaving the tree as it is.

use std::collections::HashMap;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Puts what was synced in the place of `root`.
pub(crate) fn cut_power(ledger: &Path, root: &Path) {
    let disk = Disk::read(ledger);
    let before = root.with_file_name("before-the-cut");
    if !root.exists() {
        return;
    }
    fs::rename(root, &before).unwrap();
    let key = disk.key_of(&before);
    // A root whose own entry was never synced is one that nobody was told of.
    disk.restore(&key, root);
    fs::remove_dir_all(before).unwrap();
}

struct Disk {
    files: HashMap<String, PathBuf>,
    directories: HashMap<String, String>,
}

impl Disk {
    fn read(ledger: &Path) -> Self {
        let mut disk = Self { files: HashMap::new(), directories: HashMap::new() };
        for entry in fs::read_dir(ledger).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            if let Some(key) = name.strip_suffix(".file") {
                disk.files.insert(key.to_owned(), path.clone());
            } else if let Some(key) = name.strip_suffix(".directory") {
                disk.directories.insert(key.to_owned(), fs::read_to_string(&path).unwrap());
            }
        }
        disk
    }

    /// The key of a directory that exists: that of the ledger.
    fn key_of(&self, path: &Path) -> String {
        let found = rustix::fs::statx(
            rustix::fs::CWD,
            path,
            rustix::fs::AtFlags::SYMLINK_NOFOLLOW,
            rustix::fs::StatxFlags::BASIC_STATS | rustix::fs::StatxFlags::BTIME,
        )
        .unwrap();
        format!("{}-{}-{}", found.stx_ino, found.stx_btime.tv_sec, found.stx_btime.tv_nsec)
    }

    fn restore(&self, key: &str, path: &Path) {
        DirBuilder::new().mode(0o700).create(path).unwrap();
        for line in self.directories.get(key).map(String::as_str).unwrap_or_default().lines() {
            let mut words = line.splitn(3, ' ');
            let (kind, key, name) = (words.next().unwrap(), words.next().unwrap(), words.next().unwrap());
            let place = path.join(name);
            if kind == "d" {
                self.restore(key, &place);
                continue;
            }
            let bytes = self.files.get(key).map(|file| fs::read(file).unwrap()).unwrap_or_default();
            OpenOptions::new()
                .write(true)
                .create_new(true)
                .mode(0o600)
                .open(place)
                .and_then(|mut file| file.write_all(&bytes))
                .unwrap();
        }
    }
}
