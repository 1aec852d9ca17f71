//! What every runner does alike, as plain functions that a family calls in its own order (runners.md 1).
//!
//! The order is the same everywhere: the command line (64), the gates and the lane (78), the evaluation manifest (78), the paths
//! (64), then key, runtime and login (69). What is refused up to here leaves no file. Only then is a run prepared, and from
//! there on a failure leaves a diagnostic.

pub mod ask;
pub mod child;
pub mod clock;
pub mod debug;
pub mod diagnostic;
pub mod environment;
pub mod evaluation;
pub mod exit;
pub mod family;
pub mod files;
pub mod gate;
pub mod git;
pub mod key;
pub mod libraries;
pub mod limits;
pub mod line;
pub mod lock;
pub mod login;
pub mod loopback;
pub mod pin;
pub mod place;
pub mod program;
pub mod prompt;
pub mod publish;
pub mod redaction;
pub mod report;
pub mod run_directory;
pub mod sandbox;
pub mod surroundings;
pub mod words;
