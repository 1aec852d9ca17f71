//! Takes samples of several subjects in turn.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::limits::WARM_UP_COUNT;
use super::table::{Samples, Unit};
use crate::failure::Failure;

/// One thing to measure: takes a sample, leaves quiet behind. What went before the sample and comes after it is not in the
/// time that it returns.
pub(super) type Subject<'a> = Box<dyn FnMut() -> Result<Duration, Failure> + 'a>;

/// Samples of each subject in milliseconds. Each round begins with another subject, so that none always follows the same one.
pub(super) fn take(count: usize, mut subjects: Vec<Subject<'_>>) -> Result<Vec<Samples>, Failure> {
    let mut taken = vec![Vec::with_capacity(count); subjects.len()];
    for round in 0..WARM_UP_COUNT + count {
        for position in 0..subjects.len() {
            let index = (round + position) % subjects.len();
            let time = subjects[index]()?;
            if round >= WARM_UP_COUNT {
                taken[index].push(time.as_secs_f64() * 1e3);
            }
        }
    }
    Ok(taken.into_iter().map(|values| Samples::new(values, Unit::Milliseconds)).collect())
}

/// How long a command takes, from before its start until it was reaped.
pub(super) fn time(command: &mut Command) -> Result<Duration, Failure> {
    let begun = Instant::now();
    run(command)?;
    Ok(begun.elapsed())
}

/// Runs a command that must succeed; nobody reads what it prints.
pub(super) fn run(command: &mut Command) -> Result<(), Failure> {
    let status = quiet(command).status().map_err(|source| not_started(command, source))?;
    if status.success() { Ok(()) } else { Err(Failure::Program(format!("{command:?}"))) }
}

/// Runs a command that must succeed; returns what it prints.
pub(super) fn read(command: &mut Command) -> Result<Vec<u8>, Failure> {
    let output =
        quiet(command).stdout(Stdio::piped()).output().map_err(|source| not_started(command, source))?;
    if output.status.success() { Ok(output.stdout) } else { Err(Failure::Program(format!("{command:?}"))) }
}

/// What [`run`] and [`read`] do with the streams.
pub(super) fn quiet(command: &mut Command) -> &mut Command {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null())
}

/// The failure of a command that could not be started.
pub(super) fn not_started(command: &Command, source: std::io::Error) -> Failure {
    Failure::Start { program: command.get_program().to_string_lossy().into_owned(), source }
}
