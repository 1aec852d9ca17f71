//! The life of a task: admit, run, seal, judge, publish, observe, stop, recover (STATE.md 3).
//!
//! The one room where store, process and provider meet. Its functions answer with a [`record::answer::Answer`]; the program
//! around it prints that and turns it into an exit code.

pub mod limits;

mod admit;
mod brief;
mod context;
mod error;
mod evidence;
mod fence;
mod host;
mod launch;
mod lease;
mod monitor;
mod observe;
mod planning;
mod probe;
mod publish;
mod recover;
mod runner;
mod stop;
mod streams;
mod verdict;
mod watch;
mod workspace;

pub use admit::{BriefSource, DispatchInput, dispatch};
pub use context::{Context, capture_environment};
pub use error::TurnError;
pub use observe::{
    Subject, capabilities, found_executables, logs, nearest_profile, providers, status, subject,
    unsupported_capability,
};
pub use runner::{RunnerExit, run};
pub use stop::cancel;
pub use watch::{Until, watch};
