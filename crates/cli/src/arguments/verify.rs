//! Arguments of `verify`.

use std::path::PathBuf;

use clap::Args;
use record::TaskId;

use super::Globals;

/// Arguments of `verify`.
#[derive(Clone, Debug, Args)]
pub(crate) struct Verify {
    /// The task whose result holds the patch
    #[arg(value_name = "ID")]
    pub(crate) task: TaskId,
    /// The worktree that the patch is meant for
    #[arg(long, value_name = "DIR", allow_hyphen_values = true)]
    pub(crate) workdir: PathBuf,
    /// Let deletions pass
    #[arg(long)]
    pub(crate) allow_delete: bool,
    #[command(flatten)]
    pub(crate) globals: Globals,
}
