//! Test only: what the tests of this workspace share.
//!
//! - [`model_server`]: a scripted model on loopback, for real CLIs.
//! - [`fake`]: a fake AI CLI with named misbehaviours.
//! - [`marker`]: how a brief tells a component what to do.
//! - [`closed_network`]: a network that holds nothing but loopback.
//! - `documents` (a feature): the JSON files of the read-only inspectors, changed in every way.
//! - [`release_server`]: a place of releases on loopback.
//! - [`deed`]: what a fake tries from inside a sandbox.
//! - [`trailer`]: how a fake that can read nothing but its own file learns what it is.
//! - [`real`]: the real CLIs, installed by `cargo xtask real install`.
//! - [`stored`]: very many ended tasks.
//! - [`watch`]: waiting for what other processes do to files.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

pub mod binary;
pub mod closed_network;
pub mod deed;
#[cfg(feature = "documents")]
pub mod documents;
pub mod fake;
pub mod limits;
pub mod marker;
pub mod model_server;
pub mod real;
pub mod release_server;
pub mod stored;
pub mod trailer;
pub mod watch;
