//! Builds fuzz targets with coverage counters.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use super::target::{Target, products};
use crate::failure::Failure;

/// Counters for edges and comparisons, as libFuzzer reads them; all of these are stable flags.
const FLAGS: [&str; 6] = [
    "--cfg=fuzzing",
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
];

/// Builds the programs of these targets, each workspace once.
pub(crate) fn build(targets: &[Target]) -> Result<(), Failure> {
    let host = host()?;
    for workspace in targets.chunk_by(|left, right| left.workspace() == right.workspace()) {
        let mut command = Command::new(cargo());
        command
            // A target is named so that build scripts go without the counters.
            .args(["build", "--release", "--target", &host])
            .args(workspace.iter().flat_map(|target| ["--bin", target.program()]))
            .env("CARGO_TARGET_DIR", products())
            .env("CARGO_ENCODED_RUSTFLAGS", FLAGS.join("\u{1f}"))
            .env("CARGO_PROFILE_RELEASE_DEBUG", "line-tables-only")
            .env("CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS", "true")
            .env("CARGO_PROFILE_RELEASE_OVERFLOW_CHECKS", "true")
            .current_dir(workspace[0].workspace())
            .stdin(Stdio::null());
        let status = command.status().map_err(not_started)?;
        if !status.success() {
            return Err(Failure::Program(format!(
                "building the fuzz targets of {}",
                workspace[0].workspace().display()
            )));
        }
    }
    Ok(())
}

/// Where the program of a target lies once it is built.
pub(crate) fn program(target: &Target) -> Result<PathBuf, Failure> {
    Ok(products().join(host()?).join("release").join(target.program()))
}

/// The name of this machine's kind, as the compiler words it.
fn host() -> Result<String, Failure> {
    let output = Command::new("rustc").arg("-vV").stdin(Stdio::null()).output().map_err(not_started)?;
    let text = String::from_utf8_lossy(&output.stdout);
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| Failure::Program("rustc -vV".to_owned()))
}

fn cargo() -> std::ffi::OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

fn not_started(source: std::io::Error) -> Failure {
    Failure::Start { program: "cargo".to_owned(), source }
}
