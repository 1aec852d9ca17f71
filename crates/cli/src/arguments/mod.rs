//! The command line as types (CLI.md "delegate", predecessor-core 1.1 and 1.2).
//!
//! Every rule of form is here: which words and flags exist, that none is given twice, how values are written. What a
//! well-formed request may not ask for is in `commands::dispatch`.

mod globals;
mod history;
mod parse;
mod reference;
mod upkeep;
mod values;
mod verify;
mod work;

#[cfg(test)]
mod tests;

use std::path::PathBuf;

use clap::{ArgAction, Args, ColorChoice, Parser, Subcommand};
use record::{ProfileId, Span, TaskId};

pub(crate) use globals::Globals;
pub(crate) use history::{Events, List, Logs};
pub(crate) use parse::{Ended, asks_for_json, built, help, parse, parse_runner};
pub(crate) use reference::{Completions, Man, Schema};
pub(crate) use upkeep::{Doctor, Prune};
pub(crate) use verify::Verify;
pub(crate) use work::{Continue, Dispatch, Following, Lane, Mode, Models, Preflight, Wishes};

use crate::limits::HELP_COLUMNS;
use values::{command_word, profile_id};

/// What a newcomer reads below the list of commands.
const FIRST_STEPS: &str = "\
First steps:
  delegate quickstart     a whole turn on this directory, offline
  delegate providers      whom work can be given to
  delegate list           the newest tasks, and how they stand
  delegate status ID      look at a task, from any process, at any time

  echo 'Where does this program start?' |
    delegate dispatch --provider codex:exec --brief - --cwd \"$PWD\" --wait

Durations are written 90s, 30m or 1h30m; sizes as bytes, or with KiB, MiB or
GiB. DELEGATE_ROOT and DELEGATE_SUPERVISOR stand for the flags; DELEGATE_SLOTS
bounds what runs at once.
Exit codes: 0 done, 1 operational fault, 2 invalid or unsupported request,
3 not ended when the watch was over, 4 ended with a rejected outcome.";

/// The command line of `delegate`.
#[derive(Debug, Parser)]
#[command(
    name = "delegate",
    version,
    about = "Gives one bounded turn of work to an AI coding CLI and keeps the evidence",
    after_help = FIRST_STEPS,
    color = ColorChoice::Never,
    max_term_width = HELP_COLUMNS,
    disable_help_subcommand = true,
    disable_version_flag = true,
    subcommand_value_name = "COMMAND",
    override_usage = "delegate [GLOBAL OPTIONS] COMMAND [OPTIONS]"
)]
pub(crate) struct CommandLine {
    /// What to do
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Print the version
    #[arg(short = 'V', long, action = ArgAction::Version)]
    version: Option<bool>,
    #[command(flatten)]
    globals: Globals,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a first turn, offline, and show what it leaves behind
    Quickstart(Quickstart),
    /// Admit one turn and hand it to the supervisor
    Dispatch(Box<Dispatch>),
    /// Go on with the conversation of an ended task, as a new task
    Continue(Box<Continue>),
    /// Say what a task is doing, or how it ended
    Status(OneTask),
    /// Fetch the outcome of a task: where the answer is, and its digest
    Collect(Collect),
    /// Wait for tasks to end; interrupting this leaves them alone
    Wait(Wait),
    /// Show the raw output of a task
    Logs(Logs),
    /// List the tasks of the root, newest first
    List(List),
    /// Print what happened in the root, one JSON object a line
    Events(Events),
    /// Ask a task to end
    Cancel(Cancel),
    /// Judge the patch in the result of a task; nothing is applied
    Verify(Verify),
    /// List the profiles: whom work can be given to
    Providers(Bare),
    /// Say what one profile can do
    Capabilities(Capabilities),
    /// Check everything that a dispatch would check, without a task
    Preflight(Box<Preflight>),
    /// List the models that a profile's program knows
    Models(Models),
    /// Look at the host and at every record of the root
    Doctor(Doctor),
    /// Remove the content of tasks that ended long ago; what they were stays
    Prune(Prune),
    /// Print the completion script of a shell
    Completions(Completions),
    /// Print the manual page of the program, or of one command
    Man(Man),
    /// Print the JSON Schema of an answer, a record or a file
    Schema(Schema),
    /// Explain the commands
    Help(Help),
    /// Print the version, and what the program was built from
    Version(Bare),
}

