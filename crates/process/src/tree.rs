//! Everything a child started: finding it, stopping it, making sure that nothing is left (STATE.md 3.5, 6).

mod select;
mod sweep;

use std::collections::HashSet;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use rustix::io::Errno;
use rustix::param::clock_ticks_per_second;
use rustix::process::{Signal, pidfd_send_signal};

use crate::cgroup::CgroupNode;
use crate::clock::boot_clock;
use crate::identity::{ProcessIdentity, open_identified};
use crate::procfs::{self, ProcessStat};
use crate::raw;
use crate::reap;
use crate::sockets;
use select::Selection;

/// Name of the environment variable whose value marks the processes of one tree (STATE.md 3.4).
pub const COOKIE_NAME: &str = "DELEGATION_COOKIE";

/// A child and its descendants, wherever they moved.
///
/// A member is: the child; any process in its session or process group while its number is certain; any process whose
/// environment at its start held the cookie and that is not older than the child; any orphan that came home to this
/// process if it is a subreaper, that is, every child of this process that is not older than the child and was not
/// [excluded](Tree::excluding); any process in the [cgroup of the tree](Tree::in_cgroup); and every descendant of one of these by parent links. This process is never a member.
#[derive(Debug)]
pub struct Tree {
    root: ProcessIdentity,
    /// Open from the first look on where the child was still there, a zombie included: its group can then be named
    /// exactly even after its end.
    root_pidfd: Option<OwnedFd>,
    cookie_entry: Vec<u8>,
    excluded: HashSet<ProcessIdentity>,
    node: Option<CgroupNode>,
}

/// What a sweep did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Swept {
    /// Processes that it ended, the child itself not counted: what outlived the child or would have.
    pub ended: u32,
    /// Processes that still run, although everything was tried.
    pub survivors: u32,
}

/// What the living members of a tree use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TreeUsage {
    /// How many there are, the child included.
    pub processes: u32,
    /// Their processor time, with that of the children they have waited for. Orphans that ended are not counted, so the
    /// value may fall.
    pub cpu: Duration,
    /// Time since the youngest of them began; zero when there is none.
    pub since_youngest: Duration,
}

/// When data last came in on the network connections of a tree.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Reception {
    /// Time since data came in at the child itself; absent without a connection.
    pub at_child: Option<Duration>,
    /// Time since data came in at a descendant; absent without a connection.
    pub at_descendants: Option<Duration>,
}

fn of_ticks(ticks: u64) -> Duration {
    let per_second = clock_ticks_per_second().max(1);
    let rest = Duration::from_secs(ticks % per_second);
    Duration::from_secs(ticks / per_second) + rest / u32::try_from(per_second).unwrap_or(u32::MAX)
}

/// What became of a signal.
#[derive(Debug)]
enum Sent {
    /// The process got it; the descriptor becomes readable at its end.
    Yes(OwnedFd),
    /// There is no such process any more.
    Gone,
    /// It may not be signalled.
    Refused,
}

impl Tree {
    /// The tree of `root`, whose processes carry `cookie` as the value of [`COOKIE_NAME`] in their environment.
    pub fn new(root: ProcessIdentity, cookie: &str) -> Self {
        Self {
            root,
            root_pidfd: open_identified(root).ok().flatten(),
            cookie_entry: format!("{COOKIE_NAME}={cookie}").into_bytes(),
            excluded: HashSet::new(),
            node: None,
        }
    }

    /// Takes in everything that is in the cgroup that the child was born in.
    #[must_use]
    pub fn in_cgroup(self, node: CgroupNode) -> Self {
        Self { node: Some(node), ..self }
    }

    /// Leaves out children of this process that do not belong to the tree.
    #[must_use]
    pub fn excluding(mut self, others: &[ProcessIdentity]) -> Self {
        self.excluded.extend(others);
        self
    }

    /// The living members.
    ///
    /// # Errors
    /// `/proc` did not answer, so what is not listed may still run.
    pub fn members(&self) -> io::Result<Vec<ProcessIdentity>> {
        let snapshot = procfs::all()?;
        Ok(self.select(&snapshot)?.into_iter().map(|stat| stat.identity).collect())
    }

