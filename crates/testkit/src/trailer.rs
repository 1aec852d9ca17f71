//! JSON behind the last byte of a program: what a fake is to be, where it can read no other file but its own.

use std::fs::{self, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::Value;

const MARK: &[u8] = b"\n--testkit-trailer--\n";

/// Copies a program and writes a value behind it.
///
/// # Errors
/// Those of the file system.
pub fn plant(program: &Path, copy: &Path, value: &Value) -> io::Result<()> {
    let mut bytes = fs::read(program)?;
    bytes.extend_from_slice(MARK);
    bytes.extend_from_slice(value.to_string().as_bytes());
    // As new: the file may be running.
    let staged = copy.with_extension("staged");
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).open(&staged)?;
    file.write_all(&bytes)?;
    drop(file);
    fs::set_permissions(&staged, Permissions::from_mode(0o755))?;
    fs::rename(staged, copy)
}

/// The value behind the program that runs.
///
/// # Errors
/// There is none.
pub fn read() -> io::Result<Value> {
    let bytes = fs::read("/proc/self/exe")?;
    let start = bytes.windows(MARK.len()).rposition(|window| window == MARK);
    let start = start.ok_or_else(|| io::Error::other("no trailer"))? + MARK.len();
    serde_json::from_slice(&bytes[start..]).map_err(io::Error::other)
}
