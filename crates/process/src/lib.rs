//! One child process: start it through a gate, contain it, watch it, stop it.
//!
//! What enters this room is a [`LaunchSpec`]: a program, exact arguments, an exact environment, three descriptors. What
//! leaves it is a [`Gate`], then a [`Child`], then an [`Ending`]; a [`Tree`] stands for everything the child started. The
//! room knows no provider and no task, writes no record, and decides nothing about time: the caller owns the budget.
//!
//! The rules come from STATE.md 3.4 (launch), 3.5 (stop), 3.6 (recover), 6 (containment) and 7 (fence). All `unsafe` code of the
//! project is in the private module `raw`.

#![deny(unsafe_op_in_unsafe_fn)]

#[cfg(not(target_os = "linux"))]
compile_error!("processes are started, contained and identified by means that only Linux has");

mod cgroup;
mod child;
mod clock;
pub mod detach;
mod error;
mod fence;
mod gate;
mod host;
mod identity;
mod limits;
mod poll;
mod procfs;
mod raw;
mod reap;
mod sealed;
mod signals;
mod sockets;
mod tree;

pub use cgroup::{CgroupError, CgroupHome, CgroupNode, Controller, ResourceLimits};
pub use child::{Child, Ending};
pub use clock::boot_clock;
pub use detach::close_inherited_descriptors;
pub use error::{GateStep, StartError};
pub use fence::{AccessFence, Fence, FenceSupport, WriteFence, fence_support};
pub use gate::{Containment, GATE_WORD, Gate, LaunchSpec, Program, enter_gate_if_asked};
pub use host::{boot_id, current_umask, host_name, machine_id, pid_namespace};
pub use identity::{
    Condition, ProcessIdentity, ProcessState, condition, identity_of, is_at_gate, process_state, wait_for_end,
};
pub use reap::{Reaped, become_subreaper, reap_orphans};
pub use sealed::SealedInput;
pub use signals::TerminationSignals;
pub use tree::{COOKIE_NAME, Reception, Swept, Tree, TreeUsage};
