//! Kimi: Kimi K3 through the native Kimi Code CLI (runners.md 3), in a home of its own, with a fixed set of tools, behind the
//! kernel's fence.

mod check;
mod classify;
mod config;
mod events;
mod heartbeat;
mod home;
mod knobs;
mod lane;
pub mod limits;
mod login;
mod material;
mod outcome;
mod phrases;
mod pin;
mod probe;
mod report;
mod ripgrep;
mod run;
mod sandbox;

use std::process::ExitCode;

use crate::common::exit::{Exit, Refusal};
use crate::common::family::{EVALUATION_MANIFEST, Family, Flag, FlagValue, OwnCommand, PREFLIGHT_ONLY};
use crate::common::login::LOGIN_FLAG;
use crate::common::pin::Line;
use crate::common::program::{self, Action, Call, Done};

/// The model as the vendor's program names it.
const RUNTIME_MODEL: &str = "kimi-code/k3";
/// The model as the vendor's service names it.
const VENDOR_MODEL: &str = "k3";
/// The one effort.
const EFFORT: &str = "max";
const PIN_COMMAND: &str = "pin-rg";
const PROMPT_FLAG: &str = "--prompt";

/// The runner.
pub static KIMI: Family = Family {
    gate: gates::family::KIMI,
    program: "delegation-kimi",
    model: "kimi-k3",
    lanes: &[
        "clerk",
        "scout",
        "builder",
        "frontend-builder",
        "reviewer",
        "senior",
        "judgement",
        "policy-annotation",
    ],
    unknown_lane: Exit::Usage,
    efforts: &["low", "high", "max"],
    flags: &[
        EVALUATION_MANIFEST,
        PREFLIGHT_ONLY,
        Flag { name: PROMPT_FLAG, value: FlagValue::Checked(run::check_prompt) },
        LOGIN_FLAG,
    ],
    commands: &[OwnCommand { name: PIN_COMMAND, check: Line::check }],
    gates_first: None,
    usage: "\
  --prompt TEXT         the prompt itself, in place of --prompt-file
  --oauth MODE          serialized: one run at a time keeps the login; shared: several runs share it
  --evaluation-manifest FILE   what an evaluation is bound to
  --preflight-only      check an evaluation and send nothing

       delegation-kimi pin-rg [--from PATH] [--force]

Archives the ripgrep that every run gets a verified copy of. Kimi's debug directory is also written on success; an interrupted run
ends with 130.
",
};

/// The program `delegation-kimi`.
pub fn main() -> ExitCode {
    program::main(&KIMI, act)
}

fn act(call: &Call<'_>, action: Action) -> Result<Done, Refusal> {
    match action {
        Action::Check { json } => check::check(call, json),
        Action::Run(line) => run::run(call, &line),
        Action::Own(PIN_COMMAND, words) => pin::pin(call, &words),
        Action::Own(name, _) => Err(Refusal::usage(format!("unknown command {name}"))),
    }
}
