//! Slurm as a supervisor.

use std::path::PathBuf;

use record::AbsolutePath;
use record::answer::{SupervisorState, SupervisorView};
use record::launch::Launch;
use record::outcome::Outcome;
use record::request::Request;
use record::submission::{SlurmBinding, Submission, SupervisorBinding};
use record::words::SupervisorKind;
use store::{Root, StoreError, Task};

use super::client::{self, Client};
use super::error::SlurmError;
use super::states::Job;
use super::{job, look, options, shared, states};
use crate::confirmation::confirmed;
use crate::limits::SLURM_VIEW_MAX_TIME;
use crate::runner::Runner;
use crate::{Inspection, SuperviseError, Supervisor, submission};

/// A cluster as the owner of runners.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slurm {
    /// Our own executable, absolute, at the same path on every node; it takes the hidden word [`crate::RUN_WORD`].
    pub delegate: PathBuf,
    /// The configuration of the cluster for new tasks; `None` for the one that Slurm's programs find by themselves.
    pub config: Option<AbsolutePath>,
    /// The lead's own options for `sbatch` of new tasks, each with two dashes and its value behind `=`.
    pub options: Vec<String>,
}

impl Supervisor for Slurm {
    fn kind(&self) -> SupervisorKind {
        SupervisorKind::Slurm
    }

    fn bind(&self, root: &Root) -> Result<Option<SupervisorBinding>, SuperviseError> {
        options::check(&self.options)?;
        shared::check(root)?;
        let binding = Client::found(self.config.clone())?.binding(root, &self.options)?;
        Ok(Some(SupervisorBinding::Slurm(binding)))
    }

    /// Asks first. A job that may still run is enough; one that ended without a launch is replaced, and a launch is never
    /// followed by another. What an `sbatch` that failed really did is asked again.
    fn submit(&self, root: &Root, task: &Task) -> Result<(), SuperviseError> {
        let owned = Owned::read(root, task)?;
        let client = Client::of(&owned.binding)?;
        let before = owned.jobs(client.jobs()?);
        if before.iter().any(Job::may_run) || is_launched(task)? {
            return Ok(());
        }
        let words = self.words(root, task, &owned)?;
        look::forget();
        let is_same = |known: &Job, job: &Job| known.number == job.number;
        confirmed(client.submit(words), &before, is_same, || Ok(owned.jobs(client.jobs()?)))
    }

    fn view(&self, root: &Root, task: &Task) -> SupervisorView {
        let jobs = Owned::read(root, task).ok().and_then(|owned| owned.seen(task));
        let job = jobs.as_ref().and_then(|jobs| states::current(jobs));
        let has_ended = matches!(task.read::<Outcome>(), Ok(Some(_)));
        SupervisorView {
            kind: SupervisorKind::Slurm,
            state: match job {
                _ if has_ended => SupervisorState::Ended,
                Some(job) => job.state,
                None => SupervisorState::Unknown,
            },
            matched: jobs.as_ref().map(|jobs| !jobs.is_empty()),
            numeric_task_id: job.map(|job| job.number),
            job: job.map(|job| job.name.clone()),
            node: job.and_then(|job| job.node.clone()),
            reason: job.and_then(|job| job.reason.clone()),
        }
    }

    /// A cluster is nobody's to start.
    fn ensure(&self, _root: &Root) -> Result<(), SuperviseError> {
        Ok(())
    }

    fn withdraw(&self, root: &Root, task: &Task) -> Result<(), SuperviseError> {
        self.each_job(root, task, SupervisorState::Queued, Client::withdraw)
    }

    fn interrupt(&self, root: &Root, task: &Task) -> Result<(), SuperviseError> {
        self.each_job(root, task, SupervisorState::Running, Client::interrupt)
    }

    fn is_set_up(&self) -> bool {
        !self.options.is_empty() || client::is_configured(self.config.as_ref())
    }

    fn inspect(&self, _root: Option<&Root>) -> Option<Inspection> {
        let client = match Client::found(self.config.clone()) {
            Ok(client) => client.within(SLURM_VIEW_MAX_TIME),
            Err(_) => return None,
        };
        let place = match &self.config {
            Some(config) => config.to_string(),
            None => "the configuration that its programs find".to_owned(),
        };
        let asked = || -> Result<(), SlurmError> {
            options::check(&self.options)?;
            client.jobs().map(drop)
        };
        Some(Inspection {
            version: client.version().map_err(SuperviseError::from),
            place,
            reached: Some(asked().map_err(SuperviseError::from)),
        })
    }
}

impl Slurm {
    fn words(
        &self,
        root: &Root,
        task: &Task,
        owned: &Owned,
    ) -> Result<Vec<std::ffi::OsString>, SuperviseError> {
        let damaged = || StoreError::Damaged { path: task.path(), why: "has no request".to_owned() };
        let request = task.read::<Request>()?.ok_or_else(damaged)?.record;
        let runner = match &owned.submission.runner_executable {
            Some(program) => Runner::named(program),
            None => Runner::beside(&self.delegate),
        };
        let logs = root.job_logs()?;
        let runner = runner.words(root.path(), task.id());
        Ok(job::words(&request, &owned.binding.options, &runner, &job::log(&logs.to_string_lossy())))
    }

    /// Does something with every job of a task that is in that state.
    fn each_job(
        &self,
        root: &Root,
        task: &Task,
        state: SupervisorState,
        act: impl Fn(&Client, u64) -> Result<(), SlurmError>,
    ) -> Result<(), SuperviseError> {
        let owned = Owned::read(root, task)?;
        let client = Client::of(&owned.binding)?.within(SLURM_VIEW_MAX_TIME);
        look::forget();
        for job in owned.jobs(client.jobs()?).iter().filter(|job| job.state == state) {
            act(&client, job.number)?;
        }
        Ok(())
    }
}

/// Whether there is a licence, also one that can not be read.
fn is_launched(task: &Task) -> Result<bool, StoreError> {
    match task.read::<Launch>() {
        Ok(launch) => Ok(launch.is_some()),
        Err(error) if error.is_damage() => Ok(true),
        Err(error) => Err(error),
    }
}

/// A task that Slurm owns.
struct Owned {
    submission: Submission,
    binding: SlurmBinding,
    name: String,
}

impl Owned {
    fn read(root: &Root, task: &Task) -> Result<Self, SuperviseError> {
        let submission = submission(task)?;
        if submission.supervisor != SupervisorKind::Slurm {
            return Err(SuperviseError::OtherSupervisor { recorded: submission.supervisor });
        }
        let Some(SupervisorBinding::Slurm(binding)) = submission.supervisor_binding.clone() else {
            return Err(SlurmError::NotBound.into());
        };
        Ok(Self { submission, binding, name: job::name(root.id(), task.id()) })
    }

    /// Those of the task.
    fn jobs(&self, jobs: Vec<Job>) -> Vec<Job> {
        jobs.into_iter().filter(|job| job.name == self.name).collect()
    }

    /// Those of the task as this process saw them last; from the accounting when the turn was launched and the controller has
    /// forgotten the job. `None` when the controller could not be asked.
    fn seen(&self, task: &Task) -> Option<Vec<Job>> {
        let client = Client::of(&self.binding).ok()?;
        let jobs = look::jobs(&client, &self.name)?;
        if !jobs.is_empty() || !matches!(is_launched(task), Ok(true)) {
            return Some(jobs);
        }
        Some(look::accounted(&client, &self.name, self.submission.admitted_at).unwrap_or(jobs))
    }
}
