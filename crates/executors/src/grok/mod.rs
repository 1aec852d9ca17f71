//! Grok: Grok 4.6 through the Grok Build CLI (runners.md 4), in a home of its own, behind the vendor's own sandbox, which must say
//! that it holds.

mod answer;
mod archive;
mod binary;
mod check;
mod decide;
mod endpoints;
mod home;
mod interface;
mod knobs;
mod lane;
pub mod limits;
mod login;
mod outcome;
mod pin;
mod probe;
mod report;
mod run;

use std::process::ExitCode;

use crate::common::exit::{Exit, Refusal};
use crate::common::family::{EVALUATION_MANIFEST, Family, OwnCommand, PREFLIGHT_ONLY};
use crate::common::login::LOGIN_FLAG;
use crate::common::pin::Line;
use crate::common::program::{self, Action, Call, Done};

/// The one effort.
const EFFORT: &str = "high";
/// The model that the vendor bills for; never the one that answers.
const USAGE_MODEL: &str = "grok-4.6-build";
const PIN_COMMAND: &str = "pin";

/// The runner.
pub static GROK: Family = Family {
    gate: gates::family::GROK,
    program: "delegation-grok",
    model: "grok-4.6",
    lanes: &["builder", "frontend-builder", "policy-annotation"],
    unknown_lane: Exit::Usage,
    efforts: &[EFFORT],
    flags: &[EVALUATION_MANIFEST, PREFLIGHT_ONLY, LOGIN_FLAG],
    commands: &[OwnCommand { name: PIN_COMMAND, check: Line::check }],
    gates_first: None,
    usage: "\
  --oauth MODE          serialized: one run at a time keeps the login; shared: several runs share it
  --evaluation-manifest FILE   what an evaluation is bound to
  --preflight-only      check an evaluation and send nothing

       delegation-grok pin [--from PATH] [--force]

Archives the Grok Build program that every run starts, whatever is updated around it.
",
};

/// The program `delegation-grok`.
pub fn main() -> ExitCode {
    program::main(&GROK, act)
}

fn act(call: &Call<'_>, action: Action) -> Result<Done, Refusal> {
    match action {
        Action::Check { json } => check::check(call, json),
        Action::Run(line) => run::run(call, &line),
        Action::Own(PIN_COMMAND, words) => pin::pin(call, &words),
        Action::Own(name, _) => Err(Refusal::usage(format!("unknown command {name}"))),
    }
}
