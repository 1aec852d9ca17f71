//! The pinned ripgrep (runners.md 3.3): what is archived of it, and how it is verified before every run.

mod libraries;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use record::Sha256Digest;
use serde_json::{Value, json};

use super::limits::{RECORD_MAX_BYTES, RIPGREP_MAX_BYTES};
use crate::common::files::{read_regular, write_new};
use crate::common::pin::current;
use crate::common::report::json_file;

/// Name of the program in the archive and in the private directory of a run.
pub(super) const PROGRAM: &str = "rg";
const SHA256: &str = "rg.sha256";
const VERSION: &str = "rg.version";
const LIBRARIES: &str = "dependencies.json";
const LIBRARIES_SHA256: &str = "dependencies.sha256";

/// A ripgrep whose bytes and libraries are known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ripgrep {
    pub(super) bytes: Vec<u8>,
    pub(super) sha256: Sha256Digest,
    /// The first line that it says of itself.
    pub(super) version_line: String,
    /// The libraries beyond those of the system.
    pub(super) libraries: BTreeMap<PathBuf, Sha256Digest>,
    pub(super) libraries_sha256: Sha256Digest,
}

impl Ripgrep {
    /// Looks at a program: its libraries are those that it finds from `path`.
    ///
    /// # Errors
    /// A sentence.
    pub(super) fn examine(path: &Path, bytes: Vec<u8>, version_line: String) -> Result<Self, String> {
        let libraries = libraries::of(path, &bytes)?;
        let manifest = manifest(&libraries)?;
        Ok(Self {
            sha256: Sha256Digest::of(&bytes),
            bytes,
            version_line,
            libraries,
            libraries_sha256: Sha256Digest::of(&manifest),
        })
    }

    /// The number in the version line.
    pub(super) fn version(&self) -> &str {
        self.version_line.split(' ').nth(1).unwrap_or_default()
    }

    /// Refuses a library that no sandboxed child could read.
    ///
    /// # Errors
    /// A sentence.
    pub(super) fn demand_libraries_outside(&self, home: &Path) -> Result<(), String> {
        match self.libraries.keys().find(|path| path.starts_with(home)) {
            Some(path) => Err(format!("the library {} lies in the home directory", path.display())),
            None => Ok(()),
        }
    }

    /// Writes the archive into an empty directory.
    ///
    /// # Errors
    /// A sentence.
    pub(super) fn archive(&self, directory: &Path) -> Result<(), String> {
        let manifest = manifest(&self.libraries)?;
        let line = |text: &str| format!("{text}\n").into_bytes();
        for (name, bytes, mode) in [
            (PROGRAM, self.bytes.clone(), 0o500),
            (SHA256, line(&self.sha256.to_string()), 0o400),
            (VERSION, line(&self.version_line), 0o400),
            (LIBRARIES_SHA256, line(&self.libraries_sha256.to_string()), 0o400),
            (LIBRARIES, manifest, 0o400),
        ] {
            write_new(&directory.join(name), &bytes, mode).map_err(|error| format!("{name}: {error}"))?;
        }
        Ok(())
    }

    /// Copies the program into an empty directory of a run, which nobody but this user can look into.
    ///
    /// # Errors
    /// A sentence; the copy is read back and is another.
    pub(super) fn copy(&self, directory: &Path) -> Result<PathBuf, String> {
        let path = directory.join(PROGRAM);
        write_new(&path, &self.bytes, 0o500).map_err(|error| format!("it can not be copied: {error}"))?;
        let copied = read_regular(&path, RIPGREP_MAX_BYTES).map_err(|error| error.to_string())?;
        if Sha256Digest::of(&copied) != self.sha256 {
            return Err("its copy is another".to_owned());
        }
        Ok(path)
    }
}

/// Whether a first line is that of a ripgrep.
pub(super) fn is_version(line: &str) -> bool {
    line.strip_prefix("ripgrep ")
        .is_some_and(|version| version.starts_with(|first: char| first.is_ascii_digit()))
        && line.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}

/// What is pinned, if it is exactly what was archived: the program, its libraries, and the records of both.
///
/// # Errors
/// A sentence.
pub(super) fn verified(store: &Path, home: &Path) -> Result<Ripgrep, String> {
    let current = current(store);
    if fs::symlink_metadata(&current).is_err() {
        return Err(format!("no ripgrep is pinned in {}; run delegation-kimi pin-rg", store.display()));
    }
    let broken = |why: String| format!("the pinned ripgrep in {} does not verify: {why}", store.display());
    let verified = read(&current).map_err(broken)?;
    verified.demand_libraries_outside(home).map_err(broken)?;
    Ok(verified)
}

/// The digest that an archive claims, whether or not it is true.
pub(super) fn claimed(store: &Path) -> Option<Sha256Digest> {
    text(&current(store), SHA256).ok()?.parse().ok()
}

fn read(directory: &Path) -> Result<Ripgrep, String> {
    let path = directory.join(PROGRAM);
    let bytes = read_regular(&path, RIPGREP_MAX_BYTES).map_err(|error| format!("{PROGRAM}: {error}"))?;
    let mode = fs::metadata(&path).map_err(|error| error.to_string())?.permissions().mode() & 0o7777;
    if mode != 0o500 {
        return Err(format!("{PROGRAM} has mode {mode:o}"));
    }
    let version_line = text(directory, VERSION)?;
    if !is_version(&version_line) {
        return Err(format!("{VERSION} names no ripgrep"));
    }
    let ripgrep = Ripgrep::examine(&path, bytes, version_line)?;
    if text(directory, SHA256)? != ripgrep.sha256.to_string() {
        return Err(format!("{PROGRAM} is not that of {SHA256}"));
    }
    let recorded = read_regular(&directory.join(LIBRARIES), RECORD_MAX_BYTES);
    let recorded = recorded.map_err(|error| format!("{LIBRARIES}: {error}"))?;
    if text(directory, LIBRARIES_SHA256)? != Sha256Digest::of(&recorded).to_string() {
        return Err(format!("{LIBRARIES} is not that of {LIBRARIES_SHA256}"));
    }
    if recorded != manifest(&ripgrep.libraries)? {
        return Err(format!("its libraries are not those of {LIBRARIES}"));
    }
    Ok(ripgrep)
}

fn text(directory: &Path, name: &str) -> Result<String, String> {
    let bytes =
        read_regular(&directory.join(name), RECORD_MAX_BYTES).map_err(|error| format!("{name}: {error}"))?;
    let text = String::from_utf8(bytes).map_err(|_| format!("{name} is no text"))?;
    Ok(text.trim_end_matches('\n').to_owned())
}

/// `dependencies.json`
fn manifest(libraries: &BTreeMap<PathBuf, Sha256Digest>) -> Result<Vec<u8>, String> {
    let entries: Result<Vec<Value>, String> = libraries
        .iter()
        .map(|(path, sha256)| {
            let shown = path.to_str().ok_or_else(|| "the name of a library is no UTF-8".to_owned())?;
            Ok(json!({"path": shown, "sha256": sha256.to_string()}))
        })
        .collect();
    Ok(json_file(&Value::Array(entries?)))
}
