//! What a job asks for: the tiny script that becomes the runner, and limits that lie around those of the turn.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;

use record::request::Request;
use record::words::Permission;
use record::{RootId, TaskId};

use crate::limits::{SLURM_GRACE, SLURM_RUNNER_MEMORY_BYTES, SLURM_WARNING_SECONDS};

/// What begins the name of every job of ours.
const PREFIX: &str = "delegate:";

/// The name of the job of a task; no other task in any root has it.
pub(super) fn name(root: RootId, task: TaskId) -> String {
    format!("{PREFIX}{root}:{task}")
}

/// The words behind `sbatch` that ask for the runner of a task. `options` come first, so that nothing in them overrides what
/// is decided here.
pub(super) fn words(request: &Request, options: &[String], runner: &[OsString], log: &str) -> Vec<OsString> {
    let limits = &request.limits;
    let name = name(request.root_id, request.task_id);
    let mut words: Vec<String> = vec!["--parsable".to_owned()];
    words.extend(options.iter().cloned());
    words.extend([
        // A job that Slurm starts again would find its launch and could do nothing; the lead decides what follows a loss.
        "--no-requeue".to_owned(),
        format!("--comment=a turn of {}, task {}", request.provider, request.task_id),
        format!("--job-name={name}"),
        "--nodes=1".to_owned(),
        "--ntasks=1".to_owned(),
        format!("--time={}", minutes(request)),
        // To the runner alone, which replaced the script: it stops the turn and seals it.
        format!("--signal=B:TERM@{SLURM_WARNING_SECONDS}"),
        "--chdir=/".to_owned(),
        "--export=ALL".to_owned(),
        "--open-mode=append".to_owned(),
        "--input=/dev/null".to_owned(),
        format!("--output={log}"),
    ]);
    words.extend(limits.cpus.map(|cpus| format!("--cpus-per-task={cpus}")));
    words.extend(limits.memory_bytes.map(|memory| {
        let mebibytes = memory.bytes().saturating_add(SLURM_RUNNER_MEMORY_BYTES).div_ceil(1 << 20);
        format!("--mem={mebibytes}M")
    }));
    let mut script = OsString::from("--wrap=exec");
    for word in runner {
        script.push(" ");
        script.push(quoted(word));
    }
    words.into_iter().map(OsString::from).chain([script]).collect()
}

/// Longest time of the job: the budget, the time that the turn may wait for its workspace on the node, and the graces.
fn minutes(request: &Request) -> u64 {
    let waits = request.requested_config.permission == Permission::WorkspaceWrite;
    let wait = if waits { request.limits.lease_wait.duration() } else { std::time::Duration::ZERO };
    let time = request.requested_config.budget.duration().saturating_add(wait).saturating_add(SLURM_GRACE);
    time.as_secs().div_ceil(60)
}

/// One word for a shell.
fn quoted(word: &OsString) -> OsString {
    let mut quoted = vec![b'\''];
    for byte in word.as_bytes() {
        match byte {
            b'\'' => quoted.extend(b"'\\''"),
            byte => quoted.push(*byte),
        }
    }
    quoted.push(b'\'');
    std::os::unix::ffi::OsStringExt::from_vec(quoted)
}

/// Where the job's own words go: a file for each node, in a pattern of Slurm's.
pub(super) fn log(directory: &str) -> String {
    format!("{}/%N.log", directory.replace('%', "%%"))
}

#[cfg(test)]
mod tests {
    use record::ByteSize;
    use record::request::{RequestedConfig, RequestedLimits};

    use super::*;

    fn request(permission: Permission, memory_bytes: Option<u64>, cpus: Option<u32>) -> Request {
        Request {
            schema_version: 1,
            root_id: "12".repeat(16).parse().unwrap(),
            task_id: "ab".repeat(16).parse().unwrap(),
            provider: "codex:exec".parse().unwrap(),
            canonical_cwd: record::AbsolutePath::new(std::path::Path::new("/w")).unwrap(),
            requested_config: RequestedConfig {
                model: None,
                effort: None,
                permission,
                budget: "90s".parse().unwrap(),
                native_timeout: None,
                lane: None,
                allow_provisional: false,
            },
            limits: RequestedLimits {
                max_output_bytes: ByteSize::from_bytes(1 << 20),
                first_output: None,
                start_by: None,
                lease_wait: "20m".parse().unwrap(),
                memory_bytes: memory_bytes.map(ByteSize::from_bytes),
                pids: None,
                cpus,
            },
            fence: None,
            environment_file: None,
            prior_session: None,
            brief_sha256: record::Sha256Digest::of(b"x"),
            brief_length: 1,
        }
    }

    fn words_of(request: &Request, options: &[&str]) -> Vec<String> {
        let options: Vec<String> = options.iter().map(|option| (*option).to_owned()).collect();
        let runner = ["/a b/it's".into(), "--root".into(), "/r".into()];
        words(request, &options, &runner, &log("/r 100%/slurm"))
            .into_iter()
            .map(|word| word.into_string().unwrap())
            .collect()
    }

    #[test]
    fn the_script_becomes_the_runner_whatever_its_path() {
        let words = words_of(&request(Permission::ReadOnly, None, None), &[]);
        assert_eq!(words.last().unwrap(), r"--wrap=exec '/a b/it'\''s' '--root' '/r'");
        assert!(words.contains(&"--output=/r 100%%/slurm/%N.log".to_owned()), "{words:?}");
        let name = format!("--job-name=delegate:{}:{}", "12".repeat(16), "ab".repeat(16));
        assert!(words.contains(&name), "{words:?}");
    }

    #[test]
    fn limits_of_the_job_lie_around_those_of_the_turn() {
        let words = words_of(&request(Permission::ReadOnly, None, None), &[]);
        assert!(words.contains(&"--time=7".to_owned()), "{words:?}");
        assert!(!words.iter().any(|word| word.starts_with("--mem") || word.starts_with("--cpus")));
        let words = words_of(&request(Permission::WorkspaceWrite, Some((300 << 20) + 1), Some(2)), &[]);
        for word in ["--time=27", "--mem=365M", "--cpus-per-task=2"] {
            assert!(words.contains(&word.to_owned()), "{word}: {words:?}");
        }
    }

    #[test]
    fn nothing_in_the_settings_stands_behind_what_is_decided() {
        let words = words_of(&request(Permission::ReadOnly, None, None), &["--mem=1", "--partition=x"]);
        let place = |word: &str| words.iter().position(|other| other == word).unwrap();
        assert!(place("--mem=1") < place("--no-requeue"));
        assert!(place("--partition=x") < place("--no-requeue"));
    }
}
