//! GLM: GLM-5.3-Flash through Claude Code against Z.AI (runners.md 2). Claude Code gets a private configuration directory and the
//! name of the model by environment; its event stream says who answered.

mod check;
mod confinement;
mod endpoint;
mod launch;
pub mod limits;
mod outcome;
mod qualification;
mod report;
mod run;
mod runtime;
mod stream;
mod usage;
mod verdict;

use std::process::ExitCode;

use crate::common::exit::{Exit, Refusal};
use crate::common::family::{EVALUATION_MANIFEST, Family, Flag, FlagValue};
use crate::common::gate::Gates;
use crate::common::key::KeySource;
use crate::common::program::{self, Action, Call, Done};

const BUDGET_FLAG: &str = "--max-cost-usd";
/// The lane that edits.
const BUILDER: &str = "builder";
/// The lane whose evaluation is bound to the manifest of all families.
const POLICY_ANNOTATION: &str = "policy-annotation";

/// The runner.
pub static GLM: Family = Family {
    gate: gates::family::GLM,
    program: "delegation-glm",
    model: "glm-5.3-flash",
    lanes: &["clerk", "scout", BUILDER, "reviewer", POLICY_ANNOTATION],
    unknown_lane: Exit::Usage,
    efforts: &["max"],
    flags: &[EVALUATION_MANIFEST, Flag { name: BUDGET_FLAG, value: FlagValue::Checked(run::check_budget) }],
    commands: &[],
    gates_first: Some(demand_prefix),
    usage: "\
  --max-cost-usd USD    what Claude Code may spend; default 2.00
  --evaluation-manifest FILE   what an evaluation is bound to
",
};

/// Where the key lies.
pub const KEY: KeySource =
    KeySource { variable: "ZAI_API_KEY", file_variable: "DELEGATION_GLM_KEY_FILE", file_name: "zai.env" };

/// The program `delegation-glm`.
pub fn main() -> ExitCode {
    program::main(&GLM, act)
}

fn act(call: &Call<'_>, action: Action) -> Result<Done, Refusal> {
    match action {
        Action::Check { json } => check::check(call, json),
        Action::Run(line) => run::run(call, &line),
        Action::Own(name, _) => Err(Refusal::usage(format!("unknown command {name}"))),
    }
}

/// Demands that the executable gate says what the names of the profiles begin with (runners.md 2.1).
fn demand_prefix(gates: &Gates) -> Result<(), Refusal> {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let is_prefix = |prefix: &&str| !prefix.is_empty() && prefix.bytes().all(plain);
    let prefix = gates.executable().profile_prefix.as_deref().filter(is_prefix);
    let prefix = prefix.ok_or_else(|| Refusal::gate("the executable gate has no usable profile_prefix"))?;
    match gates.rows().find(|row| row.profile != format!("{prefix}-{}", row.lane)) {
        Some(row) => Err(Refusal::gate(format!("profile {} is not {prefix}-{}", row.profile, row.lane))),
        None => Ok(()),
    }
}
