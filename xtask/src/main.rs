//! `cargo xtask`: the chores of this workspace.

mod acceptance;
mod bench;
mod dist;
mod docs;
mod endurance;
mod failure;
mod fixtures;
mod fuzz;
mod matrix;
mod npm;
mod pueue;
mod real;
mod slurm;
mod suite;
mod tally;
mod versions;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use testkit::real::Component;

use failure::Failure;

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
    /// Measure what a turn costs, beside pueue and task spooler
    Bench {
        /// Only these parts
        #[arg(value_enum)]
        parts: Vec<bench::Part>,
        /// Samples of each latency
        #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..))]
        samples: u32,
    },
    /// Count what a task asks of the file system under its root, with strace, for docs/scaling.md
    Operations,
    /// Write the schemas, and the parts of the documentation that are generated
    Docs,
    /// Run every kind of turn with every real CLI and compare with docs/providers.md
    Matrix {
        /// Write what is seen into the page
        #[arg(long)]
        write: bool,
    },
    /// Play every cell of the crash matrix and every damage to the state, and print the table
    CrashMatrix {
        /// Only what has this in its name, such as store.seal; with a space, also part of what is done: "turn.go PowerCut"
        part: Option<String>,
    },
    /// Let ten at once look, cancel, check and tidy up on the same tasks
    Crowd {
        /// For so long, in seconds
        #[arg(long, default_value_t = 60)]
        seconds: u32,
    },
    /// Explore the model of the protocol
    Model {
        /// Faults in one history
        #[arg(long, default_value_t = 12)]
        faults: u8,
    },
    /// Very many tasks behind two slots, and a supervisor that is killed again and again
    QueueStorm {
        /// Number of tasks
        #[arg(long, default_value_t = 1_000)]
        tasks: u32,
        /// How often the supervisor is killed
        #[arg(long, default_value_t = 10)]
        deaths: u32,
    },
    /// Live turns with the CLIs that are installed and signed in here: they cost money; exit 0 passed, 1 failed, 2 BLOCKED
    Acceptance(acceptance::Options),
    /// Make the files of a release: archive, checksums, installers, npm package, Homebrew formula
    Dist(dist::Options),
    /// Fuzz every target for its share of the time
    Fuzz {
        /// Only these, as ROOM or ROOM:TARGET
        targets: Vec<String>,
        /// Time of all together
        #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..))]
        minutes: u32,
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
    /// Install at the pinned versions under target/real, and Slurm by the package manager
    Install {
        /// Which ones
        #[arg(value_parser = component, default_values = ["bun", "claude", "codex", "opencode", "pi", "pnpm"])]
        components: Vec<Component>,
    },
}

fn main() -> ExitCode {
    let done = match Arguments::parse().chore {
        Chore::Real { action: RealAction::Install { components } } => real::install(&components)
            .and_then(|()| pueue::install().map(drop))
            .and_then(|()| slurm::install()),
        Chore::Versions { update } => versions::run(update),
        Chore::Fixtures { components, case } => fixtures::run(&components, case.as_deref()),
        Chore::Bench { parts, samples } => bench::run(&parts, samples as usize),
        Chore::Operations => bench::operations::run_all(),
        Chore::Docs => docs::write(),
        Chore::Matrix { write } => matrix::run(write),
        Chore::CrashMatrix { part } => endurance::crash_matrix(part.as_deref()),
        Chore::Crowd { seconds } => endurance::crowd(seconds),
        Chore::Model { faults } => endurance::model(faults),
        Chore::QueueStorm { tasks, deaths } => endurance::queue_storm(tasks, deaths),
        Chore::Acceptance(options) => return ended(acceptance::run(&options)),
        Chore::Dist(options) => dist::run(&options),
        Chore::Fuzz { targets, minutes } => fuzz::run(&targets, minutes),
        Chore::Test { require_real } => suite::run(require_real),
    };
    ended(done.map(|()| ExitCode::SUCCESS))
}

fn ended(done: Result<ExitCode, Failure>) -> ExitCode {
    match done {
        Ok(code) => code,
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
