//! The program `delegation-executor-contract`.

use std::io::{stderr, stdout};
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let environment = gates::source::Environment::of_process();
    contract::command::run(&arguments, &environment, &mut stdout().lock(), &mut stderr().lock()).into()
}
