//! `cargo xtask fuzz`: every fuzz target of the project for its share of the time.
//!
//! The targets are ordinary programs, built by the toolchain of the project with LLVM's coverage counters and linked
//! with libFuzzer (a C++ compiler builds it). No nightly toolchain is needed, because no sanitizer is used: the rooms that are
//! fuzzed hold no unsafe code, and what is looked for are panics, overflows, broken promises, hangs and memory without bound.
//!
//! Everything that is made lies under `target/fuzz`: programs, the corpus of each target (kept from run to run), logs and
//! findings. Seeds that matter are kept in `crates/ROOM/fuzz/seeds/TARGET`.

mod build;
mod campaign;
mod report;
mod target;

use std::time::Duration;

use crate::failure::Failure;

pub(crate) use campaign::{Campaign, Priority};

/// The target that every run of the continuous integration fuzzes: the only one whose input comes from a stranger.
pub(crate) const ROUTINE_TARGET: &str = "patch:text";
/// How long it does.
pub(crate) const ROUTINE_DURATION: Duration = Duration::from_secs(600);

/// Runs the targets that these words name (none: all), one after the other, `minutes` in all. A finding does not keep the
/// others from running.
pub(crate) fn run(words: &[String], minutes: u32) -> Result<(), Failure> {
    let targets = target::chosen(words)?;
    build::build(&targets)?;
    let share = Duration::from_mins(u64::from(minutes)) / u32::try_from(targets.len()).unwrap_or(u32::MAX);
    println!("{} targets, {} s each", targets.len(), share.as_secs());
    let mut reports = Vec::new();
    for target in targets {
        let report = Campaign::start(target, share, Priority::Normal)?.finish()?;
        println!("{report}");
        reports.push(report);
    }
    match reports.iter().filter(|report| report.has_finding()).count() {
        0 => Ok(()),
        number => Err(Failure::Other(format!("fuzzing: findings in {number} targets"))),
    }
}

/// Builds the routine target and starts it beside whatever comes next, at the lowest priority.
pub(crate) fn start_routine() -> Result<Campaign, Failure> {
    let targets = target::chosen(&[ROUTINE_TARGET.to_owned()])?;
    build::build(&targets)?;
    let target = targets.into_iter().next().ok_or_else(|| Failure::Other(format!("no {ROUTINE_TARGET}")))?;
    Campaign::start(target, ROUTINE_DURATION, Priority::Lowest)
}
