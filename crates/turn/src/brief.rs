//! Takes in the brief: a regular file that nobody changes while it is read (predecessor-core 3.1, step 1).

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use record::failure::{FailureCode, Stage};
use record::limits::BRIEF_MAX_BYTES;
use rustix::fs::{Mode, OFlags};

use crate::error::TurnError;

fn invalid(message: impl Into<String>) -> TurnError {
    TurnError::new(FailureCode::BriefInvalid, Stage::ReadBrief, message)
}

/// The bytes of the brief at `path`.
///
/// # Errors
/// `brief_invalid` when it is missing, a symbolic link, no regular file, empty, too large, or changes while it is read. A
/// FIFO or device is refused without waiting for it.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, TurnError> {
    let shown = path.display();
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    let mut file = match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(descriptor) => File::from(descriptor),
        Err(rustix::io::Errno::LOOP) => return Err(invalid(format!("the brief {shown} is a symbolic link"))),
        Err(error) => return Err(invalid(format!("the brief {shown} can not be opened: {error}"))),
    };
    let describe = |error: std::io::Error| invalid(format!("the brief {shown} can not be read: {error}"));
    let before = file.metadata().map_err(describe)?;
    if !before.is_file() {
        return Err(invalid(format!("the brief {shown} is not a regular file")));
    }
    if before.len() > BRIEF_MAX_BYTES {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    file.by_ref().take(BRIEF_MAX_BYTES + 1).read_to_end(&mut bytes).map_err(describe)?;
    let after = file.metadata().map_err(describe)?;
    let facts = |metadata: &std::fs::Metadata| (metadata.size(), metadata.mtime(), metadata.mtime_nsec());
    if facts(&before) != facts(&after) || after.size() != bytes.len() as u64 {
        return Err(invalid(format!("the brief {shown} changed while it was read")));
    }
    check(&bytes)?;
    Ok(bytes)
}

/// Checks a brief that is in memory already.
pub(crate) fn check(bytes: &[u8]) -> Result<(), TurnError> {
    if bytes.is_empty() {
        return Err(invalid("the brief is empty"));
    }
    if bytes.len() as u64 > BRIEF_MAX_BYTES {
        return Err(too_large());
    }
    Ok(())
}

fn too_large() -> TurnError {
    invalid(format!("the brief is larger than {BRIEF_MAX_BYTES} bytes"))
}
