//! `cargo xtask bench`: what a turn costs, beside what other queues cost, measured in one run.
//!
//! Samples of ours and of the peers alternate, so that the noise of the machine meets all alike: the ratios count, the
//! times are those of one machine at one time, whose state the calibration tells. Everything runs in one temporary folder
//! below `target`, which goes with all that was started in it.
//!
//! | file | what |
//! |---|---|
//! | `world` | the temporary folder; `delegate` in it |
//! | `calibration` | what machine and file system cost at the moment |
//! | `changes` | waiting for files |
//! | `processes` | finding, measuring and ending processes |
//! | `pueue`, `tsp` | the peers |
//! | `rounds` | taking samples in turn |
//! | `table` | samples and rows, as Markdown |
//! | `latency`, `turns`, `memory`, `stored`, `many_tasks`, `codex`, `supervisors` | the measurements |
//! | `operations` | a chore of its own: what a task asks of the file system |

mod calibration;
mod changes;
mod codex;
mod latency;
mod limits;
mod many_tasks;
mod memory;
pub(crate) mod operations;
mod processes;
mod pueue;
mod rounds;
mod stored;
mod supervisors;
mod table;
mod tsp;
mod turns;
mod world;

use std::path::Path;

use clap::ValueEnum;

use crate::failure::Failure;
use table::Row;
use world::{World, Worlds};

/// A part of the benches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Part {
    /// Handing over a job
    Latency,
    /// From handing over to a running job
    Running,
    /// 200 trivial jobs
    Turns,
    /// Anonymous memory of what waits for a job
    Memory,
    /// Handing over to the real codex
    Codex,
    /// Handing over with few and with many tasks in the root
    Stored,
    /// Looking at a root of very many tasks, and removing the content of half of them while turns run
    ManyTasks,
    /// Handing over to each supervisor, and to its queue without us
    Supervisors,
}

/// Runs these parts (none: all) and prints one table.
pub(crate) fn run(parts: &[Part], samples: usize) -> Result<(), Failure> {
    let parts = if parts.is_empty() { Part::value_variants() } else { parts };
    world::build()?;
    let pueue_version = crate::pueue::install()?;
    let tsp = tsp::find();
    let worlds = Worlds::new()?;
    let before = calibration::take(worlds.path())?;
    let mut rows = Vec::new();
    for part in parts {
        let name = part.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned());
        eprintln!("measuring: {name}");
        let world = World::new(&worlds, &name)?;
        rows.extend(measure(*part, &world, samples, tsp.as_deref().map_err(Clone::clone))?);
    }
    let after = calibration::take(worlds.path())?;
    println!("{} pueue {pueue_version}.\n", calibration::machine());
    println!("- before: {before}\n- after: {after}\n");
    print!("{}", table::markdown(&rows));
    Ok(())
}

/// Each part has a world of its own: no part inherits what another left in a root or a queue.
fn measure(
    part: Part,
    world: &World,
    samples: usize,
    tsp: Result<&Path, String>,
) -> Result<Vec<Row>, Failure> {
    let pueue = pueue::Pueue::start(world)?;
    let tsp = tsp.map(|program| tsp::Tsp::new(world, program));
    let tsp = tsp.as_ref().map_err(String::as_str);
    match part {
        Part::Latency => latency::handing_over(world, &pueue, tsp, samples),
        Part::Running => latency::to_running(world, &pueue, tsp, samples),
        Part::Turns => turns::measure(world, &pueue, tsp),
        Part::Memory => memory::measure(world, &pueue),
        Part::Codex => codex::measure(world, &pueue, samples),
        Part::Stored => stored::measure(world, samples),
        Part::ManyTasks => many_tasks::measure(world, samples),
        Part::Supervisors => supervisors::measure(world, &pueue, samples),
    }
}
