//! Reading what `squeue` and `sacct` say of jobs.

use record::answer::SupervisorState;

/// Fields of `squeue`, the name last, since it may hold anything.
pub(super) const QUEUE_FORMAT: &str = "%A|%T|%N|%r|%j";
/// The same of `sacct`, which has no reason.
pub(super) const ACCOUNT_FORMAT: &str = "JobIDRaw,State,NodeList,JobName";

/// A job, as far as it can be ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Job {
    /// Its number: a handle for the next question, for a cluster that was set up anew begins at one again.
    pub(super) number: u64,
    pub(super) state: SupervisorState,
    /// Where it runs or ran.
    pub(super) node: Option<String>,
    /// Why it waits, or how it ended, in Slurm's word.
    pub(super) reason: Option<String>,
    pub(super) name: String,
}

impl Job {
    /// Whether it will run a runner, or does, as far as Slurm knows. A state that is not understood may be one.
    pub(super) fn may_run(&self) -> bool {
        self.state != SupervisorState::Ended
    }
}

/// The jobs in an answer of `squeue`. A line that is not like a job is nobody's.
pub(super) fn of_queue(answer: &[u8]) -> Vec<Job> {
    let job = |line: &str| {
        let fields: [&str; 5] = line.splitn(5, '|').collect::<Vec<_>>().try_into().ok()?;
        let [number, word, node, reason, name] = fields;
        job(number, word, node, Some(reason), name)
    };
    String::from_utf8_lossy(answer).lines().filter_map(job).collect()
}

/// The jobs in an answer of `sacct`, without their steps.
pub(super) fn of_account(answer: &[u8]) -> Vec<Job> {
    let job = |line: &str| {
        let fields: [&str; 4] = line.splitn(4, '|').collect::<Vec<_>>().try_into().ok()?;
        let [number, word, node, name] = fields;
        job(number, word, node, None, name)
    };
    String::from_utf8_lossy(answer).lines().filter_map(job).collect()
}

fn job(number: &str, word: &str, node: &str, reason: Option<&str>, name: &str) -> Option<Job> {
    // `sacct` adds who cancelled a job.
    let word = word.split(' ').next().unwrap_or_default();
    let state = state(word);
    let reason = match state {
        SupervisorState::Queued => reason.filter(|reason| !matches!(*reason, "" | "None")),
        SupervisorState::Ended | SupervisorState::Unknown => Some(word),
        _ => None,
    };
    Some(Job {
        number: number.parse().ok()?,
        state,
        node: (!matches!(node, "" | "None assigned" | "(null)")).then(|| node.to_owned()),
        reason: reason.map(str::to_owned),
        name: name.to_owned(),
    })
}

/// What a state of Slurm is to us. A job is over when nothing of it runs any more: not while it is completing.
fn state(word: &str) -> SupervisorState {
    match word {
        "PENDING" | "REQUEUED" | "REQUEUE_FED" | "REQUEUE_HOLD" | "RESV_DEL_HOLD" | "SPECIAL_EXIT" => {
            SupervisorState::Queued
        }
        "RUNNING" | "COMPLETING" | "CONFIGURING" | "RESIZING" | "SIGNALING" | "STAGE_OUT" | "STOPPED"
        | "SUSPENDED" => SupervisorState::Running,
        "BOOT_FAIL" | "CANCELLED" | "COMPLETED" | "DEADLINE" | "FAILED" | "NODE_FAIL" | "OUT_OF_MEMORY"
        | "PREEMPTED" | "TIMEOUT" => SupervisorState::Ended,
        _ => SupervisorState::Unknown,
    }
}

/// The job that counts: one that may still run, else the newest.
pub(super) fn current(jobs: &[Job]) -> Option<&Job> {
    jobs.iter().max_by_key(|job| (job.may_run(), job.number))
}
