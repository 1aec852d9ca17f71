//! Writes what is generated: the schemas, and the parts of the pages that the program tells of itself.

use std::process::Command;

use testkit::real::workspace_directory;

use crate::failure::Failure;

/// With it the tests that hold generated files write them.
const VARIABLE: &str = "DELEGATION_WRITE_DOCS";
/// Those tests: package, then what chooses them.
const TESTS: [(&str, &[&str]); 4] = [
    ("record", &["--test", "schemas"]),
    ("contract", &["--test", "schemas"]),
    ("gates", &["--test", "routes_document"]),
    ("cli", &["--lib", "documents"]),
];

/// Runs the tests that write.
pub(crate) fn write() -> Result<(), Failure> {
    for (package, which) in TESTS {
        let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let status = Command::new(program)
            .args(["test", "--quiet", "--package", package])
            .args(which)
            .env(VARIABLE, "1")
            .current_dir(workspace_directory())
            .status()
            .map_err(|source| Failure::Start { program: "cargo".to_owned(), source })?;
        if !status.success() {
            return Err(Failure::Program(format!("the documents of {package}")));
        }
    }
    Ok(())
}
