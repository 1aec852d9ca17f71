//! Which machine, which boot and which pid namespace this is: where a process identity means something (STATE.md 3.6).

use std::fmt::Write;
use std::io;
use std::path::Path;

use rustix::system::uname;
use sha2::{Digest, Sha256};

use crate::procfs::read_system_file;

/// The identifier of this boot, as the kernel prints it.
///
/// # Errors
/// The kernel's file can not be read or holds no text.
pub fn boot_id() -> io::Result<String> {
    if let Some(id) = fault::boot_id() {
        return Ok(id);
    }
    let content = read_system_file(Path::new("/proc/sys/kernel/random/boot_id"))?;
    String::from_utf8(content.trim_ascii().to_vec())
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// The identifier of the pid namespace of this process, in the form `pid:[4026531836]`.
///
/// # Errors
/// `/proc` is not there.
pub fn pid_namespace() -> io::Result<String> {
    let target = std::fs::read_link("/proc/self/ns/pid")?;
    Ok(target.to_string_lossy().into_owned())
}

/// The umask of this process, asked without changing it, which would race with other threads; 022, which is usual, where the kernel
/// does not tell.
pub fn current_umask() -> u32 {
    const USUAL: u32 = 0o022;
    let status = read_system_file(Path::new("/proc/self/status")).unwrap_or_default();
    let status = String::from_utf8_lossy(&status);
    let umask = status.lines().find_map(|line| line.strip_prefix("Umask:"));
    umask.and_then(|umask| u32::from_str_radix(umask.trim(), 8).ok()).unwrap_or(USUAL)
}

/// The host name, as `uname` gives it.
pub fn host_name() -> String {
    uname().nodename().to_string_lossy().into_owned()
}

/// The machine id of STATE.md (top): 64 lower-case hexadecimal digits of the SHA-256 of `/etc/machine-id` (without white
/// space at its ends), NUL, host name; without such a file, or when it is empty, of host name, NUL, boot id.
///
/// # Errors
/// `/etc/machine-id` exists and can not be read, or is missing and there is no boot id.
pub fn machine_id() -> io::Result<String> {
    if let Some(id) = fault::machine_id() {
        return Ok(id);
    }
    let file = match read_system_file(Path::new("/etc/machine-id")) {
        Ok(content) => content,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(error),
    };
    let host = host_name();
    match file.trim_ascii() {
        [] => Ok(digest_of_pair(host.as_bytes(), boot_id()?.as_bytes())),
        id => Ok(digest_of_pair(id, host.as_bytes())),
    }
}

fn digest_of_pair(first: &[u8], second: &[u8]) -> String {
    let mut hash = Sha256::new();
    hash.update(first);
    hash.update([0]);
    hash.update(second);
    hash.finalize().iter().fold(String::with_capacity(64), |mut text, byte| {
        // Writing to a String can not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_are_separated_by_nul() {
        // printf 'a\0b' | sha256sum
        assert_eq!(
            digest_of_pair(b"a", b"b"),
            "59b271ae1bbcb1d31d41929817f4b16fb439eb4f31520b5ad1d5ce98920a7138"
        );
    }

    #[test]
    fn identifiers_are_stable_and_well_formed() {
        let id = machine_id().expect("a machine id");
        assert_eq!(id, machine_id().expect("a machine id"));
        assert_eq!(id.len(), 64);
        assert!(id.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte)));
        assert_eq!(boot_id().expect("a boot id").len(), 36);
        assert!(pid_namespace().expect("a namespace").starts_with("pid:["));
        assert!(!host_name().is_empty());
    }
}
