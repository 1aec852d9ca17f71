//! A lead with a cluster.

use std::fs;
use std::ops::Deref;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use testkit::real::slurm::{Cluster, Plan};

use crate::support::{Lead, Ran, until};

/// A lead whose runs a cluster owns. Everything ends with the value.
pub(crate) struct World {
    // Before the cluster, which would take the turns with it.
    lead: Lead,
    pub(crate) cluster: Cluster,
}

impl Deref for World {
    type Target = Lead;

    fn deref(&self) -> &Lead {
        &self.lead
    }
}

/// A job, as the cluster shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Job {
    pub(crate) number: String,
    pub(crate) state: String,
    pub(crate) node: String,
}

impl World {
    /// A cluster of two nodes; `None` after a skip.
    pub(crate) fn new(test: &str) -> Option<Self> {
        Self::planned(test, Lead::new(), &Plan::default())
    }

    pub(crate) fn planned(test: &str, lead: Lead, plan: &Plan) -> Option<Self> {
        let cluster = Cluster::for_test(test, plan)?;
        let lead = lead.and("DELEGATE_SUPERVISOR", "slurm").and("SLURM_CONF", cluster.config());
        Some(Self { lead, cluster })
    }

    /// All jobs of a task.
    pub(crate) fn jobs(&self, id: &str) -> Vec<Job> {
        let text =
            self.cluster.ask("squeue", &["--states=all", "--noheader", "--format=%A %T %N. %j", "--sort=i"]);
        let job = |line: &str| {
            let mut words = line.split(' ').map(str::to_owned);
            let (number, state, node) = (words.next()?, words.next()?, words.next()?);
            words.next()?.ends_with(id).then_some(Job {
                number,
                state,
                node: node.trim_end_matches('.').to_owned(),
            })
        };
        text.lines().filter_map(job).collect()
    }

    /// The only job of a task.
    pub(crate) fn job(&self, id: &str) -> Job {
        let jobs = self.jobs(id);
        assert_eq!(jobs.len(), 1, "{jobs:?}");
        jobs[0].clone()
    }

    /// Waits until the only job of a task is in that state.
    pub(crate) fn until_job_is(&self, id: &str, state: &str) -> Job {
        until(state, || Some(self.job(id)).filter(|job| job.state == state))
    }

    /// Puts a script in the place of `sbatch`. `$SBATCH` is the real one.
    pub(crate) fn replace_sbatch(&self, script: &str) {
        for name in ["squeue", "scancel", "sacct"] {
            let _ = symlink(Path::new("/usr/bin").join(name), self.programs().join(name));
        }
        self.replace("sbatch", &format!("SBATCH=/usr/bin/sbatch\n{script}"));
    }

    /// Puts a script in the place of a program that lies beside `sbatch`.
    pub(crate) fn replace(&self, name: &str, script: &str) {
        let path = self.programs().join(name);
        let _ = fs::remove_file(&path);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
    }

    /// A turn that stays open until the file is there.
    pub(crate) fn dispatch_held(&self, name: &str, more: &[&str]) -> (String, PathBuf) {
        let gate = self.path().join(name);
        let brief = format!("[[fake: wait-for-file {}]] [[fake: answer held]]", gate.display());
        (self.dispatch("codex:exec", &brief, more), gate)
    }

    /// Waits until a turn is launched, and says where.
    pub(crate) fn until_running(&self, id: &str) -> String {
        until("the turn to run", || self.record(id, "running.json"));
        self.record(id, "launch.json").unwrap()["host_name"].as_str().unwrap().to_owned()
    }

    /// Collects a task that must be complete, after exactly that many launches of all tasks here.
    pub(crate) fn collect_one(&self, id: &str, launches: usize) -> Ran {
        let ran = self.collect(id);
        assert_eq!((ran.code, ran.reason().as_str()), (0, "completed"), "{ran:?}");
        assert_eq!(self.log().launches().len(), launches);
        ran
    }
}
