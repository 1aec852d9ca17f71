//! Test only: what the tests of this workspace share.
//!
//! - [`model_server`]: a scripted model on loopback, for real CLIs.
//! - [`fake`]: a fake AI CLI with named misbehaviours.
//! - [`marker`]: how a brief tells a component what to do.
//! - [`closed_network`]: a network that holds nothing but loopback.
//! - [`deed`]: what a fake tries from inside a sandbox.
//! - [`trailer`]: how a fake that can read nothing but its own file learns what it is.
//! - [`real`]: the real CLIs, installed by `cargo xtask real install`.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

pub mod binary;
pub mod closed_network;
pub mod deed;
pub mod fake;
pub mod limits;
pub mod marker;
pub mod model_server;
pub mod real;
pub mod trailer;
