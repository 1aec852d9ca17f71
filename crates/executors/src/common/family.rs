//! What tells one runner from another before it does anything.

use std::ffi::{OsStr, OsString};

use super::exit::{Exit, Refusal};
use super::gate::Gates;

/// A runner: its place in the gates and its command line.
#[derive(Clone, Copy, Debug)]
pub struct Family {
    /// Its place in the gates; the name of the program is `delegation-<gate.name>`.
    pub gate: gates::family::Family,
    /// Name of the program.
    pub program: &'static str,
    /// The one model; a gate that names another is refused.
    pub model: &'static str,
    /// The lanes that it implements.
    pub lanes: &'static [&'static str],
    /// What a lane that it does not implement is: 64, or 78 (chat runners, runners.md 5.1).
    pub unknown_lane: Exit,
    /// Every effort that the command line may name, beside `auto`.
    pub efforts: &'static [&'static str],
    /// Flags of `run` beyond the shared ones.
    pub flags: &'static [Flag],
    /// Commands beside `check` and `run`.
    pub commands: &'static [OwnCommand],
    /// Where the gates are read before the command line, so that even `--help` fails where they are bad: what they must say
    /// beyond the rules for all of them (GLM, runners.md 2.1).
    pub gates_first: Option<GateDemand>,
    /// Usage, one or more lines, behind the line of the shared flags; ends with a line feed or is empty.
    pub usage: &'static str,
}

/// What one family demands of valid gates. The error is 78.
pub type GateDemand = fn(&Gates) -> Result<(), Refusal>;

/// A flag of `run`.
#[derive(Clone, Copy, Debug)]
pub struct Flag {
    /// With its two hyphens.
    pub name: &'static str,
    /// What follows it.
    pub value: FlagValue,
}

/// What follows a flag.
#[derive(Clone, Copy, Debug)]
pub enum FlagValue {
    /// Nothing.
    None,
    /// A path, which is looked at once the gates allow the run.
    Path,
    /// What this accepts, whatever the gates say. The error is 64.
    Checked(fn(&OsStr) -> Result<(), Refusal>),
}

/// A command of one family.
#[derive(Clone, Copy, Debug)]
pub struct OwnCommand {
    /// Its word.
    pub name: &'static str,
    /// Accepts the words behind it. The error is 64.
    pub check: fn(&[OsString]) -> Result<(), Refusal>,
}

/// Binds an evaluation to a manifest (runners.md 1.8).
pub const EVALUATION_MANIFEST: Flag = Flag { name: "--evaluation-manifest", value: FlagValue::Path };
/// Ends an evaluation before any request (runners.md 1.8).
pub const PREFLIGHT_ONLY: Flag = Flag { name: "--preflight-only", value: FlagValue::None };

impl Family {
    /// The one backend.
    pub const fn backend(&self) -> &'static str {
        self.gate.backend
    }

    pub(super) fn flag(&self, name: &str) -> Option<Flag> {
        self.flags.iter().copied().find(|flag| flag.name == name)
    }

    /// Demands that the runner implements a lane.
    pub(super) fn demand_lane(&self, lane: &str) -> Result<(), Refusal> {
        if self.lanes.contains(&lane) {
            return Ok(());
        }
        Err(Refusal::new(self.unknown_lane, format!("{} has no lane {lane}", self.program)))
    }
}
