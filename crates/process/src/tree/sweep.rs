//! Killing until nothing is left.

use std::collections::HashSet;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Instant;

use rustix::event::PollFlags;
use rustix::process::Signal;

use super::{Sent, Swept, Tree, send};
use crate::identity::ProcessIdentity;
use crate::limits::{SWEEP_MAX_ROUNDS, SWEEP_TIMEOUT};
use crate::poll::wait_for;
use crate::procfs;
use crate::reap::reap_one;

impl Tree {
    /// Kills every member, waits for the end of each, reaps what came home to this process, and looks again, until a look
    /// finds neither a member nor a new orphan. A process that can not be killed is a survivor; so is whatever is left
    /// after 100 rounds or 5 seconds. The child itself is not reaped: that is done by its [`crate::Child`].
    ///
    /// # Errors
    /// As for [`Tree::members`].
    pub fn sweep(&self) -> io::Result<Swept> {
        let mut sweep = Sweep {
            tree: self,
            deadline: Instant::now() + SWEEP_TIMEOUT,
            met: HashSet::new(),
            dying: Vec::new(),
            ended: 0,
        };
        for _ in 0..SWEEP_MAX_ROUNDS {
            fault::point("process.sweep.round")?;
            let changed = sweep.kill_what_came_home()? | sweep.kill_members()?;
            sweep.wait_for_the_dying()?;
            if !changed && sweep.is_cgroup_empty()? {
                return Ok(Swept { ended: sweep.ended, survivors: sweep.survivors()? });
            }
            if sweep.is_over() {
                break;
            }
        }
        // It was still moving, so a look may miss it, but something is left.
        Ok(Swept { ended: sweep.ended, survivors: sweep.survivors()?.max(1) })
    }
}

/// One sweep in progress.
struct Sweep<'tree> {
    tree: &'tree Tree,
    deadline: Instant,
    /// Everything that was signalled, or refused it: once is enough.
    met: HashSet<ProcessIdentity>,
    dying: Vec<(ProcessIdentity, OwnedFd)>,
    ended: u32,
}

impl Sweep<'_> {
    /// Kills and reaps the children of this process that belong to the tree, again and again while new ones arrive. A
    /// look at them alone is so short that even a process that lives for a millisecond is met, which a look at all
    /// processes would miss. Answers whether there was anything new.
    fn kill_what_came_home(&mut self) -> io::Result<bool> {
        let selection = self.tree.selection()?;
        let mut changed = false;
        loop {
            let mut arrived = false;
            for pid in procfs::own_children()? {
                if let Some(stat) = procfs::stat(pid)?
                    && selection.came_home(&stat)
                {
                    arrived |= if stat.ended { reap_one(pid)?.is_some() } else { self.kill(stat.identity)? };
                }
            }
            changed |= arrived;
            if !arrived || self.is_over() {
                return Ok(changed);
            }
        }
    }

    /// Kills every member. Answers whether one was new.
    fn kill_members(&mut self) -> io::Result<bool> {
        let mut changed = false;
        for member in self.tree.members()? {
            changed |= self.kill(member)?;
        }
        self.tree.kill_groups()?;
        Ok(changed)
    }

    /// Whether nothing is in the cgroup any more; what was killed there gets the time that is left.
    fn is_cgroup_empty(&self) -> io::Result<bool> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        self.tree.node.as_ref().map_or(Ok(true), |node| node.wait_until_empty(left))
    }

    /// Kills a process if it was not met before. Answers whether it was new.
    fn kill(&mut self, target: ProcessIdentity) -> io::Result<bool> {
        if !self.met.insert(target) {
            return Ok(false);
        }
        if let Sent::Yes(pidfd) = send(target, Signal::KILL)? {
            self.dying.push((target, pidfd));
        }
        Ok(true)
    }

    fn wait_for_the_dying(&mut self) -> io::Result<()> {
        for (identity, pidfd) in self.dying.drain(..) {
            let remaining = self.deadline.saturating_duration_since(Instant::now());
            if wait_for(pidfd.as_fd(), PollFlags::IN, &[], remaining)? && identity != self.tree.root {
                self.ended = self.ended.saturating_add(1);
            }
        }
        Ok(())
    }

    fn is_over(&self) -> bool {
        Instant::now() >= self.deadline
    }

    fn survivors(&self) -> io::Result<u32> {
        Ok(u32::try_from(self.tree.members()?.len()).unwrap_or(u32::MAX))
    }
}
