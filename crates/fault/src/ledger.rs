//! What was synced, so that a test can take away everything else: the strictest disk that the rules of the system calls
//! allow. A file has the bytes that its last sync saw, a directory the entries; what was never synced is empty.
//!
//! The ledger directory holds `KEY.file`, a copy of the bytes, and `KEY.directory`, one line for each entry: its kind (`f` or
//! `d`), its key and its name. A key names one file for as long as it exists: inode and time of birth.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FileType, StatxFlags, statx};

use crate::LEDGER_NAME;

/// Notes that a file or directory was synced.
///
/// # Panics
/// When the ledger can not be written: a test would take away too much.
pub fn synced(file: &File) {
    if let Some(ledger) = std::env::var_os(LEDGER_NAME) {
        let ledger = PathBuf::from(ledger);
        note(&ledger, file).unwrap_or_else(|error| panic!("{LEDGER_NAME}: {}: {error}", ledger.display()));
    }
}

fn note(ledger: &Path, file: &File) -> io::Result<()> {
    let (key, kind) = identify(file, "")?;
    let draft = ledger.join(format!(".{}-{key}", std::process::id()));
    let name = match kind {
        FileType::Directory => {
            fs::write(&draft, entries(file)?)?;
            "directory"
        }
        _ => {
            // By a description of its own: the position of the one that was synced is in use.
            let own = format!("/proc/self/fd/{}", file.as_raw_fd());
            io::copy(&mut File::open(own)?, &mut File::create(&draft)?)?;
            "file"
        }
    };
    fs::rename(draft, ledger.join(format!("{key}.{name}")))
}

fn entries(directory: &File) -> io::Result<String> {
    let mut lines = String::new();
    for entry in Dir::read_from(directory)? {
        let entry = entry?;
        let name = entry.file_name().to_str().map_err(io::Error::other)?;
        if matches!(name, "." | "..") {
            continue;
        }
        // What is gone by now was not there for the sync either.
        let Ok((key, kind)) = identify(directory, name) else { continue };
        let word = if kind == FileType::Directory { "d" } else { "f" };
        // Writing to a String can not fail.
        let _ = writeln!(lines, "{word} {key} {name}");
    }
    Ok(lines)
}

/// The key of a file, or of an entry of a directory.
fn identify(file: &File, name: &str) -> io::Result<(String, FileType)> {
    let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::EMPTY_PATH;
    let found = statx(file.as_fd(), name, flags, StatxFlags::BASIC_STATS | StatxFlags::BTIME)?;
    let born = found.stx_btime;
    Ok((
        format!("{}-{}-{}", found.stx_ino, born.tv_sec, born.tv_nsec),
        FileType::from_raw_mode(found.stx_mode.into()),
    ))
}
