//! Arguments of the commands that look after a whole root: `doctor`, `prune`.

use clap::Args;
use record::Span;

use super::Globals;

/// Arguments of `doctor`.
#[derive(Clone, Debug, Args)]
pub(crate) struct Doctor {
    /// Put right what is derived from the records: journal, markers, cache, staging; never a record
    #[arg(long)]
    pub(crate) repair: bool,
    #[command(flatten)]
    pub(crate) globals: Globals,
}

/// Arguments of `prune`.
#[derive(Clone, Debug, Args)]
pub(crate) struct Prune {
    /// Remove the content of tasks that ended at least so long ago, such as 720h
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true)]
    pub(crate) older_than: Span,
    /// Say what would be removed, and remove nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Go on although the clock can not be believed
    #[arg(long)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) globals: Globals,
}
