//! The nouns of the delegation layer: ids, records, closed vocabularies, strict JSON, digests and the answers of the
//! command line.
//!
//! Pure: no file, no clock, no process, no source of randomness (ARCHITECTURE.md, "The house"). Whatever enters here has
//! been parsed once into a type that can not be invalid; an unknown word is an error at the border.

mod vocabulary;

pub mod activity;
pub mod answer;
pub mod answers;
pub mod capability;
pub mod digest;
pub mod duration;
pub mod event;
pub mod failure;
pub mod health;
pub mod history;
pub mod id;
pub mod json;
pub mod launch;
pub mod limits;
pub mod models;
pub mod outcome;
pub mod path;
pub mod plan;
pub mod request;
pub mod retention;
pub mod schema;
pub mod seal;
pub mod size;
pub mod submission;
pub mod time;
pub mod usage;
pub mod words;

pub use digest::Sha256Digest;
pub use duration::Span;
pub use id::{ProfileId, RootId, TaskId};
pub use path::AbsolutePath;
pub use size::ByteSize;
pub use time::Timestamp;
