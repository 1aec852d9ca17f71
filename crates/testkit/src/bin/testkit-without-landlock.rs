//! Runs a command that finds a kernel without Landlock: `testkit-without-landlock COMMAND ARGUMENT…`. A filter answers the
//! three system calls with ENOSYS, for the command and all that it starts.

use std::collections::BTreeMap;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use seccompiler::{BpfProgram, SeccompAction, SeccompFilter};

/// Exit status when the command could not be started, as a shell has it.
const NOT_STARTED: u8 = 127;
/// `landlock_create_ruleset`, `landlock_add_rule`, `landlock_restrict_self`: the same numbers on every architecture.
const LANDLOCK_CALLS: [i64; 3] = [444, 445, 446];
/// ENOSYS of Linux.
const NOT_IMPLEMENTED: u32 = 38;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let Some(program) = arguments.next() else {
        eprintln!("usage: testkit-without-landlock COMMAND ARGUMENT…");
        return ExitCode::from(2);
    };
    if let Err(error) = hide_landlock() {
        eprintln!("testkit-without-landlock: {error}");
        return ExitCode::from(NOT_STARTED);
    }
    let error = Command::new(&program).args(arguments).exec();
    eprintln!("testkit-without-landlock: {}: {error}", program.display());
    ExitCode::from(NOT_STARTED)
}

fn hide_landlock() -> Result<(), Box<dyn std::error::Error>> {
    let filter = SeccompFilter::new(
        LANDLOCK_CALLS.map(|call| (call, Vec::new())).into_iter().collect::<BTreeMap<_, _>>(),
        SeccompAction::Allow,
        SeccompAction::Errno(NOT_IMPLEMENTED),
        std::env::consts::ARCH.try_into()?,
    )?;
    let program: BpfProgram = filter.try_into()?;
    seccompiler::apply_filter(&program)?;
    Ok(())
}
