//! The store of archived programs: `<store>/current/grok` with its digest beside it, and older ones in other directories.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use record::Sha256Digest;

use super::limits::RECORD_MAX_BYTES;
use crate::common::files::{exists, read_regular};
use crate::common::pin::current;
use crate::common::surroundings::executable_file;

pub(super) const PROGRAM: &str = "grok";
pub(super) const DIGEST: &str = "grok.sha256";

/// The archived program of a directory, if its digest holds.
///
/// # Errors
/// What is wrong with it.
pub(super) fn verified(directory: &Path) -> Result<(PathBuf, Sha256Digest), String> {
    let program = directory.join(PROGRAM);
    let digest = directory.join(DIGEST);
    let text =
        read_regular(&digest, RECORD_MAX_BYTES).map_err(|error| format!("{}: {error}", digest.display()))?;
    let text = String::from_utf8_lossy(&text);
    let claimed: Option<Sha256Digest> = text.split_whitespace().next().and_then(|word| word.parse().ok());
    let claimed = claimed.ok_or_else(|| format!("{} holds no digest", digest.display()))?;
    let wrong = |why: &dyn std::fmt::Display| format!("{}: {why}", program.display());
    let kind = fs::symlink_metadata(&program).map_err(|error| wrong(&error))?;
    if !kind.is_file() {
        return Err(wrong(&"no regular file"));
    }
    let (actual, _) =
        File::open(&program).and_then(Sha256Digest::of_reader).map_err(|error| wrong(&error))?;
    if actual != claimed {
        return Err(wrong(&"its digest is not the one that was archived"));
    }
    let program = executable_file(&program).ok_or_else(|| wrong(&"not executable"))?;
    Ok((program, actual))
}

/// Every other archive whose digest holds, newest name first.
pub(super) fn legacy(store: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(store).into_iter().flatten().flatten();
    let mut directories: Vec<PathBuf> = entries
        .filter(|entry| !entry.file_name().as_encoded_bytes().starts_with(b"."))
        .map(|entry| entry.path())
        .filter(|path| *path != current(store) && exists(&path.join(DIGEST)))
        .collect();
    directories.sort();
    directories
        .into_iter()
        .rev()
        .filter_map(|path| verified(&path).ok())
        .map(|(program, _)| program)
        .collect()
}
