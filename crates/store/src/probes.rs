//! `probes/<key>.json`: executable fingerprints and probe results (STATE.md 3.1). Derived: whatever is damaged counts as
//! absent, and nothing is synced. The first line of a file is the digest of the rest.

use std::io::Write;

use record::Sha256Digest;

use crate::directory::{Directory, plain_name};
use crate::error::{At, StoreError};
use crate::limits::PROBE_MAX_BYTES;
use crate::once::{TEMPORARY_PREFIX, Temporary};
use crate::points;
use crate::root::{PROBES, Root};

/// Length of the first line: a digest between quotation marks, and a line feed.
const DIGEST_LINE_BYTES: usize = 67;
const ENDING: &str = ".json";

/// The cache of executable fingerprints and probes.
#[derive(Clone, Debug)]
pub struct ProbeCache {
    root: Root,
}

impl ProbeCache {
    pub(crate) fn new(root: Root) -> Self {
        Self { root }
    }

    /// What was put under a key; `None` when there is nothing, or nothing whole.
    pub fn get(&self, key: &str) -> Option<Vec<u8>> {
        let name = file_name(key).ok()?;
        let limit = DIGEST_LINE_BYTES + PROBE_MAX_BYTES;
        let file = self.directory().ok()?.read_file(&name, limit as u64).ok()??;
        let (line, content) = file.split_at_checked(DIGEST_LINE_BYTES)?;
        (line == digest_line(content).as_bytes()).then(|| content.to_vec())
    }

    /// Puts something under a key, in place of what was there.
    ///
    /// # Errors
    /// [`StoreError::InvalidName`]; else when it can not be written. Nothing is lost by that but time.
    pub fn put(&self, key: &str, content: &[u8]) -> Result<(), StoreError> {
        let name = file_name(key)?;
        let directory = self.directory()?;
        let mut temporary = Temporary::create(&directory, &points::PROBE)?;
        let mut write = || {
            temporary.write_all(digest_line(content).as_bytes())?;
            temporary.write_all(content)?;
            fault::point(points::PROBE.written)
        };
        write().at(directory.path_of(&name))?;
        temporary.rename_over(&name)
    }

    /// Looks at every entry, and returns the names of those that are damaged, removed when `remove` says so.
    ///
    /// # Errors
    /// When the directory can not be read, or an entry not be removed.
    pub fn damaged(&self, remove: bool) -> Result<Vec<String>, StoreError> {
        let directory = self.directory()?;
        let mut damaged = Vec::new();
        for name in directory.names()? {
            let is_whole = name.strip_suffix(ENDING).is_some_and(|key| self.get(key).is_some());
            // What is being written has no name of its own yet; what was removed meanwhile is no damage.
            if is_whole || name.starts_with(TEMPORARY_PREFIX) || directory.identity_of(&name)?.is_none() {
                continue;
            }
            if remove {
                directory.remove_file(&name).at(directory.path_of(&name))?;
            }
            damaged.push(name);
        }
        Ok(damaged)
    }

    fn directory(&self) -> Result<Directory, StoreError> {
        self.root.directory().required_child(PROBES)
    }
}

fn file_name(key: &str) -> Result<String, StoreError> {
    Ok(format!("{}{ENDING}", plain_name(key)?))
}

fn digest_line(content: &[u8]) -> String {
    format!("\"{}\"\n", Sha256Digest::of(content))
}
