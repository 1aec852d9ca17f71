//! Pueue as the owner of runners: people who already run it keep it (STATE.md 3.2).
//!
//! Only Pueue's command line is used, one bounded process per question. What it says is a hint: job numbers begin anew
//! after a clean-up, results say nothing about a provider, rows vanish with a damaged state file. So a row is ours only by
//! its label and its command, and whatever is wrong with the queue costs at most another submission: a second runner finds
//! the run lock or the outcome.
//!
//! | file | what |
//! |---|---|
//! | `binding` | which queue is meant: executables, configuration, endpoint; recorded at admission, compared later |
//! | `config` | where a configuration puts the socket |
//! | `client` | one question to the queue |
//! | `rows` | reading its answer |
//! | `owner` | the supervisor: submit, look, withdraw |
//! | `private` | a queue of our own in the root, when none is named |

mod binding;
mod client;
mod config;
mod error;
mod owner;
mod private;
mod rows;

pub use error::PueueError;
pub use owner::Pueue;
pub use private::{PUEUE_DAEMON_WORD, become_daemon};
