//! One node: a host name, a process table and mounts of its own, as another machine has them.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, retry_on_intr};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use super::{PATIENCE, PLACES};

/// The first process of a node. It is no part of Slurm, so that its daemon can be lost while its jobs go on, and it reaps.
const FIRST_PROCESS: &str = "hostname \"$NODE\"\n\
     for place in \"$@\"; do mount -t tmpfs none \"$place\"; done\n\
     slurmd -D -N \"$NODE\" &\n\
     sleep infinity &\n\
     wait\n";

/// A node with its daemon.
#[derive(Debug)]
pub struct Node {
    name: String,
    directory: PathBuf,
    machine: Option<Child>,
}

impl Node {
    /// Starts a node that does not see some directories.
    ///
    /// # Errors
    /// The system's.
    pub(super) fn start(directory: &Path, name: &str, hidden: &[PathBuf]) -> io::Result<Self> {
        fs::create_dir(directory.join(format!("spool-{name}")))?;
        let log = File::create(directory.join(format!("{name}.out.log")))?;
        let machine = Command::new("setpriv")
            .args(["--pdeathsig", "KILL", "unshare", "--uts", "--pid", "--mount", "--mount-proc"])
            .args(["--fork", "--kill-child=KILL", "sh", "-c", FIRST_PROCESS, "node"])
            .args(hidden)
            .env_clear()
            .env("PATH", PLACES.join(":"))
            .env("SLURM_CONF", directory.join("slurm.conf"))
            .env("NODE", name)
            .current_dir("/")
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()?;
        Ok(Self { name: name.to_owned(), directory: directory.to_path_buf(), machine: Some(machine) })
    }

    /// Its name, which is its host name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The node is cut off from its power: every process on it is gone.
    ///
    /// # Errors
    /// The system's.
    pub fn kill(&mut self) -> io::Result<()> {
        let Some(mut machine) = self.machine.take() else { return Ok(()) };
        // The kernel takes the whole process table with its first process.
        let first = children(machine.id()).first().copied();
        machine.kill()?;
        machine.wait()?;
        first.map_or(Ok(()), wait_for_end)
    }

    /// Kills Slurm's daemon on it; the jobs go on.
    ///
    /// # Errors
    /// The system's, or there is none.
    pub fn kill_daemon(&self) -> io::Result<()> {
        let machine = self.machine.as_ref().map(Child::id).ok_or(io::ErrorKind::NotFound)?;
        let inside = children(machine).into_iter().flat_map(children);
        let daemon =
            inside.into_iter().find(|pid| name_of(*pid) == "slurmd").ok_or(io::ErrorKind::NotFound)?;
        let pid = i32::try_from(daemon).map_err(io::Error::other)?;
        nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), nix::sys::signal::Signal::SIGKILL)?;
        wait_for_end(daemon)
    }

    /// Starts Slurm's daemon on it again.
    ///
    /// # Errors
    /// The system's, or the node is gone.
    pub fn start_daemon(&self) -> io::Result<()> {
        let machine = self.machine.as_ref().map(Child::id).ok_or(io::ErrorKind::NotFound)?;
        let first = children(machine).first().copied().ok_or(io::ErrorKind::NotFound)?;
        let log = File::create(self.directory.join(format!("{}.again.log", self.name)))?;
        // Without -D it leaves the caller, and the node's first process takes it in.
        let done = Command::new("nsenter")
            .args(["--target", &first.to_string(), "--uts", "--pid", "--mount", "slurmd", "-N", &self.name])
            .env_clear()
            .env("PATH", PLACES.join(":"))
            .env("SLURM_CONF", self.directory.join("slurm.conf"))
            .current_dir("/")
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .status()?;
        if done.success() { Ok(()) } else { Err(io::Error::other(format!("slurmd: {done}"))) }
    }
}

fn children(pid: u32) -> Vec<u32> {
    let text = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    text.split_whitespace().filter_map(|pid| pid.parse().ok()).collect()
}

fn name_of(pid: u32) -> String {
    fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default().trim().to_owned()
}

fn wait_for_end(pid: u32) -> io::Result<()> {
    let number = i32::try_from(pid).ok().and_then(Pid::from_raw);
    let process = match pidfd_open(number.ok_or(io::ErrorKind::InvalidInput)?, PidfdFlags::empty()) {
        Err(Errno::SRCH) => return Ok(()),
        process => process?,
    };
    let patience = Timespec::try_from(PATIENCE).ok();
    let ended = retry_on_intr(|| poll(&mut [PollFd::new(&process, PollFlags::IN)], patience.as_ref()))?;
    if ended > 0 { Ok(()) } else { Err(io::Error::other(format!("process {pid} does not end"))) }
}
