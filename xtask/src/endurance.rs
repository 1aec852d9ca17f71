//! The long versions of what the normal tests sample: every cell of the crash matrix, a bigger model, a bigger storm.

use std::process::{Command, Stdio};

use testkit::real::workspace_directory;

use crate::failure::Failure;

/// Plays every cell of the crash matrix, or those of which `part` is a part of the name, and prints the table; then every
/// damage to the state.
pub(crate) fn crash_matrix(part: Option<&str>) -> Result<(), Failure> {
    let part = part.unwrap_or("all");
    test("cli", "crash_matrix", &[("CRASH_MATRIX", part), ("HOSTILE_STATE", part)])
}

/// Explores the model of the protocol with that many faults in one history.
pub(crate) fn model(faults: u8) -> Result<(), Failure> {
    test("turn", "model", &[("MODEL_FAULTS", &faults.to_string())])
}

/// Queues that many tasks behind two slots and kills the supervisor meanwhile.
pub(crate) fn queue_storm(tasks: u32, deaths: u32) -> Result<(), Failure> {
    let (tasks, deaths) = (tasks.to_string(), deaths.to_string());
    test("cli", "queue_storm", &[("QUEUE_STORM_TASKS", &tasks), ("QUEUE_STORM_DEATHS", &deaths)])
}

/// Lets ten at once look, cancel, check and tidy up on the same tasks for that many seconds.
pub(crate) fn crowd(seconds: u32) -> Result<(), Failure> {
    test("cli", "crowd", &[("CROWD_SECONDS", &seconds.to_string())])
}

fn test(package: &str, name: &str, variables: &[(&str, &str)]) -> Result<(), Failure> {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(program)
        .args(["test", "--quiet", "--all-features", "--package", package, "--test", name])
        .args(["--", "--nocapture", "--test-threads=1"])
        .envs(variables.iter().copied())
        .current_dir(workspace_directory())
        .stdin(Stdio::null())
        .status()
        .map_err(|source| Failure::Start { program: "cargo".to_owned(), source })?;
    if status.success() { Ok(()) } else { Err(Failure::Program(name.to_owned())) }
}
