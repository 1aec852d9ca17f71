//! The embedded data in a directory of its own, to be changed and asked.

#![allow(dead_code, unused_imports, reason = "each test program uses its part")]

pub(crate) mod artifacts;

use std::path::Path;

use contract::command;
use contract::embedded::{CONTRACT, CONTRACT_FILE, policy};
use gates::embedded::{CENTRAL_GATE_FILE, file};
use gates::family::FAMILIES;
pub(crate) use testkit::documents::{Answer, Files, Program, kit_config, members};

pub(crate) const POLICY_FILE: &str = "external-patch-policy.json";
pub(crate) const PROGRAM: Program = Program { name: command::PROGRAM, run: command::run };

pub(crate) fn names() -> Vec<&'static str> {
    let mut names = vec![CONTRACT_FILE, POLICY_FILE, CENTRAL_GATE_FILE];
    names.extend(FAMILIES.iter().map(|family| family.gate_file));
    names
}

/// The embedded files.
pub(crate) fn embedded_files() -> Files {
    let text = |name| match name {
        CONTRACT_FILE => CONTRACT,
        POLICY_FILE => policy(name).expect("embedded"),
        _ => file(name).expect("embedded"),
    };
    Files::new(PROGRAM, names().into_iter().map(|name| (name, text(name))))
}

/// Runs the program.
pub(crate) fn ask(arguments: &[&str], variables: &[(&str, &Path)], installed: Option<&Path>) -> Answer {
    PROGRAM.ask(arguments, variables, installed)
}
