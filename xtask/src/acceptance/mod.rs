//! Live turns with the CLIs that are installed and signed in on this host. Never run by a test of this project: they cost
//! money and reach the providers.
//!
//! A provider passes only by turns that ran and showed what they had to. What can not be tried is BLOCKED, with the reason.

mod delegate;
mod receipt;
mod steps;
#[cfg(test)]
mod tests;

use std::fs;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use record::words::Permission;
use testkit::real::{target_directory, workspace_directory};

use crate::failure::Failure;
use delegate::Delegate;
use receipt::Verdict;
use steps::{Briefs, Trial};

/// What to try, and with what.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Only this profile, such as codex:exec [default: every profile that has a program]
    #[arg(long)]
    provider: Option<String>,
    /// Only the turns of this permission: read-only or workspace-write [default: both]
    #[arg(long)]
    permission: Option<Permission>,
    /// Try also where no stored login is found: it may be in a keychain
    #[arg(long)]
    login_elsewhere: bool,
    /// The delegate to use [default: the one of this workspace, built now]
    #[arg(long, value_name = "FILE")]
    delegate: Option<PathBuf>,
    /// Where receipts, state root and workspaces go [default: target/acceptance]
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,
}

/// Tries the providers, writes a receipt for each, and prints a line for each. The exit code is that of the worst: 1 for
/// a failed one, 2 for a blocked one, 0 when all passed.
pub(crate) fn run(options: &Options) -> Result<ExitCode, Failure> {
    let output = options.output.clone().unwrap_or_else(|| target_directory().join("acceptance"));
    fs::create_dir_all(&output).map_err(Failure::file(&output))?;
    let output = output.canonicalize().map_err(Failure::file(&output))?;
    let program = match &options.delegate {
        Some(program) => program.clone(),
        None => build()?,
    };
    let delegate = Delegate::new(program, output.join("root"), std::env::vars_os());
    let trial = Trial {
        delegate: &delegate,
        directory: &output,
        permission: options.permission,
        is_login_elsewhere: options.login_elsewhere,
        briefs: Briefs::of_people(),
    };
    let mut verdicts = Vec::new();
    for provider in delegate.providers(options.provider.as_deref())? {
        let receipt = trial.of(&provider)?;
        receipt.write(&output)?;
        println!("{receipt}");
        verdicts.push(receipt.verdict);
    }
    println!("receipts: {}", output.display());
    Ok(exit_code(&verdicts))
}

fn exit_code(verdicts: &[Verdict]) -> ExitCode {
    ExitCode::from(if verdicts.contains(&Verdict::Failed) {
        1
    } else if verdicts.is_empty() || verdicts.iter().any(|verdict| *verdict != Verdict::Passed) {
        2
    } else {
        0
    })
}

fn build() -> Result<PathBuf, Failure> {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(program)
        .args(["build", "--quiet", "--package", "cli", "--bins"])
        .current_dir(workspace_directory())
        .status()
        .map_err(|source| Failure::Start { program: "cargo".to_owned(), source })?;
    if status.success() {
        Ok(target_directory().join("debug/delegate"))
    } else {
        Err(Failure::Program("cargo build".to_owned()))
    }
}
