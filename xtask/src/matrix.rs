//! The matrix of turns and CLIs, with the cases that need minutes or gigabytes.

use std::process::Command;

use testkit::real::{REQUIRE_REAL_VARIABLE, workspace_directory};

use crate::failure::Failure;
use crate::real;
use crate::suite::COMPONENTS;

/// What the tests look at: `full` for every case, `write` for writing the page too.
const VARIABLE: &str = "DELEGATION_MATRIX";

/// Installs the CLIs and runs the tests of `docs/providers.md`.
pub(crate) fn run(write: bool) -> Result<(), Failure> {
    real::install(&COMPONENTS)?;
    for package_and_test in [["provider", "documentation"], ["cli", "matrix"]] {
        let [package, test] = package_and_test;
        let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let status = Command::new(program)
            .args(["test", "--package", package, "--test", test])
            .env(VARIABLE, if write { "write" } else { "full" })
            .env(REQUIRE_REAL_VARIABLE, "1")
            .current_dir(workspace_directory())
            .status()
            .map_err(|source| Failure::Start { program: "cargo".to_owned(), source })?;
        if !status.success() {
            return Err(Failure::Program(format!("{test} of {package}")));
        }
    }
    Ok(())
}