impl Command {
    /// The word that chooses the command.
    pub(crate) const fn word(&self) -> &'static str {
        match self {
            Self::Quickstart(_) => "quickstart",
            Self::Dispatch(_) => "dispatch",
            Self::Continue(_) => "continue",
            Self::Status(_) => "status",
            Self::Collect(_) => "collect",
            Self::Wait(_) => "wait",
            Self::Logs(_) => "logs",
            Self::Cancel(_) => "cancel",
            Self::Providers(_) => "providers",
            Self::Capabilities(_) => "capabilities",
            Self::Preflight(_) => "preflight",
            Self::Models(_) => "models",
            Self::Verify(_) => "verify",
            Self::List(_) => "list",
            Self::Events(_) => "events",
            Self::Doctor(_) => "doctor",
            Self::Prune(_) => "prune",
            Self::Completions(_) => "completions",
            Self::Man(_) => "man",
            Self::Schema(_) => "schema",
            Self::Help(_) => "help",
            Self::Version(_) => "version",
        }
    }

    const fn globals(&self) -> &Globals {
        match self {
            Self::Quickstart(arguments) => &arguments.globals,
            Self::Dispatch(arguments) => &arguments.globals,
            Self::Continue(arguments) => &arguments.globals,
            Self::Preflight(arguments) => &arguments.globals,
            Self::Models(arguments) => &arguments.globals,
            Self::Status(arguments) => &arguments.globals,
            Self::Logs(arguments) => &arguments.globals,
            Self::List(arguments) => &arguments.globals,
            Self::Events(arguments) => &arguments.globals,
            Self::Completions(arguments) => &arguments.globals,
            Self::Man(arguments) => &arguments.globals,
            Self::Schema(arguments) => &arguments.globals,
            Self::Collect(arguments) => &arguments.globals,
            Self::Wait(arguments) => &arguments.globals,
            Self::Cancel(arguments) => &arguments.globals,
            Self::Providers(arguments) | Self::Version(arguments) => &arguments.globals,
            Self::Capabilities(arguments) => &arguments.globals,
            Self::Verify(arguments) => &arguments.globals,
            Self::Doctor(arguments) => &arguments.globals,
            Self::Prune(arguments) => &arguments.globals,
            Self::Help(arguments) => &arguments.globals,
        }
    }
}

/// Arguments of a command that takes one task and nothing else.
#[derive(Clone, Debug, Args)]
pub(crate) struct OneTask {
    /// The task
    #[arg(value_name = "ID")]
    pub(crate) task: TaskId,
    #[command(flatten)]
    globals: Globals,
}

/// Arguments of `collect`.
#[derive(Clone, Debug, Args)]
pub(crate) struct Collect {
    /// The task
    #[arg(value_name = "ID")]
    pub(crate) task: TaskId,
    /// Wait so long for its end
    #[arg(long, value_name = "DURATION", default_value_t = Span::ZERO, allow_hyphen_values = true)]
    pub(crate) watch: Span,
    #[command(flatten)]
    globals: Globals,
}

/// Arguments of `wait`.
#[derive(Clone, Debug, Args)]
pub(crate) struct Wait {
    /// The tasks
    #[arg(value_name = "ID", required = true)]
    pub(crate) tasks: Vec<TaskId>,
    /// Until all have ended (the default)
    #[arg(long, conflicts_with = "any")]
    all: bool,
    /// Until one has ended
    #[arg(long)]
    pub(crate) any: bool,
    /// Stop watching after this time; the tasks go on [default: never]
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true)]
    pub(crate) watch: Option<Span>,
    #[command(flatten)]
    globals: Globals,
}

/// Arguments of `cancel`.
#[derive(Clone, Debug, Args)]
pub(crate) struct Cancel {
    /// The task
    #[arg(value_name = "ID")]
    pub(crate) task: TaskId,
    /// Wait so long for its end
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true)]
    pub(crate) watch: Option<Span>,
    /// State that the process of the turn is gone, where nobody here can see it
    #[arg(long)]
    pub(crate) declare_lost: bool,
    #[command(flatten)]
    globals: Globals,
}

/// Arguments of `capabilities`.
#[derive(Clone, Debug, Args)]
pub(crate) struct Capabilities {
    /// The profile, such as codex:exec
    #[arg(long, value_name = "NAME", value_parser = profile_id(), hide_possible_values = true, allow_hyphen_values = true)]
    pub(crate) provider: ProfileId,
    #[command(flatten)]
    globals: Globals,
}

/// Arguments of `quickstart`.
#[derive(Clone, Debug, Args)]
pub(crate) struct Quickstart {
    /// The directory to look at [default: this one]
    #[arg(long, value_name = "DIR", allow_hyphen_values = true)]
    pub(crate) cwd: Option<PathBuf>,
    /// File with the task in words; - reads standard input [default: a built-in one]
    #[arg(long, value_name = "FILE", allow_hyphen_values = true)]
    pub(crate) brief: Option<PathBuf>,
    /// Give the turn to this profile instead; a real CLI uses the network, and perhaps money
    #[arg(long, value_name = "NAME", value_parser = profile_id(), hide_possible_values = true, allow_hyphen_values = true)]
    pub(crate) provider: Option<ProfileId>,
    #[command(flatten)]
    globals: Globals,
}

/// Arguments of `help`.
#[derive(Clone, Debug, Args)]
pub(crate) struct Help {
    /// The command to explain [default: all of them]
    #[arg(value_name = "COMMAND", value_parser = command_word(), hide_possible_values = true)]
    pub(crate) command: Option<String>,
    #[command(flatten)]
    globals: Globals,
}

/// Arguments of a command that takes none of its own.
#[derive(Clone, Debug, Args)]
pub(crate) struct Bare {
    #[command(flatten)]
    globals: Globals,
}

/// The command line of `delegate-run`, and of the hidden runner word.
#[derive(Debug, Parser)]
#[command(
    name = "delegate-run",
    version,
    about = "Runs one admitted task to its end; started by a supervisor",
    color = ColorChoice::Never,
    max_term_width = HELP_COLUMNS,
    disable_version_flag = true
)]
pub(crate) struct RunnerLine {
    /// The state root, an absolute path
    #[arg(long, value_name = "ABS", allow_hyphen_values = true)]
    pub(crate) root: PathBuf,
    /// The task
    #[arg(value_name = "ID")]
    pub(crate) task: TaskId,
    /// Print the task answer as JSON at the end
    #[arg(long)]
    pub(crate) json: bool,
    /// Print the version
    #[arg(short = 'V', long, action = ArgAction::Version)]
    version: Option<bool>,
}
