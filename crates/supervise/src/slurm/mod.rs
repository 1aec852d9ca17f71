//! Slurm as the owner of runners, for people whose turns outgrow one machine (STATE.md 3.2).
//!
//! Only Slurm's own programs are used, one bounded process per question, and nothing that they say gives a licence: a job
//! is ours by its name and user, a submission whose reply was lost is looked up by that name, and a second job for the same
//! task finds the run lock or the outcome. The turn itself is bounded by its runner; Slurm's limits lie around it.
//!
//! A turn runs on a node whose processes nobody else can see. What an observer on another machine knows of it are the
//! records in the shared root, the run lock, and the state of the job. Only a job that Slurm positively reports as over,
//! together with a free run lock, ends a turn that nobody can look at.
//!
//! | file | what |
//! |---|---|
//! | `options` | the lead's own options for `sbatch` |
//! | `job` | what is asked for: the script, time, processors, memory |
//! | `states` | reading the answers of `squeue` and `sacct` |
//! | `client` | the questions |
//! | `look` | jobs as this process saw them last |
//! | `shared` | whether the file system under the root is one for many machines |
//! | `owner` | the supervisor: submit, look, withdraw |

mod client;
mod error;
mod job;
mod look;
mod options;
mod owner;
mod shared;
mod states;

pub use error::SlurmError;
pub use owner::Slurm;
