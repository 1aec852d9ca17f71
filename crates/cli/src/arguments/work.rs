//! Arguments of the commands that ask for a turn, or about one: `dispatch`, `continue`, `preflight`, `models`.

use std::path::PathBuf;

use clap::{ArgGroup, Args};
use record::limits::{BUDGET_DEFAULT_SECONDS, LEASE_WAIT_DEFAULT_SECONDS, OUTPUT_DEFAULT_BYTES};
use record::words::{Fence, Permission};
use record::{ByteSize, ProfileId, Span, TaskId};

use super::Globals;
use super::values::{profile_id, words};

/// How `dispatch` is used, in lines that fit a terminal.
const DISPATCH_USAGE: &str = "\
delegate dispatch [OPTIONS] --brief <FILE> --cwd <ABS>
                         (--provider <NAME> | --auto)";

/// Arguments of `dispatch`.
#[derive(Clone, Debug, Args)]
#[command(
    override_usage = DISPATCH_USAGE,
    group = ArgGroup::new("worker").args(["provider", "auto"]).required(true)
)]
pub(crate) struct Dispatch {
    /// The profile that does the work, such as codex:exec
    #[arg(long, value_name = "NAME", value_parser = profile_id(), hide_possible_values = true, allow_hyphen_values = true)]
    pub(crate) provider: Option<ProfileId>,
    /// Take the first profile that can serve the request now
    #[arg(long, conflicts_with = "resume_task")]
    auto: bool,
    /// File with the task in words; - reads standard input
    #[arg(long, value_name = "FILE", allow_hyphen_values = true)]
    pub(crate) brief: PathBuf,
    /// The workspace, an absolute path
    #[arg(long, value_name = "ABS", allow_hyphen_values = true)]
    pub(crate) cwd: PathBuf,
    /// Id of the task, for a dispatch that can be repeated safely [default: a random one]
    #[arg(long, value_name = "ID", allow_hyphen_values = true)]
    pub(crate) id: Option<TaskId>,
    #[command(flatten)]
    pub(crate) mode: Mode,
    #[command(flatten)]
    pub(crate) wishes: Wishes,
    #[command(flatten)]
    pub(crate) lane: Lane,
    /// Largest output per stream; more ends the turn
    #[arg(long, value_name = "SIZE", default_value = OUTPUT_DEFAULT, allow_hyphen_values = true)]
    pub(crate) max_output: ByteSize,
    /// End the turn when its first output takes longer
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true)]
    pub(crate) first_output: Option<Span>,
    /// Give up when the turn was not started within this time
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true)]
    pub(crate) start_by: Option<Span>,
    /// Longest wait for another turn that writes in the same workspace
    #[arg(long, value_name = "DURATION", default_value_t = Span::from_seconds(LEASE_WAIT_DEFAULT_SECONDS), hide_default_value = true, help = "Longest wait for another turn that writes in the same workspace [default: 1h]", allow_hyphen_values = true)]
    pub(crate) lease_wait: Span,
    /// Most main memory for all processes of the turn together
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    pub(crate) memory: Option<ByteSize>,
    /// Most processes and threads of the turn at once
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), allow_hyphen_values = true)]
    pub(crate) pids: Option<u32>,
    /// Most processor time for the turn, in processors
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), allow_hyphen_values = true)]
    pub(crate) cpus: Option<u32>,
    /// Go on with the conversation of this ended task
    #[arg(long, value_name = "ID", allow_hyphen_values = true)]
    pub(crate) resume_task: Option<TaskId>,
    /// With --resume-task: although the conversation has already gone on in another task
    #[arg(long, requires = "resume_task")]
    pub(crate) from_earlier: bool,
    #[command(flatten)]
    pub(crate) following: Following,
    #[command(flatten)]
    pub(crate) globals: Globals,
}

/// The text of [`OUTPUT_DEFAULT_BYTES`] in help texts.
const OUTPUT_DEFAULT: &str = "256MiB";
const _: () = assert!(OUTPUT_DEFAULT_BYTES == 256 << 20);

