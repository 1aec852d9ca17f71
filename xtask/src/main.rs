//! `cargo xtask`: the chores of this workspace.

mod failure;
mod fixtures;
mod npm;
mod real;
mod suite;
mod tally;
mod versions;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use testkit::real::Component;

/// The chores of this workspace.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Debug, Subcommand)]
enum Chore {
    /// Real components for the tests
    Real {
        #[command(subcommand)]
        action: RealAction,
    },
    /// Compare the pinned versions of the real components with the newest ones
    Versions {
        /// Move the pins
        #[arg(long)]
        update: bool,
    },
    /// Run the real CLIs and keep their streams as fixtures of the provider crate
    Fixtures {
        /// Only these CLIs
        #[arg(value_parser = component, default_values = ["claude", "codex", "opencode", "pi"])]
        components: Vec<Component>,
        /// Only this case
        #[arg(long)]
        case: Option<String>,
    },
    /// Format check, lints, documentation, and every test
    Test {
        /// Fail when a test of a real component was skipped
        #[arg(long)]
        require_real: bool,
    },
}

#[derive(Debug, Subcommand)]
enum RealAction {
    /// Install at the pinned versions under target/real
    Install {
        /// Which ones
        #[arg(value_parser = component, default_values = ["claude", "codex", "opencode", "pi"])]
        components: Vec<Component>,
    },
}

fn main() -> ExitCode {
    let done = match Arguments::parse().chore {
        Chore::Real { action: RealAction::Install { components } } => real::install(&components),
        Chore::Versions { update } => versions::run(update),
        Chore::Fixtures { components, case } => fixtures::run(&components, case.as_deref()),
        Chore::Test { require_real } => suite::run(require_real),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("xtask: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn component(name: &str) -> Result<Component, String> {
    Component::named(name).ok_or_else(|| {
        let names = Component::ALL.map(Component::name);
        format!("one of {}", names.join(", "))
    })
}
