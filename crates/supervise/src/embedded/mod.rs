//! The embedded supervisor: one process per root and machine, started by the first command that needs it (STATE.md 3.2).
//!
//! There is no socket and no protocol. The queue is the directory `open/`, the proof that a supervisor lives is its lock.
//! A dispatcher commits first and looks at the lock second; a supervisor that wants to leave releases the lock first and
//! looks at the queue second. So one of the two always sees the other, and no task is stranded.
//!
//! | file | what |
//! |---|---|
//! | `client` | the side of the commands: look at the lock, start a supervisor |
//! | `options` | its hidden command line |
//! | `serve` | the process: set up, hold the lock, leave |
//! | `work` | its loop: events in, runners out |
//! | `queue` | what is known and what comes next; pure |
//! | `look` | reading a task for the queue |
//! | `children` | the signal of ended children |
//! | `hints` | changed directories, as the kernel tells it |
//! | `holder` | which process has the lock, and whether it will look again |
//! | `gave_up` | notes on tasks that are tried no more |
//! | `log` | its log |

mod cgroups;
mod children;
mod client;
mod gave_up;
mod hints;
mod holder;
mod log;
mod look;
mod options;
mod queue;
mod serve;
mod work;

pub use client::{Embedded, stopped};
pub use options::{SUPERVISE_WORD, ServeOptions};
pub use serve::serve;

pub use crate::limits::Timing;