/// Permission and budget, with their defaults.
#[derive(Clone, Debug, Args)]
pub(crate) struct Mode {
    /// What the turn may change
    #[arg(long, value_name = "MODE", default_value = "read-only", value_parser = words(Permission::ALL, Permission::as_str), allow_hyphen_values = true)]
    pub(crate) permission: Permission,
    /// Wall-clock time for the turn; waiting in the queue does not count
    #[arg(long, value_name = "DURATION", default_value_t = Span::from_seconds(BUDGET_DEFAULT_SECONDS), hide_default_value = true, help = "Wall-clock time for the turn; waiting in the queue does not count [default: 30m]", allow_hyphen_values = true)]
    pub(crate) budget: Span,
}

/// What may be asked of every turn.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Wishes {
    /// The model to ask for
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    pub(crate) model: Option<String>,
    /// The effort to ask for
    #[arg(long, value_name = "LEVEL", allow_hyphen_values = true)]
    pub(crate) effort: Option<String>,
    /// Time limit handed to the CLI itself, at most the budget
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true)]
    pub(crate) native_timeout: Option<Span>,
    /// File of secret environment values, NAME=VALUE lines, mode 0600
    #[arg(long, value_name = "ABS", allow_hyphen_values = true)]
    pub(crate) env_file: Option<PathBuf>,
    /// Who limits where the turn may write [default: what the profile says for the mode]
    #[arg(long, value_name = "WHO", value_parser = words(Fence::ALL, Fence::as_str), allow_hyphen_values = true)]
    pub(crate) fence: Option<Fence>,
}

/// What a family runner is asked for beside.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Lane {
    /// The lane of a family runner (qwen:run and its like), which the gates must allow
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    pub(crate) lane: Option<String>,
    /// Accept a lane that is provisional, not qualified
    #[arg(long)]
    pub(crate) allow_provisional: bool,
}

/// Whether the command follows the turn.
#[derive(Clone, Debug, Args)]
pub(crate) struct Following {
    /// Follow the turn to its end and print the answer; interrupting this leaves the turn alone
    #[arg(long)]
    pub(crate) wait: bool,
    /// With --wait: stop watching after this time; the turn goes on
    #[arg(long, value_name = "DURATION", requires = "wait", allow_hyphen_values = true)]
    pub(crate) watch: Option<Span>,
}

/// Arguments of `continue`.
#[derive(Clone, Debug, Args)]
pub(crate) struct Continue {
    /// The ended task whose conversation goes on
    #[arg(long, value_name = "ID", allow_hyphen_values = true)]
    pub(crate) task: TaskId,
    /// Id of the new task [default: a random one]
    #[arg(long, value_name = "ID", allow_hyphen_values = true)]
    pub(crate) id: Option<TaskId>,
    /// File with the next step in words; - reads standard input [default: the same brief again]
    #[arg(long, value_name = "FILE", allow_hyphen_values = true)]
    pub(crate) brief: Option<PathBuf>,
    /// Wall-clock time for the turn [default: that of the ended task]
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true)]
    pub(crate) budget: Option<Span>,
    #[command(flatten)]
    pub(crate) wishes: Wishes,
    /// Although the conversation has already gone on in another task
    #[arg(long)]
    pub(crate) from_earlier: bool,
    #[command(flatten)]
    pub(crate) following: Following,
    #[command(flatten)]
    pub(crate) globals: Globals,
}

/// Arguments of `preflight`.
#[derive(Clone, Debug, Args)]
pub(crate) struct Preflight {
    /// The profile, such as codex:exec
    #[arg(long, value_name = "NAME", value_parser = profile_id(), hide_possible_values = true, allow_hyphen_values = true)]
    pub(crate) provider: ProfileId,
    /// The workspace, an absolute path
    #[arg(long, value_name = "ABS", allow_hyphen_values = true)]
    pub(crate) cwd: PathBuf,
    #[command(flatten)]
    pub(crate) mode: Mode,
    #[command(flatten)]
    pub(crate) wishes: Wishes,
    #[command(flatten)]
    pub(crate) lane: Lane,
    #[command(flatten)]
    pub(crate) globals: Globals,
}

/// Arguments of `models`.
#[derive(Clone, Debug, Args)]
pub(crate) struct Models {
    /// The profile, such as codex:exec
    #[arg(long, value_name = "NAME", value_parser = profile_id(), hide_possible_values = true, allow_hyphen_values = true)]
    pub(crate) provider: ProfileId,
    /// Where the program is asked [default: the current directory]
    #[arg(long, value_name = "ABS", allow_hyphen_values = true)]
    pub(crate) cwd: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) globals: Globals,
}
