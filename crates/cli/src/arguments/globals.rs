//! The flags that may stand before or after the command.

use std::path::PathBuf;

use clap::Args;
use record::words::SupervisorKind;

use super::values::words;

/// The global flags as given in one of the two places.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Global options, before or after the command")]
pub(crate) struct Globals {
    /// The state root, an absolute path [default: delegation-layer in the user's configuration directory]
    #[arg(long, value_name = "ABS", allow_hyphen_values = true)]
    pub(crate) root: Option<PathBuf>,
    /// Who owns the runner: embedded, pueue or slurm [default: embedded, or pueue with its configuration]
    #[arg(long, value_name = "KIND", value_parser = words(SupervisorKind::ALL, SupervisorKind::as_str), hide_possible_values = true, allow_hyphen_values = true)]
    pub(crate) supervisor: Option<SupervisorKind>,
    /// The configuration of the Pueue that owns the runner [default with --supervisor pueue: a private one in the root]
    #[arg(long, value_name = "ABS", allow_hyphen_values = true)]
    pub(crate) pueue_config: Option<PathBuf>,
    /// The runner's executable [default: delegate-run beside this program, else this program]
    #[arg(long, value_name = "ABS", allow_hyphen_values = true)]
    pub(crate) runner: Option<PathBuf>,
    /// Print the answer as one line of JSON
    #[arg(long)]
    pub(crate) json: bool,
}

impl Globals {
    /// The flags of both places together.
    ///
    /// # Errors
    /// The first flag that stands in both: one flag twice is refused, wherever it stands (predecessor-core 1.1).
    pub(super) fn merged(self, other: &Self) -> Result<Self, &'static str> {
        fn one<T: Clone>(
            first: Option<T>,
            second: Option<&T>,
            flag: &'static str,
        ) -> Result<Option<T>, &'static str> {
            match (first, second) {
                (Some(_), Some(_)) => Err(flag),
                (first, second) => Ok(first.or_else(|| second.cloned())),
            }
        }
        if self.json && other.json {
            return Err("--json");
        }
        Ok(Self {
            root: one(self.root, other.root.as_ref(), "--root <ABS>")?,
            supervisor: one(self.supervisor, other.supervisor.as_ref(), "--supervisor <KIND>")?,
            pueue_config: one(self.pueue_config, other.pueue_config.as_ref(), "--pueue-config <ABS>")?,
            runner: one(self.runner, other.runner.as_ref(), "--runner <ABS>")?,
            json: self.json || other.json,
        })
    }
}
