//! A run with a directory of the user on a disk of its own, which is small.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::AsRawFd as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use super::{Stage, Started};

/// Whether a mount namespace of our own can be had.
pub(crate) fn can_be_had() -> bool {
    Command::new("unshare").args(["-m", "true"]).output().is_ok_and(|output| output.status.success())
}

/// The command of a run for which `directory`, with what is in it, lies on a disk of `size`.
pub(crate) fn command(stage: &Stage, directory: &str, size: &str, words: &[std::ffi::OsString]) -> Command {
    let command = stage.command(words);
    let environment =
        command.get_envs().filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())));
    let script = format!(
        r#"exec 3<"$0" && mount -t tmpfs -o size={size},mode=700 none "$0" && cp -a /proc/self/fd/3/. "$0" && exec 3<&- && exec "$@""#
    );
    let mut small = Command::new("unshare");
    small.args(["-m", "sh", "-c", &script]).arg(stage.path(directory)).arg(command.get_program()).args(words);
    small.env_clear().envs(environment).current_dir(stage.path("work"));
    small.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    small
}

/// The small disk of a run, which stays when the run ends.
pub(crate) struct SmallDisk(File);

impl SmallDisk {
    /// The one that a run has at a path.
    pub(crate) fn of(started: &Started, path: PathBuf) -> Self {
        let path = path.strip_prefix("/").expect("an absolute path").to_owned();
        let path = PathBuf::from(format!("/proc/{}/root", started.pid())).join(path);
        Self(File::open(path).expect("the directory of the run"))
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.0.as_raw_fd())).join(name)
    }

    /// Writes until there is no room.
    pub(crate) fn fill(&self) {
        let mut file = File::create(self.path("filler")).expect("a file");
        let error = io::copy(&mut io::repeat(7), &mut file).expect_err("a disk without end");
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        let more = file.write(&[7; 1]).expect_err("room");
        assert_eq!(more.kind(), io::ErrorKind::StorageFull);
    }
}
