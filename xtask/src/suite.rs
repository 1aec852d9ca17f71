//! Every check of the workspace: format, lints, documentation, tests with the real components.

use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};
use std::thread;

use testkit::real::{
    Component, REQUIRE_REAL_VARIABLE, SKIP_LOG_VARIABLE, SKIPPED_PREFIX, target_directory,
    workspace_directory,
};

use crate::failure::Failure;
use crate::tally::Tally;
use crate::{fuzz, pueue, real, slurm};

/// The real components that tests use at present.
pub(crate) const COMPONENTS: [Component; 6] = [
    Component::Bun,
    Component::Claude,
    Component::Codex,
    Component::Opencode,
    Component::Pi,
    Component::Pnpm,
];

/// Runs them all, also after one failed; the last line tells the numbers.
pub(crate) fn run(require_real: bool) -> Result<(), Failure> {
    let mut failed = Vec::new();
    let mut note = |name: &'static str, good: bool| {
        if !good {
            failed.push(name);
        }
    };
    for installed in [real::install(&COMPONENTS), pueue::install().map(drop), slurm::install()] {
        if let Err(reason) = installed {
            // Without them their tests say that they were skipped.
            eprintln!("xtask: real components are missing: {reason}");
            note("installation", !require_real);
        }
    }
    // What others leave of the machine, it takes; so it ends with the tests or little later.
    let fuzzing = require_real.then(fuzz::start_routine).transpose().unwrap_or_else(|reason| {
        eprintln!("xtask: {reason}");
        note("fuzzing", false);
        None
    });
    note("format", step(cargo(["fmt", "--all", "--", "--check"]))?);
    note(
        "lints",
        step(cargo(["clippy", "--workspace", "--all-targets", "--all-features", "--", "-D", "warnings"]))?,
    );
    let mut documentation = cargo(["doc", "--workspace", "--no-deps"]);
    documentation.env("RUSTDOCFLAGS", "-D warnings");
    note("documentation", step(documentation)?);

    let skip_log =
        tempfile::NamedTempFile::new_in(target_directory()).map_err(Failure::file(target_directory()))?;
    let mut tally = Tally::default();
    for mut tests in [tests(), cargo(["test", "--workspace", "--all-features", "--doc", "--no-fail-fast"])] {
        tests.env(SKIP_LOG_VARIABLE, skip_log.path());
        if require_real {
            tests.env(REQUIRE_REAL_VARIABLE, "1");
        }
        note("tests", count(tests, &mut tally)?);
    }
    if let Some(fuzzing) = fuzzing {
        let report = fuzzing.finish()?;
        println!("\n{report}");
        note("fuzzing", !report.has_finding());
    }
    let skipped = fs::read_to_string(skip_log.path()).map_err(Failure::file(skip_log.path()))?;
    let skipped: Vec<&str> = skipped.lines().filter(|line| line.starts_with(SKIPPED_PREFIX)).collect();
    tally.move_to_skipped(skipped.len() as u64);
    println!();
    skipped.iter().for_each(|line| println!("{line}"));
    failed.iter().for_each(|name| println!("FAILED: {name}"));
    println!("{tally}");
    if failed.is_empty() { Ok(()) } else { Err(Failure::Program(failed.join(", "))) }
}

fn cargo<const N: usize>(arguments: [&str; N]) -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.args(arguments).current_dir(workspace_directory()).stdin(Stdio::null());
    command
}

/// nextest where it is installed: it gives each test a process of its own. Else one test after the other: some change or count
/// what belongs to the whole process.
fn tests() -> Command {
    let nextest = cargo(["nextest", "--version"]).stdout(Stdio::null()).stderr(Stdio::null()).status();
    if nextest.is_ok_and(|status| status.success()) {
        cargo(["nextest", "run", "--workspace", "--all-features", "--no-fail-fast"])
    } else {
        let words = ["--workspace", "--all-features", "--all-targets", "--no-fail-fast", "--"];
        let mut command = cargo(["test"]);
        command.args(words).arg("--test-threads=1");
        command
    }
}

/// Runs one check; returns whether it passed.
fn step(mut command: Command) -> Result<bool, Failure> {
    announce(&command);
    Ok(command.status().map_err(not_started)?.success())
}

/// Runs tests and adds up what their runner reports.
fn count(mut command: Command, tally: &mut Tally) -> Result<bool, Failure> {
    announce(&command);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(not_started)?;
    let stderr = child.stderr.take().map(|stream| thread::spawn(move || forward(stream)));
    let stdout = child.stdout.take().map(forward).unwrap_or_default();
    let stderr = stderr.and_then(|thread| thread.join().ok()).unwrap_or_default();
    tally.add(stdout);
    tally.add(stderr);
    Ok(child.wait().map_err(not_started)?.success())
}

/// Shows each line as it comes.
fn forward(stream: impl Read) -> Tally {
    let mut tally = Tally::default();
    for line in BufReader::new(stream).split(b'\n').map_while(Result::ok) {
        let line = String::from_utf8_lossy(&line);
        println!("{line}");
        tally.read(&line);
    }
    tally
}

fn announce(command: &Command) {
    let words: Vec<_> = command.get_args().map(OsStr::to_string_lossy).collect();
    println!("\n--- cargo {}", words.join(" "));
}

fn not_started(source: std::io::Error) -> Failure {
    Failure::Start { program: "cargo".to_owned(), source }
}
