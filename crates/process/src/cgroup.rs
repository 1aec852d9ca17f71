//! Cgroup v2: a node of its own for each turn, from which no descendant leaves by starting a session, by losing its parents or
//! by clearing its environment (STATE.md 6).
//!
//! A node is made below the cgroup that this process is in, so whatever limits this process limits the turn too. That takes a
//! v2 hierarchy that is mounted, and the right to write there: root has it, and so has the user of a delegated subtree.

mod home;
mod node;

use std::fmt;
use std::io;
use std::path::PathBuf;

pub use home::CgroupHome;
pub use node::CgroupNode;

/// How much a turn may use. What is absent is not limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ResourceLimits {
    /// Main memory of all its processes together, in bytes: `memory.max`. When it is used up the kernel kills.
    pub memory_bytes: Option<u64>,
    /// Processes and threads at once: `pids.max`. When they are used up, starting another one fails.
    pub pids: Option<u32>,
    /// Processors' worth of time: `cpu.max`. What wants more is slowed down.
    pub cpus: Option<u32>,
}

impl ResourceLimits {
    /// The controllers that these limits need, with the file and the text that sets each of them.
    fn settings(&self) -> Vec<(Controller, String)> {
        let memory = self.memory_bytes.map(|bytes| (Controller::Memory, bytes.to_string()));
        let pids = self.pids.map(|count| (Controller::Pids, count.to_string()));
        let quota = |cpus: u32| u64::from(cpus) * CPU_PERIOD_MICROSECONDS;
        let cpus =
            self.cpus.map(|cpus| (Controller::Cpu, format!("{} {CPU_PERIOD_MICROSECONDS}", quota(cpus))));
        [memory, pids, cpus].into_iter().flatten().collect()
    }
}

/// The period over which processor time is counted, in microseconds: the kernel's default.
const CPU_PERIOD_MICROSECONDS: u64 = 100_000;

/// A part of the kernel that limits one resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Controller {
    /// Main memory.
    Memory,
    /// Processes and threads.
    Pids,
    /// Processor time.
    Cpu,
}

impl Controller {
    /// The file of a node that takes the limit.
    fn file(self) -> &'static str {
        match self {
            Self::Memory => "memory.max",
            Self::Pids => "pids.max",
            Self::Cpu => "cpu.max",
        }
    }
}

impl fmt::Display for Controller {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Memory => "memory",
            Self::Pids => "pids",
            Self::Cpu => "cpu",
        })
    }
}

/// Why there is no node.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CgroupError {
    /// No cgroup v2 hierarchy is mounted where this process can see it.
    #[error("cgroup v2 is not mounted here")]
    NotMounted,
    /// The hierarchy is there, and the cgroup of this process is not in the part of it that is mounted.
    #[error("this process is not in the part of cgroup v2 that is mounted here")]
    NotVisible,
    /// This user may make no node there. `user_manager` says whether asking the user's service manager would help.
    #[error("{} is not delegated to this user{}", path.display(), advice(*user_manager))]
    NotDelegated {
        /// The cgroup of this process.
        path: PathBuf,
        /// A service manager of this user runs.
        user_manager: bool,
    },
    /// The kernel can not kill all of a cgroup at once (before Linux 5.14).
    #[error("the kernel has no cgroup.kill (Linux 5.14)")]
    TooOld,
    /// A limit was asked for, and its controller is not handed down to the cgroups below this one.
    #[error("the controller {controller} is not handed down below {}", path.display())]
    NoController {
        /// The controller.
        controller: Controller,
        /// The cgroup of this process.
        path: PathBuf,
    },
    /// The system refused something else.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What it said.
        source: io::Error,
    },
}

fn advice(user_manager: bool) -> &'static str {
    if user_manager {
        "; what is started by systemd-run --user --scope --property=Delegate=yes has one that is"
    } else {
        ""
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_become_the_words_of_the_kernel() {
        let limits = ResourceLimits { memory_bytes: Some(1 << 30), pids: Some(64), cpus: Some(2) };
        let settings: Vec<(&str, String)> =
            limits.settings().into_iter().map(|(controller, text)| (controller.file(), text)).collect();
        let expected = [("memory.max", "1073741824"), ("pids.max", "64"), ("cpu.max", "200000 100000")];
        assert_eq!(settings, expected.map(|(file, text)| (file, text.to_owned())));
        assert!(ResourceLimits::default().settings().is_empty());
    }
}
