//! The embedded gates in a directory of their own, to be changed and asked.

#![allow(dead_code, unused_imports, reason = "each test program uses its part")]

use std::path::Path;

use gates::embedded;
use gates::family::FAMILIES;
use gates::router;
pub(crate) use testkit::documents::{Answer, Files, Program, kit_config, members, place};

const PROGRAM: Program = Program { name: router::PROGRAM, run: router::run };

pub(crate) fn names() -> Vec<&'static str> {
    let mut names = vec![embedded::CENTRAL_GATE_FILE, embedded::EVIDENCE_FILE];
    names.extend(FAMILIES.iter().map(|family| family.gate_file));
    names
}

/// The embedded files.
pub(crate) fn embedded_files() -> Files {
    Files::new(PROGRAM, names().into_iter().map(|name| (name, embedded::file(name).expect("embedded"))))
}

/// Runs the program.
pub(crate) fn ask(arguments: &[&str], variables: &[(&str, &Path)], installed: Option<&Path>) -> Answer {
    PROGRAM.ask(arguments, variables, installed)
}
