//! A real file system that loses its power: what the kernel had not written to the device by then is gone.
//!
//! It keeps more than the ledger's disk, and it is not ours: it shows that a sync is one, and that what was synced can be read
//! after the journal was played. Needs root and a loop device.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// Enough for a turn beside the free space that it must leave.
const SIZE_BYTES: u64 = 256 << 20;
/// Nothing but a sync writes within a cell: the journal is written in this rhythm, in seconds.
const COMMIT_SECONDS: u32 = 300;

/// The file system of one stage.
pub(crate) struct Disk {
    image: PathBuf,
    place: PathBuf,
}

/// Whether there can be such a disk here.
pub(crate) fn is_possible() -> bool {
    static POSSIBLE: OnceLock<bool> = OnceLock::new();
    *POSSIBLE.get_or_init(|| {
        let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let is_root = rustix::process::geteuid().is_root();
        let possible = is_root && Disk::mount(&directory.path().join("root")).is_some();
        if !possible {
            println!("SKIPPED: no file system can be mounted from a file here");
        }
        possible
    })
}

impl Disk {
    /// Makes one, and mounts it at a place that does not exist yet.
    pub(crate) fn mount(place: &Path) -> Option<Self> {
        let image = place.with_extension("image");
        fs::File::create(&image).unwrap().set_len(SIZE_BYTES).unwrap();
        DirBuilder::new().mode(0o700).create(place).unwrap();
        let made = run(Command::new("mkfs.ext4").args(["-q", "-F", "-E", "lazy_itable_init=0"]).arg(&image));
        let disk = Self { image, place: place.to_path_buf() };
        if !made || !disk.attach() {
            return None;
        }
        fs::remove_dir(place.join("lost+found")).unwrap();
        fs::set_permissions(place, fs::Permissions::from_mode(0o700)).unwrap();
        run(Command::new("sync").arg("-f").arg(place)).then_some(disk)
    }

    /// The machine starts again with what is on the device at this moment. Nobody uses the disk any more.
    pub(crate) fn cut_power(&mut self) {
        let copy = self.image.with_extension("copy");
        assert!(run(Command::new("cp").arg("--sparse=always").args([&self.image, &copy])));
        // What it writes now comes too late.
        assert!(run(Command::new("umount").arg(&self.place)), "the disk is in use");
        self.image = copy;
        assert!(self.attach(), "the disk can not be read any more");
    }

    fn attach(&self) -> bool {
        let options = format!("loop,commit={COMMIT_SECONDS}");
        run(Command::new("mount").args(["-t", "ext4", "-o", &options]).args([&self.image, &self.place]))
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // Whatever still runs there is ended after this; until then the file system stays, without a name.
        run(Command::new("umount").arg("--lazy").arg(&self.place));
    }
}

fn run(command: &mut Command) -> bool {
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}
