//! Sizes, ages and ends of the files that a provider writes while it runs.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::time::{Duration, SystemTime};

use record::Sha256Digest;
use record::seal::ManifestEntry;
use store::{StoreError, Task};

/// Size in bytes of a file of `raw/`; `None` when it is not there.
pub(crate) fn raw_size(task: &Task, name: &str) -> Option<u64> {
    Some(raw(task, name)?.metadata().ok()?.len())
}

/// Whether a file of `raw/` has the length and the digest that a seal names.
///
/// # Errors
/// It can not be read.
pub(crate) fn is_as_sealed(task: &Task, entry: &ManifestEntry, is_open: bool) -> Result<bool, StoreError> {
    let name = entry.path.strip_prefix("raw/").unwrap_or(&entry.path);
    let Some(file) = task.open_raw(name)? else { return Ok(false) };
    // It is cut after it is sealed and before the outcome.
    let length = if is_open && entry.cut_from.is_some() { entry.size } else { u64::MAX };
    let found = Sha256Digest::of_reader(file.take(length))
        .map_err(|source| StoreError::Io { path: task.raw_path(name), source })?;
    Ok(found == (entry.sha256, entry.size))
}

/// Time since a file of `raw/` was last written; zero when the clock ran backwards.
pub(crate) fn raw_age(task: &Task, name: &str) -> Option<Duration> {
    let modified = raw(task, name)?.metadata().ok()?.modified().ok()?;
    Some(SystemTime::now().duration_since(modified).unwrap_or_default())
}

/// At most the last `max_bytes` of a file of `raw/`, from the beginning of a line on.
pub(crate) fn raw_tail(task: &Task, name: &str, max_bytes: u64) -> Option<Vec<u8>> {
    let mut file = raw(task, name)?;
    let begin = file.metadata().ok()?.len().saturating_sub(max_bytes);
    file.seek(SeekFrom::Start(begin)).ok()?;
    let mut bytes = Vec::new();
    file.take(max_bytes).read_to_end(&mut bytes).ok()?;
    if begin > 0 {
        let line = bytes.iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |end| end + 1);
        bytes.drain(..line);
    }
    Some(bytes)
}

/// Size in bytes of an artifact that the provider is writing.
pub(crate) fn output_size(task: &Task, name: &str) -> Option<u64> {
    Some(std::fs::symlink_metadata(task.output_path().join(name)).ok()?.len())
}

/// Bytes that are free for this user where the task lies.
pub(crate) fn free_space(task: &Task) -> std::io::Result<u64> {
    let status = rustix::fs::statvfs(task.path())?;
    Ok(status.f_bavail.saturating_mul(status.f_frsize))
}

fn raw(task: &Task, name: &str) -> Option<File> {
    task.open_raw(name).ok().flatten()
}
