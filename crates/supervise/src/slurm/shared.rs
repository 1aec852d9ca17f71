//! Whether the file system under the root keeps the promises of the store between machines.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use store::Root;

use super::error::SlurmError;

const WORKS: &[u8] = b"renames that replace nothing, locks and syncs work";

/// Tries what the store relies on, once per file system and start of this machine, and looks whether locks leave the machine.
/// Whether other machines see the same files no single machine can find out: a job that does not find the root says so.
///
/// # Errors
/// Something does not work there.
pub(super) fn check(root: &Root) -> Result<(), SlurmError> {
    let path = root.path().as_path();
    let refused = |why: String| SlurmError::NotShared { path: path.to_path_buf(), why };
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    if let Some(option) = local_locks(&mounts, path) {
        return Err(refused(format!("it is mounted with {option}, so locks hold on this machine only")));
    }
    let device = path.metadata().map_err(|error| refused(error.to_string()))?.dev();
    let boot = process::boot_id().map_err(|error| refused(error.to_string()))?;
    let (cache, key) = (root.probe_cache(), format!("shared-{device}-{boot}"));
    if cache.get(&key).is_some_and(|known| known == WORKS) {
        return Ok(());
    }
    let trial = root.try_file_system().map_err(|error| refused(error.to_string()))?;
    let judged = [
        ("renames that replace nothing", trial.renames_without_replacing),
        ("locks", trial.locks_exclude),
        ("syncs", trial.syncs.map(|()| true)),
    ];
    for (what, result) in judged {
        match result {
            Ok(true) => {}
            Ok(false) => return Err(refused(format!("{what} do not work"))),
            Err(error) => return Err(refused(format!("{what}: {error}"))),
        }
    }
    // It only saves time.
    let _ = cache.put(&key, WORKS);
    Ok(())
}

/// The mount option by which a network file system keeps locks to this machine, for the mount that holds a path.
fn local_locks(mounts: &str, path: &Path) -> Option<String> {
    let mount = mounts.lines().filter_map(|line| {
        // ID PARENT DEVICE ROOT POINT OPTIONS … - TYPE SOURCE SUPER-OPTIONS
        let (left, right) = line.split_once(" - ")?;
        let point = unescaped(left.split(' ').nth(4)?);
        let mut right = right.split(' ');
        let kind = right.next()?;
        Some((point, kind, right.nth(1).unwrap_or_default()))
    });
    // Of several mounts at one point the last one is seen.
    let held = mount.filter(|(point, ..)| path.starts_with(point)).max_by_key(|(point, ..)| point.len())?;
    let (_, kind, options) = held;
    let is_local = |option: &&str| matches!(*option, "nolock" | "local_lock=all" | "local_lock=posix");
    kind.starts_with("nfs").then(|| options.split(',').find(is_local).map(str::to_owned))?
}

/// A path as the kernel writes it in tables: blanks and backslashes as octal numbers.
fn unescaped(text: &str) -> String {
    text.replace("\\040", " ").replace("\\011", "\t").replace("\\012", "\n").replace("\\134", "\\")
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "\
22 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n\
30 22 0:40 / /nfs rw,relatime shared:1 - nfs4 server:/a rw,vers=4.2,local_lock=none\n\
31 22 0:41 / /old rw - nfs server:/b rw,vers=3,nolock,local_lock=all\n\
32 22 0:42 / /a\\040b rw - nfs server:/c rw,vers=3,local_lock=posix\n\
33 31 254:1 / /old/disk rw - ext4 /dev/vdb rw,nolock\n";

    #[test]
    fn locks_that_do_not_leave_the_machine_are_found() {
        let found = |path: &str| local_locks(MOUNTS, Path::new(path));
        assert_eq!(found("/root"), None);
        assert_eq!(found("/nfs/root"), None);
        assert_eq!(found("/old/root").as_deref(), Some("nolock"));
        assert_eq!(found("/a b/root").as_deref(), Some("local_lock=posix"));
        assert_eq!(found("/old/disk/root"), None, "a disk of this machine");
        assert_eq!(found("/older"), None);
        assert_eq!(local_locks("", Path::new("/x")), None);
    }
}
