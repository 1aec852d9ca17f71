//! Gemini: Gemini Flash through the Antigravity CLI, prompt-only (runners.md 6): an empty workspace, a home of its own, no tools.

mod check;
mod classify;
mod confinement;
mod home;
pub mod limits;
mod probe;
mod run;

use std::process::ExitCode;

use crate::common::exit::{Exit, Refusal};
use crate::common::family::Family;
use crate::common::program::{self, Action, Call, Done};

/// The runner.
pub static GEMINI: Family = Family {
    gate: gates::family::GEMINI,
    program: "delegation-gemini",
    model: "gemini-3.7-flash",
    lanes: &["scout", "builder", "frontend-builder", "reviewer", "judgement"],
    unknown_lane: Exit::Usage,
    efforts: &["medium", "high"],
    flags: &[],
    commands: &[],
    gates_first: None,
    usage: "\
The model sees the prompt and nothing else: the workspace is neither read nor written. --evaluation takes no manifest.
",
};

/// The program `delegation-gemini`.
pub fn main() -> ExitCode {
    program::main(&GEMINI, act)
}

fn act(call: &Call<'_>, action: Action) -> Result<Done, Refusal> {
    match action {
        Action::Check { json } => check::check(call, json),
        Action::Run(line) => run::run(call, &line),
        Action::Own(name, _) => Err(Refusal::usage(format!("unknown command {name}"))),
    }
}

/// The model as the vendor's program names it.
fn runtime_model(effort: &str) -> String {
    format!("{}-{effort}", GEMINI.model)
}
