//! The installers, from a place of releases on loopback: everything is installed and runs, or nothing is there.

mod dist;
mod failures;
mod interruption;
mod npm;
mod script;
mod world;
