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

#[cfg(test)]
mod tests {
    use SupervisorState::{Ended, Queued, Running, Unknown};

    use super::*;

    /// As Slurm 22.05.8 said it.
    const QUEUE: &str = include_str!("captured/squeue.txt");
    /// A moment later, when the node was lost.
    const QUEUE_LATER: &str = include_str!("captured/squeue-later.txt");
    /// As Slurm 22.05.8 with accounting said it of the same jobs and of some that its controller had forgotten.
    const ACCOUNT: &str = include_str!("captured/sacct.txt");

    fn seen(jobs: &[Job]) -> Vec<(u64, SupervisorState, Option<&str>, Option<&str>)> {
        jobs.iter().map(|job| (job.number, job.state, job.node.as_deref(), job.reason.as_deref())).collect()
    }

    #[test]
    fn jobs_as_the_controller_tells_them() {
        let cancelled = (6, Ended, Some("node1"), Some("CANCELLED"));
        let waiting = (4, Queued, None, Some("BeginTime"));
        let jobs = of_queue(QUEUE.as_bytes());
        assert_eq!(seen(&jobs), [cancelled, waiting, (7, Running, Some("node1"), None)]);
        let lost = (7, Ended, Some("node1"), Some("NODE_FAIL"));
        assert_eq!(seen(&of_queue(QUEUE_LATER.as_bytes())), [cancelled, lost, waiting]);
        assert!(jobs.iter().all(|job| job.name.starts_with("delegate:1212")));
    }

    #[test]
    fn jobs_as_the_accounting_tells_them() {
        let jobs = of_account(ACCOUNT.as_bytes());
        assert_eq!(
            seen(&jobs),
            [
                (1, Ended, Some("node1"), Some("COMPLETED")),
                (2, Ended, None, Some("CANCELLED")),
                (3, Ended, Some("node1"), Some("FAILED")),
                (5, Ended, Some("node1"), Some("FAILED")),
                (6, Ended, Some("node1"), Some("CANCELLED")),
                (7, Ended, Some("node1"), Some("NODE_FAIL")),
            ]
        );
    }

    #[test]
    fn a_job_that_still_completes_is_not_over_and_an_unknown_word_says_nothing() {
        for (word, state) in
            [("COMPLETING", Running), ("RUNNING", Running), ("REVOKED", Unknown), ("", Unknown)]
        {
            let jobs = of_queue(format!("1|{word}|||x").as_bytes());
            assert_eq!(jobs[0].state, state, "{word}");
            assert!(jobs[0].may_run());
        }
    }

    #[test]
    fn what_is_no_job_is_nobodys() {
        assert!(of_queue(b"").is_empty());
        assert!(
            of_queue(b"slurm_load_jobs error\n|||\nx|RUNNING|a|b|c\n1_[2-3]|PENDING|||x\n\xff\xfe")
                .is_empty()
        );
        let jobs = of_queue(b"5|RUNNING|node1|None|a|b|c\n");
        assert_eq!(jobs[0].name, "a|b|c", "a name may hold anything");
    }

    #[test]
    fn a_job_that_may_run_counts_before_a_newer_one_that_ended() {
        let jobs = of_queue(b"1|FAILED|||x\n2|PENDING|||x\n3|FAILED|||x\n");
        assert_eq!(current(&jobs).map(|job| job.number), Some(2));
        assert_eq!(current(&[jobs[0].clone(), jobs[2].clone()]).map(|job| job.number), Some(3));
        assert_eq!(current(&[]), None);
    }
}
