//! What the vendor's program wrote, kept only where the user asked for it (runners.md 3.9), without tokens.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use record::Timestamp;

use super::home::{CONFIG, Home, TERMINAL};
use super::limits::{RECORD_MAX_BYTES, SESSION_RECORD_MAX_BYTES, SESSION_RECORD_MAX_DEPTH};
use crate::common::debug::DebugDirectory;
use crate::common::family::Family;
use crate::common::files::read_regular;
use crate::common::redaction::redacted;

/// The vendor's record of a session.
const SESSION_RECORD: &str = "wire.jsonl";

/// Writes everything into a new directory, whose path it returns.
///
/// # Errors
/// Those of the file system.
pub(super) fn keep(
    debug: &Path,
    family: &Family,
    home: &Home,
    (events, stderr): (&[u8], &[u8]),
    secrets: &[String],
) -> io::Result<PathBuf> {
    let directory = DebugDirectory::create_named(debug, &name(family))?;
    let generated = |path: &Path| read_regular(path, RECORD_MAX_BYTES);
    for (name, bytes) in [
        ("events.jsonl", redacted(events, secrets)),
        ("stderr", redacted(stderr, secrets)),
        (SESSION_RECORD, redacted(&session_records(&home.kimi), secrets)),
        ("agent.md", generated(&home.agent)?),
        // The child could have written into these two.
        (CONFIG, redacted(&generated(&home.kimi.join(CONFIG)).unwrap_or_default(), secrets)),
        (TERMINAL, redacted(&generated(&home.kimi.join(TERMINAL)).unwrap_or_default(), secrets)),
    ] {
        directory.write(name, &bytes)?;
    }
    Ok(directory.path().to_path_buf())
}

/// `delegation-kimi-20260102T030405Z-<pid>`
fn name(family: &Family) -> String {
    let now = Timestamp::from_system_time(SystemTime::now()).map(|now| now.to_string()).unwrap_or_default();
    let stamp: String = now.chars().take_while(|character| *character != '.').collect();
    format!("{}-{}Z-{}", family.program, stamp.replace(['-', ':'], ""), std::process::id())
}

/// Every record of a session below the vendor's directory, one behind the other.
fn session_records(kimi: &Path) -> Vec<u8> {
    let mut found = Vec::new();
    let mut open = vec![(kimi.to_path_buf(), 0)];
    while let Some((directory, depth)) = open.pop() {
        for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
            // The child made these: a link may lead anywhere.
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && depth < SESSION_RECORD_MAX_DEPTH => {
                    open.push((entry.path(), depth + 1))
                }
                Ok(kind) if kind.is_file() && entry.file_name() == SESSION_RECORD => found.push(entry.path()),
                _ => {}
            }
        }
    }
    found.sort();
    let mut bytes = Vec::new();
    for path in found {
        let left = SESSION_RECORD_MAX_BYTES.saturating_sub(bytes.len() as u64);
        bytes.extend(read_regular(&path, left).unwrap_or_default());
    }
    bytes
}
