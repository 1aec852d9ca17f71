//! The programs `delegate` and `delegate-run`: reading the command line, printing answers, exit codes (CLI.md).
//!
//! What may enter: words. What may leave: words and an exit code. Nothing here decides anything about a task; that is the
//! room `turn`. The mains in `src/bin/` call [`process::enter_gate_if_asked`] first and then one of the functions here.

mod arguments;
mod commands;
mod context;
#[cfg(test)]
mod documents;
mod exit;
mod failure;
mod hidden;
mod human;
mod limits;
mod output;
mod root;
mod settings;

use std::ffi::OsString;
use std::process::ExitCode;

pub use exit::Exit;

/// The program `delegate`: a hidden first word chooses one of its inner roles, anything else is a command of the lead.
pub fn delegate() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    match hidden::role(&arguments) {
        Some(role) => hidden::play(role, &arguments[1..]),
        None => commands::run(&arguments).into(),
    }
}

/// The program `delegate-run`: the runner of one task. It takes the hidden words too, because the gate and the offline
/// worker may be started from it.
pub fn delegate_run() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    match hidden::role(&arguments) {
        Some(role) => hidden::play(role, &arguments[1..]),
        None => hidden::play(hidden::Role::Runner, &arguments),
    }
}
