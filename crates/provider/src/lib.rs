//! What each AI coding CLI needs and says: plan a launch, summarise its event stream, judge sealed evidence.
//!
//! Pure: this crate starts nothing, writes nothing and reads no clock. Planning asks a read-only [`Host`]; judging takes
//! `Read` streams and writes the answer to a sink. The same inputs give the same result (ARCHITECTURE.md, "The house").
//! One module per profile; what they share is beside them.

mod antigravity;
mod catalogue;
mod classify;
mod claude;
mod cli;
mod codex;
mod environment;
mod error;
mod events;
mod executable;
mod host;
mod judge;
mod launch;
mod limits;
mod login;
mod model_name;
mod models;
mod number;
mod offline;
mod opencode;
mod options;
mod pi;
mod probe;
mod profile;
mod raw_text;
mod roots;
mod runner;
mod screen;
mod skim;
mod standard_error;
mod summary;

pub use catalogue::{Catalogue, catalogue};
pub use environment::looks_like_credential;
pub use error::PlanError;
pub use host::{Host, HostError};
pub use judge::{Artifacts, Evidence, Finding, Judge, Judgement};
pub use login::{LoginFile, ProgramBehind};
pub use models::ModelListing;
pub use offline::SURVEY_WORD;
pub use probe::{Probe, ProbeOutput};
pub use profile::{Draft, PlanInput, Profile};
pub use roots::TEMPORARY_NAMES;
pub use runner::{LOGIN_OPENING, SANDBOX_OPENING};
pub use screen::message as screened;
pub use summary::{Summariser, Summary, Terminal};
