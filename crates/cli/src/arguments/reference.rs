//! Arguments of the commands that describe the program itself: `completions`, `man`, `schema`.

use clap::Args;
use clap_complete::Shell;

use super::Globals;
use super::values::{command_word, schema_name};

/// Arguments of `completions`.
#[derive(Clone, Debug, Args)]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub(crate) shell: Shell,
    #[command(flatten)]
    pub(super) globals: Globals,
}

/// Arguments of `man`.
#[derive(Clone, Debug, Args)]
pub(crate) struct Man {
    /// The command to describe [default: the program]
    #[arg(value_name = "COMMAND", value_parser = command_word(), hide_possible_values = true)]
    pub(crate) command: Option<String>,
    #[command(flatten)]
    pub(super) globals: Globals,
}

/// Arguments of `schema`.
#[derive(Clone, Debug, Args)]
pub(crate) struct Schema {
    /// Of what; without it the names are listed
    #[arg(value_name = "NAME", value_parser = schema_name(), hide_possible_values = true)]
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(super) globals: Globals,
}
