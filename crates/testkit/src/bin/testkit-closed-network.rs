//! Runs a command in a network that holds nothing but loopback: `testkit-closed-network COMMAND ARGUMENT…`.

use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

/// Exit status when the command could not be started, as a shell has it.
const NOT_STARTED: u8 = 127;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let Some(program) = arguments.next() else {
        eprintln!("usage: testkit-closed-network COMMAND ARGUMENT…");
        return ExitCode::from(2);
    };
    if let Err(reason) = testkit::closed_network::enter() {
        eprintln!("testkit-closed-network: {reason}");
        return ExitCode::from(NOT_STARTED);
    }
    let error = Command::new(&program).args(arguments).exec();
    eprintln!("testkit-closed-network: {}: {error}", program.display());
    ExitCode::from(NOT_STARTED)
}
