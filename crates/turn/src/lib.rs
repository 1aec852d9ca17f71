//! The life of a task: admit, run, seal, judge, publish, observe, stop, recover (STATE.md 3).
//!
//! The one room where store, process and provider meet. Its functions answer with a [`record::answer::Answer`]; the program
//! around it prints that and turns it into an exit code.

pub mod limits;

mod activity;
mod admit;
mod asked;
mod brief;
mod changes;
mod clock;
mod containment;
mod context;
mod continuation;
mod damaged;
mod discover;
mod doctor;
mod error;
mod events;
mod evidence;
mod fence;
mod follow;
mod gather;
mod go_on;
mod ground;
mod host;
mod launch;
mod lease;
mod list;
mod monitor;
mod observe;
mod planning;
mod points;
mod probe;
mod prune;
mod publish;
mod recover;
mod rescue;
mod runner;
mod secrets;
mod stop;
mod stopped;
mod streams;
mod verdict;
mod watch;
mod workspace;

pub use admit::dispatch;
pub use asked::{BriefSource, DispatchInput};
pub use context::{Context, capture_environment, now};
pub use discover::{
    capabilities, found_executables, models, nearest_profile, preflight, providers, unsupported_capability,
};
pub use doctor::{Health, doctor};
pub use error::TurnError;
pub use events::Events;
pub use follow::{LogFollower, LogPiece};
pub use go_on::{ContinueInput, continue_task};
pub use list::{ListInput, list};
pub use observe::{Subject, logs, status, subject};
pub use points::POINTS;
pub use prune::{PruneInput, prune};
pub use runner::{RunnerExit, run};
pub use stop::cancel;
pub use supervise::SlurmSettings;
pub use watch::{Until, watch};
