//! Compressed archives that are the same bytes for the same content.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use flate2::{Compression, GzBuilder};
use tar::{Builder, EntryType, Header};

use crate::failure::Failure;

/// A file in an archive.
pub(super) struct Entry {
    /// Below the archive's one folder.
    pub(super) path: String,
    /// Whether it is a program.
    pub(super) is_executable: bool,
    /// Where its bytes come from.
    pub(super) source: Source,
}

/// Where bytes come from.
pub(super) enum Source {
    /// A file.
    File(PathBuf),
    /// Something that was made for the archive.
    Bytes(Vec<u8>),
}

/// Writes an archive whose entries lie in the folder `stem`. It gets its name when all is in it.
pub(super) fn write(path: &Path, stem: &str, entries: Vec<Entry>) -> Result<(), Failure> {
    let directory = path.parent().unwrap_or(path);
    let file = tempfile::Builder::new()
        .prefix(".partial-")
        .tempfile_in(directory)
        .map_err(Failure::file(directory))?;
    fill(file.as_file(), stem, entries).map_err(Failure::file(path))?;
    let permissions = std::os::unix::fs::PermissionsExt::from_mode(0o644);
    file.as_file().set_permissions(permissions).map_err(Failure::file(path))?;
    file.persist(path).map_err(|fault| Failure::file(path)(fault.error))?;
    Ok(())
}

fn fill(file: &File, stem: &str, mut entries: Vec<Entry>) -> io::Result<()> {
    entries.sort_by(|left, right| left.path.cmp(&right.path));
    // The zero is the time of the file in it.
    let compressed = GzBuilder::new().mtime(0).write(file, Compression::default());
    let mut archive = Builder::new(compressed);
    for entry in entries {
        let path = format!("{stem}/{}", entry.path);
        let mode = if entry.is_executable { 0o755 } else { 0o644 };
        match entry.source {
            Source::File(source) => {
                let file = File::open(&source)?;
                archive.append_data(&mut header(mode, file.metadata()?.len()), path, file)?;
            }
            Source::Bytes(bytes) => {
                archive.append_data(&mut header(mode, bytes.len() as u64), path, bytes.as_slice())?;
            }
        }
    }
    archive.into_inner()?.finish()?.flush()
}

/// No owner, no time: they would differ from one build to the next.
fn header(mode: u32, length_bytes: u64) -> Header {
    let mut header = Header::new_ustar();
    header.set_entry_type(EntryType::Regular);
    header.set_mode(mode);
    header.set_size(length_bytes);
    header.set_uid(0);
    header.set_gid(0);
    header.set_mtime(0);
    header
}