    /// Sends SIGTERM to every member once. Answers how many got it.
    ///
    /// # Errors
    /// As for [`Tree::members`].
    pub fn terminate(&self) -> io::Result<usize> {
        self.signal_all(Signal::TERM)
    }

    /// Sends SIGKILL to every member once, and to the process group and the cgroup of the child, so that a process made
    /// meanwhile there gets it too. Answers how many members got it.
    ///
    /// # Errors
    /// As for [`Tree::members`].
    pub fn kill(&self) -> io::Result<usize> {
        let reached = self.signal_all(Signal::KILL)?;
        self.kill_groups()?;
        Ok(reached)
    }

    /// What the living members use.
    ///
    /// # Errors
    /// As for [`Tree::members`].
    pub fn usage(&self) -> io::Result<TreeUsage> {
        let snapshot = procfs::all()?;
        let members = self.select(&snapshot)?;
        let ticks = members.iter().fold(0_u64, |sum, stat| sum.saturating_add(stat.cpu_ticks));
        let youngest = members.iter().map(|stat| stat.identity.start_time).max();
        Ok(TreeUsage {
            processes: u32::try_from(members.len()).unwrap_or(u32::MAX),
            cpu: of_ticks(ticks),
            since_youngest: youngest
                .map_or(Duration::ZERO, |start| boot_clock().saturating_sub(of_ticks(start))),
        })
    }

    /// When data last came in, on established TCP connections of this network namespace. What is in another one is not seen.
    ///
    /// # Errors
    /// As for [`Tree::members`], or the kernel does not tell.
    pub fn reception(&self) -> io::Result<Reception> {
        let ages = sockets::since_last_data()?;
        let mut reception = Reception::default();
        for member in self.members()? {
            let youngest =
                sockets::of_process(member.pid).iter().filter_map(|socket| ages.get(socket)).min().copied();
            let place =
                if member == self.root { &mut reception.at_child } else { &mut reception.at_descendants };
            *place = [*place, youngest].into_iter().flatten().min();
        }
        Ok(reception)
    }

    fn signal_all(&self, signal: Signal) -> io::Result<usize> {
        let members = self.members()?;
        let mut reached = 0;
        for member in members {
            if matches!(send(member, signal)?, Sent::Yes(_)) {
                reached += 1;
            }
        }
        fault::point("process.tree.signalled")?;
        Ok(reached)
    }

    /// Kills the process group and the cgroup of the child.
    fn kill_groups(&self) -> io::Result<()> {
        if let Some(pidfd) = &self.root_pidfd {
            // Kernels that can not do it leave the group to the walk over its members.
            let _ = raw::signal_group(pidfd.as_fd(), Signal::KILL);
        }
        match &self.node {
            Some(node) if node.is_populated()? => node.kill(),
            _ => Ok(()),
        }
    }

    fn select<'snapshot>(
        &self,
        snapshot: &'snapshot [ProcessStat],
    ) -> io::Result<Vec<&'snapshot ProcessStat>> {
        // After the snapshot: a number that is in both then belongs to the same process, or the one of the snapshot is gone.
        let in_node = match &self.node {
            Some(node) => node.members()?.into_iter().collect(),
            None => HashSet::new(),
        };
        let marked = |pid| in_node.contains(&pid) || procfs::environment_has(pid, &self.cookie_entry);
        Ok(self.selection()?.members(snapshot, marked))
    }

    fn selection(&self) -> io::Result<Selection<'_>> {
        Ok(Selection {
            root: self.root,
            own: std::process::id(),
            orphans_come_home: reap::is_subreaper()?,
            excluded: &self.excluded,
        })
    }
}

/// Signals exactly that process: the descriptor is opened first, the identity compared afterwards.
fn send(target: ProcessIdentity, signal: Signal) -> io::Result<Sent> {
    let Some(pidfd) = open_identified(target)? else {
        return Ok(Sent::Gone);
    };
    match pidfd_send_signal(&pidfd, signal) {
        Ok(()) => Ok(Sent::Yes(pidfd)),
        Err(Errno::SRCH) => Ok(Sent::Gone),
        Err(_) => Ok(Sent::Refused),
    }
}
