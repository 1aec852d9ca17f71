//! The program `delegation-patch-verify`: command line, printing, exit codes (patch-verifier.md 2).

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::path::PathBuf;

use crate::check::{CheckError, Request, Surroundings, check};
use crate::git::Git;
use crate::policy::{LoadedPolicy, PolicyError};
use crate::text;

const NAME: &str = "delegation-patch-verify";
const USAGE: &str = "\
usage: delegation-patch-verify check --patch FILE --workdir DIR [--allow-delete] [--json]
       delegation-patch-verify policy [--json]

Judges a diff against the patch policy, without applying it.

exit codes: 0 accepted, 64 invalid command line, 65 rejected, 66 patch, worktree or policy missing or unreadable,
            69 git is missing, 70 something changed during the run
";

const EXIT_USAGE: u8 = 64;
const EXIT_DATA: u8 = 65;
const EXIT_NO_INPUT: u8 = 66;
const EXIT_UNAVAILABLE: u8 = 69;

/// What the program takes from the process around it.
#[derive(Debug, Clone)]
pub struct Environment {
    /// For the checks.
    pub surroundings: Surroundings,
    /// The policy that replaces the installed one (tests and diagnosis).
    pub policy_file: Option<PathBuf>,
    /// The program itself: its installation may bring a policy.
    pub program: Option<PathBuf>,
}

impl Environment {
    /// That of this process.
    pub fn of_process() -> Self {
        Self {
            surroundings: Surroundings::of_process(),
            policy_file: std::env::var_os("DELEGATION_EXTERNAL_PATCH_POLICY_FILE")
                .filter(|value| !value.is_empty())
                .map(PathBuf::from),
            program: std::env::current_exe().ok(),
        }
    }
}

/// Runs the program on its arguments, without its own name. Answers the exit code.
pub fn main_entry(
    arguments: impl IntoIterator<Item = OsString>,
    environment: &Environment,
    stdout: &mut dyn Write,
    stderr: &mut dyn Write,
) -> u8 {
    let (code, out) = match run(&arguments.into_iter().collect::<Vec<_>>(), environment) {
        Ok(done) => done,
        Err(failure) => {
            // With standard error closed the exit code still tells.
            let _ = writeln!(stderr, "{NAME}: {}", failure.message);
            if failure.code == EXIT_USAGE {
                let _ = write!(stderr, "{USAGE}");
            }
            return failure.code;
        }
    };
    match stdout.write_all(out.as_bytes()).and_then(|()| stdout.flush()) {
        Ok(()) => code,
        // An answer that nobody could read must not look like an accepted patch.
        Err(_) => EXIT_NO_INPUT,
    }
}

struct Failure {
    code: u8,
    message: String,
}

fn usage(message: &str) -> Failure {
    Failure { code: EXIT_USAGE, message: message.to_owned() }
}

fn run(arguments: &[OsString], environment: &Environment) -> Result<(u8, String), Failure> {
    if Git::find(environment.surroundings.search_path.as_deref()).is_none() {
        return Err(Failure { code: EXIT_UNAVAILABLE, message: CheckError::NoGit.to_string() });
    }
    let policy = LoadedPolicy::find(environment.policy_file.as_deref(), environment.program.as_deref())
        .map_err(|error| Failure {
            code: match error {
                PolicyError::Unreadable { .. } => EXIT_NO_INPUT,
                PolicyError::Unusable { .. } => EXIT_DATA,
            },
            message: one_line(&error.to_string()),
        })?;
    let words: Vec<&str> = arguments.iter().map(|word| word.to_str().unwrap_or("\u{fffd}")).collect();
    match words.split_first() {
        None | Some((&("-h" | "--help"), _)) => Ok((0, USAGE.to_owned())),
        Some((&"check", rest)) => run_check(rest, &arguments[1..], &policy, environment),
        Some((&"policy", [])) => Ok((0, text::policy(&policy))),
        Some((&"policy", flags)) if flags.iter().all(|flag| *flag == "--json") => Ok((0, policy.json())),
        Some((&"policy", _)) => Err(usage("unknown argument of policy")),
        Some(_) => Err(usage("unknown command")),
    }
}

fn run_check(
    words: &[&str],
    arguments: &[OsString],
    policy: &LoadedPolicy,
    environment: &Environment,
) -> Result<(u8, String), Failure> {
    let (mut patch, mut workdir, mut allow_delete, mut json) = (None, None, false, false);
    let mut at = 0;
    while at < words.len() {
        let value = |flag: &str| arguments.get(at + 1).ok_or_else(|| usage(&format!("{flag} needs a value")));
        match words[at] {
            "--patch" => {
                patch = Some(value("--patch")?);
                at += 1;
            }
            "--workdir" => {
                workdir = Some(value("--workdir")?);
                at += 1;
            }
            "--allow-delete" => allow_delete = true,
            "--json" => json = true,
            _ => return Err(usage("unknown argument of check")),
        }
        at += 1;
    }
    let given = |value: Option<&OsString>, flag: &str| match value {
        Some(value) if value != OsStr::new("") => Ok(PathBuf::from(value)),
        _ => Err(usage(&format!("{flag} is missing"))),
    };
    let request =
        Request { patch: given(patch, "--patch")?, workdir: given(workdir, "--workdir")?, allow_delete };
    let receipt = check(&request, policy, &environment.surroundings).map_err(|error| Failure {
        code: match error {
            CheckError::NoGit => EXIT_UNAVAILABLE,
            CheckError::PathNotUtf8 => EXIT_USAGE,
            _ => EXIT_NO_INPUT,
        },
        message: one_line(&error.to_string()),
    })?;
    let printed = if json { receipt.json() } else { text::receipt(&receipt) };
    Ok((receipt.verdict.exit_code(), printed))
}

fn one_line(text: &str) -> String {
    text.chars().map(|character| if character.is_control() { ' ' } else { character }).collect()
}
