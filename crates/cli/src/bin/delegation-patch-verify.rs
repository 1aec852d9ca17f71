//! The program `delegation-patch-verify`.

use std::io::{stderr, stdout};
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let environment = patch::Environment::of_process();
    patch::main_entry(arguments, &environment, &mut stdout().lock(), &mut stderr().lock()).into()
}
