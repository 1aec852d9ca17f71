//! What tells one runner from another before it does anything.

use super::exit::Exit;

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
    pub commands: &'static [&'static str],
    /// Whether the gates are read before the command line, so that even `--help` fails where they are bad (GLM, runners.md 2.1).
    pub gates_first: bool,
    /// Usage, one or more lines, behind the line of the shared flags; ends with a line feed or is empty.
    pub usage: &'static str,
}

/// A flag of `run`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flag {
    /// With its two hyphens.
    pub name: &'static str,
    /// Whether a value follows.
    pub takes_value: bool,
}

/// Binds an evaluation to a manifest (runners.md 1.8).
pub const EVALUATION_MANIFEST: Flag = Flag { name: "--evaluation-manifest", takes_value: true };
/// Ends an evaluation before any request (runners.md 1.8).
pub const PREFLIGHT_ONLY: Flag = Flag { name: "--preflight-only", takes_value: false };

impl Family {
    /// The one backend.
    pub const fn backend(&self) -> &'static str {
        self.gate.backend
    }

    pub(super) fn flag(&self, name: &str) -> Option<Flag> {
        self.flags.iter().copied().find(|flag| flag.name == name)
    }
}
