//! Arguments of the commands that show what happened: `list`, `events`, `logs`.

use clap::Args;
use record::history::TaskState;
use record::{ProfileId, Span, TaskId};

use super::Globals;
use super::values::{profile_id, words};
use crate::limits::{LIST_DEFAULT_COUNT, LIST_MAX_COUNT};

/// Arguments of `list`.
#[derive(Clone, Debug, Args)]
pub(crate) struct List {
    /// Only tasks that stand so
    #[arg(long, value_name = "STATE", value_parser = words(TaskState::ALL, TaskState::as_str), allow_hyphen_values = true)]
    pub(crate) state: Option<TaskState>,
    /// Only tasks of this profile, such as codex:exec
    #[arg(long, value_name = "NAME", value_parser = profile_id(), hide_possible_values = true, allow_hyphen_values = true)]
    pub(crate) provider: Option<ProfileId>,
    /// Only tasks that were admitted at most so long ago, such as 24h
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true)]
    pub(crate) since: Option<Span>,
    /// At most so many, up to 3000
    #[arg(long, value_name = "N", default_value_t = LIST_DEFAULT_COUNT, value_parser = clap::value_parser!(u32).range(1..=i64::from(LIST_MAX_COUNT)), allow_hyphen_values = true)]
    pub(crate) limit: u32,
    #[command(flatten)]
    pub(super) globals: Globals,
}

/// Arguments of `events`.
#[derive(Clone, Debug, Args)]
pub(crate) struct Events {
    /// Go on with what comes later, until interrupted
    #[arg(long)]
    pub(crate) follow: bool,
    /// Only what comes behind this place: the cursor of an event, or of a list
    #[arg(long, value_name = "CURSOR", allow_hyphen_values = true)]
    pub(crate) since: Option<String>,
    #[command(flatten)]
    pub(super) globals: Globals,
}

/// Arguments of `logs`.
#[derive(Clone, Debug, Args)]
pub(crate) struct Logs {
    /// The task
    #[arg(value_name = "ID")]
    pub(crate) task: TaskId,
    /// Print what the task writes as it comes, to its end
    #[arg(long)]
    pub(crate) follow: bool,
    #[command(flatten)]
    pub(super) globals: Globals,
}
