//! The lead's own options for `sbatch`: whatever the cluster needs and this program does not decide.

use super::error::SlurmError;
use crate::limits::SLURM_OPTIONS_MAX_COUNT;

/// What is decided here: name, script, environment, files, time and the end of a job.
const DECIDED: &[&str] = &[
    "array",
    "chdir",
    "clusters",
    "comment",
    "error",
    "export",
    "export-file",
    "help",
    "input",
    "job-name",
    "no-requeue",
    "nodes",
    "ntasks",
    "open-mode",
    "output",
    "parsable",
    "requeue",
    "signal",
    "test-only",
    "time",
    "usage",
    "version",
    "wait",
    "wrap",
];

/// Checks options as they come from the settings.
///
/// # Errors
/// One is not written as `--name` or `--name=value`, is decided here, or there are too many.
pub(super) fn check(options: &[String]) -> Result<(), SlurmError> {
    let refused =
        |option: &str, why: &'static str| Err(SlurmError::Option { option: option.to_owned(), why });
    if let Some(option) = options.get(SLURM_OPTIONS_MAX_COUNT) {
        return refused(option, "there are too many");
    }
    for option in options {
        let name = option.strip_prefix("--").and_then(|rest| rest.split('=').next()).unwrap_or_default();
        let is_word = |name: &str| name.bytes().all(|byte| byte.is_ascii_lowercase() || b"-".contains(&byte));
        if name.is_empty() || !is_word(name) || option.chars().any(char::is_control) {
            return refused(option, "write it as --name or --name=value");
        }
        // Slurm takes every unambiguous beginning of a name for the name.
        if DECIDED.iter().any(|decided| decided.starts_with(name)) {
            return refused(option, "this is decided by the task");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_taken(option: &str) -> bool {
        check(&[option.to_owned()]).is_ok()
    }

    #[test]
    fn what_the_cluster_needs_is_handed_on() {
        for option in [
            "--partition=cpu",
            "--account=lab",
            "--qos=normal",
            "--constraint=ssd&big",
            "--exclusive",
            "--gres=gpu:1",
            "--time-min=1",
            "--nodelist=node[1-2]",
            "--mail-user=a@b",
            "--comment-like=",
        ] {
            assert!(is_taken(option), "{option}");
        }
    }

    #[test]
    fn what_the_task_decides_is_refused_in_every_spelling() {
        for option in [
            "--requeue",
            "--requ",
            "--time=1",
            "--tim=1",
            "--array=1-3",
            "--arr=1-3",
            "--job-name=x",
            "--wrap=rm",
            "--output=/x",
            "--export=NONE",
            "--no-requeue",
            "--clusters=other",
            "-J",
            "-Jx",
            "--",
            "--=x",
            "partition=cpu",
            "",
            "--Name",
            "--a b",
            "--partition=a\nb",
        ] {
            assert!(!is_taken(option), "{option:?}");
        }
        let many = vec!["--exclusive".to_owned(); SLURM_OPTIONS_MAX_COUNT + 1];
        assert!(check(&many[1..]).is_ok());
        assert!(check(&many).is_err());
    }
}
