//! The file system under the root: its type, its space, and whether it does what the store relies on (STATE.md 2, 4).

use std::path::Path;

use record::health::{Check, CheckStatus};
use rustix::fs::{StatVfsMountFlags, statfs, statvfs};
use store::{Root, StoreError};

use super::undetermined;
use crate::limits::{FREE_SPACE_COMFORT_BYTES, FREE_SPACE_FLOOR_BYTES};

/// What is special about a type of file system.
enum Nature {
    /// On a disk of this machine.
    Local,
    /// Gone when the machine is started again.
    Memory,
    /// Shared with other machines.
    Network,
}

/// Types that are met, by the number that the kernel gives them.
const TYPES: &[(u64, &str, Nature)] = &[
    (0xef53, "ext2, ext3 or ext4", Nature::Local),
    (0x5846_5342, "xfs", Nature::Local),
    (0x9123_683e, "btrfs", Nature::Local),
    (0x2fc1_2fc1, "zfs", Nature::Local),
    (0xf2f5_2010, "f2fs", Nature::Local),
    (0x794c_7630, "overlayfs", Nature::Local),
    (0x0102_1994, "tmpfs", Nature::Memory),
    (0x8584_58f6, "ramfs", Nature::Memory),
    (0x6969, "nfs", Nature::Network),
    (0xff53_4d42, "cifs", Nature::Network),
    (0xfe53_4d42, "smb2", Nature::Network),
    (0x0102_1997, "9p", Nature::Network),
    (0x6573_5546, "fuse", Nature::Network),
];

/// Type and space at a path, or at the nearest directory above it that exists.
pub(super) fn of_path(path: &Path) -> Vec<Check> {
    let existing = path.ancestors().find(|path| path.exists()).unwrap_or(Path::new("/"));
    vec![kind(existing), space(existing)]
}

fn kind(path: &Path) -> Check {
    const ID: &str = "file_system";
    let found = match statfs(path) {
        // The width and sign of the field differ between machines; the numbers have 32 bits.
        Ok(found) => found.f_type as u64 & 0xffff_ffff,
        Err(error) => return undetermined(ID, format!("{}: {error}", path.display())),
    };
    match TYPES.iter().find(|(number, ..)| *number == found) {
        Some((_, name, Nature::Local)) => Check::new(ID, CheckStatus::Ok, *name),
        Some((_, name, Nature::Memory)) => Check::new(
            ID,
            CheckStatus::Warning,
            format!("{name}: everything in it is lost when the machine is started again"),
        )
        .with_fix("choose a root on a disk, with --root or DELEGATE_ROOT"),
        Some((_, name, Nature::Network)) => Check::new(
            ID,
            CheckStatus::Warning,
            format!("{name}: locks must hold between all machines that use this root"),
        )
        .with_fix("prefer a root on a local disk"),
        None => undetermined(ID, format!("of type {found:#x}, which is not known here")),
    }
}

fn space(path: &Path) -> Check {
    const ID: &str = "free_space";
    let system = match statvfs(path) {
        Ok(system) => system,
        Err(error) => return undetermined(ID, format!("{}: {error}", path.display())),
    };
    let free = system.f_bavail.saturating_mul(system.f_frsize);
    let detail = format!("{:.1} GiB at {}", free as f64 / f64::from(1 << 30), path.display());
    let no_names_left = system.f_files > 0 && system.f_favail == 0;
    if free < FREE_SPACE_FLOOR_BYTES || no_names_left {
        let detail = if no_names_left { format!("{detail}, and no file can be made") } else { detail };
        Check::new(ID, CheckStatus::Failed, format!("{detail}: nothing is admitted, and turns are stopped"))
            .with_fix("free some space; delegate prune --older-than 720h removes the content of old tasks")
    } else if free < FREE_SPACE_COMFORT_BYTES {
        Check::new(ID, CheckStatus::Warning, format!("{detail}: a few long turns may fill it"))
            .with_fix("free some space; delegate prune --older-than 720h removes the content of old tasks")
    } else {
        Check::new(ID, CheckStatus::Ok, detail)
    }
}

/// What a trial in the root shows. Where nothing can be written nothing is tried.
pub(super) fn tried(root: &Root) -> Vec<Check> {
    const ID: &str = "file_system_calls";
    let is_read_only =
        statvfs(root.path().as_path()).is_ok_and(|system| system.f_flag.contains(StatVfsMountFlags::RDONLY));
    let trial = if is_read_only {
        Err(StoreError::ReadOnly { path: root.path().to_path_buf() })
    } else {
        root.try_file_system()
    };
    let trial = match trial {
        Ok(trial) => trial,
        Err(error) => {
            return vec![Check::new(ID, CheckStatus::Warning, format!("nothing can be tried: {error}"))];
        }
    };
    let mut broken = Vec::new();
    let mut judge = |what: &str, result: std::io::Result<bool>| match result {
        Ok(true) => {}
        Ok(false) => broken.push(format!("{what} do not work")),
        Err(error) => broken.push(format!("{what}: {error}")),
    };
    judge("renames that replace nothing", trial.renames_without_replacing);
    judge("locks", trial.locks_exclude);
    judge("syncs", trial.syncs.map(|()| true));
    if broken.is_empty() {
        vec![Check::new(ID, CheckStatus::Ok, "renames that replace nothing, locks and syncs work")]
    } else {
        vec![
            Check::new(ID, CheckStatus::Failed, broken.join("; "))
                .with_fix("choose a root on another file system, with --root or DELEGATE_ROOT"),
        ]
    }
}
