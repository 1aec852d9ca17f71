//! Tests of real components that can not run here say so, and whoever demands them hears about it.

use std::fs::OpenOptions;
use std::io::Write;

/// What begins the line of a skipped test; then `NAME: REASON`.
pub const SKIPPED_PREFIX: &str = "SKIPPED-REAL: ";
/// Set to `1`: a test that would skip fails instead.
pub const REQUIRE_REAL_VARIABLE: &str = "DELEGATION_REQUIRE_REAL";
/// A file that gets the line of every skipped test, since test runners swallow the output of passing tests.
pub const SKIP_LOG_VARIABLE: &str = "DELEGATION_SKIP_LOG";

/// Reports that a test can not run.
///
/// # Panics
/// When real components are demanded, or the report can not be written.
pub fn skip(test: &str, reason: &str) {
    assert!(
        std::env::var_os(REQUIRE_REAL_VARIABLE).is_none_or(|value| value != "1"),
        "{test} must run, but can not: {reason}"
    );
    leave_out(test, reason);
}

/// Reports that a check was left out because this host lacks something that nothing here installs: a linter of the system,
/// or another program to compare with. Nobody can demand it.
///
/// # Panics
/// The report can not be written.
pub fn leave_out(test: &str, reason: &str) {
    let line = format!("{SKIPPED_PREFIX}{test}: {reason}\n");
    print!("{line}");
    if let Some(path) = std::env::var_os(SKIP_LOG_VARIABLE) {
        let written = OpenOptions::new()
            .append(true)
            .create(true)
            .open(path)
            .and_then(|mut log| log.write_all(line.as_bytes()));
        assert!(written.is_ok(), "the skip of {test} could not be reported: {written:?}");
    }
}
