//! The real AI CLIs: where they are installed, and a stage to run them on without a network (providers.md 11); the real Pueue
//! and a real Slurm cluster.

mod component;
mod endpoint;
mod pueue;
mod skip;
pub mod slurm;
mod stage;
mod turn;

pub use component::{Component, Pins, PinsError, target_directory, workspace_directory};
pub use pueue::pueue_for_test;
pub use skip::{REQUIRE_REAL_VARIABLE, SKIP_LOG_VARIABLE, SKIPPED_PREFIX, leave_out, skip};
pub use stage::{Stage, StageError};
pub use turn::{Ending, Finished, Permission, Turn};
