//! The documentation is true: every command shown runs, or says why it is not run here; every link leads somewhere; every
//! command and flag that is mentioned exists.

mod links;
mod mentions;
mod page;
mod runs;
#[path = "../support/mod.rs"]
mod support;
