//! Programs of a queue as they are installed here, and their digests as evidence of what was used.

use std::env;
use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use record::submission::BoundExecutable;
use record::{AbsolutePath, Sha256Digest};
use store::{ProbeCache, Root};

use crate::limits::IDENTITY_SETTLED_SECONDS;

/// The program of that name on PATH, symbolic links resolved.
pub(crate) fn on_path(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path)
        .filter(|directory| directory.is_absolute())
        .map(|directory| directory.join(name))
        .find(|program| is_executable(program))
        .and_then(|program| program.canonicalize().ok())
}

/// Whether there is something that can be run.
pub(crate) fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

/// A program as a record names it.
///
/// # Errors
/// It can not be read, or its path can not be recorded.
pub(crate) fn bound(root: &Root, path: &Path) -> io::Result<BoundExecutable> {
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    let clean = AbsolutePath::new(path).map_err(io::Error::other)?;
    Ok(BoundExecutable { path: clean, sha256: digest(&root.probe_cache(), file, &metadata)? })
}

/// The digest of an executable: from the cache while its metadata are the same (STATE.md 3.1), for a submission should cost
/// no more than the question that it is.
fn digest(cache: &ProbeCache, file: File, metadata: &Metadata) -> io::Result<Sha256Digest> {
    let key = format!(
        "queue-{}-{}-{}-{}.{}-{}.{}",
        metadata.dev(),
        metadata.ino(),
        metadata.size(),
        metadata.mtime(),
        metadata.mtime_nsec(),
        metadata.ctime(),
        metadata.ctime_nsec()
    );
    let known = cache.get(&key).and_then(|text| String::from_utf8(text).ok()?.parse().ok());
    if let Some(known) = known {
        return Ok(known);
    }
    let (sha256, _) = Sha256Digest::of_reader(file)?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    if i128::from(now) - i128::from(metadata.ctime()) > IDENTITY_SETTLED_SECONDS {
        // It only saves time.
        let _ = cache.put(&key, sha256.to_string().as_bytes());
    }
    Ok(sha256)
}
