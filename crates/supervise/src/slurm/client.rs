//! The questions to a cluster.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use nix::unistd::geteuid;
use record::submission::SlurmBinding;
use record::{AbsolutePath, Timestamp};
use store::Root;

use super::error::SlurmError;
use super::states::{self, ACCOUNT_FORMAT, Job, QUEUE_FORMAT};
use crate::installed::{self, is_executable};
use crate::limits::SLURM_QUESTION_MAX_TIME;
use crate::question::Questioner;

/// The program that submits; the others lie beside it.
const SUBMIT: &str = "sbatch";
/// Where Slurm's programs find a configuration that is not in its usual place.
const CONFIG_VARIABLE: &str = "SLURM_CONF";

/// Where Slurm's programs find a configuration by themselves: as Slurm and as Debian build them, and the one that a node got
/// from its controller.
const CONFIG_PLACES: [&str; 3] =
    ["/etc/slurm/slurm.conf", "/etc/slurm-llnl/slurm.conf", "/run/slurm/conf/slurm.conf"];

/// Whether Slurm's programs have a configuration: one that is named, or one in its usual place. Without it they ask the name
/// service for a cluster.
pub(super) fn is_configured(named: Option<&AbsolutePath>) -> bool {
    is_configured_in(named, &CONFIG_PLACES)
}

fn is_configured_in(named: Option<&AbsolutePath>, places: &[impl AsRef<Path>]) -> bool {
    // What can not be looked at is there: then its programs say what is wrong.
    named.is_some() || places.iter().any(|place| place.as_ref().try_exists().unwrap_or(true))
}

/// The programs of one cluster.
#[derive(Clone, Debug)]
pub(super) struct Client {
    submit: PathBuf,
    config: Option<AbsolutePath>,
    patience: Duration,
}

impl Client {
    /// Of the cluster that the caller would reach by hand.
    ///
    /// # Errors
    /// Slurm is not installed.
    pub(super) fn found(config: Option<AbsolutePath>) -> Result<Self, SlurmError> {
        let submit = installed::on_path(SUBMIT).ok_or(SlurmError::Missing { program: SUBMIT })?;
        Ok(Self { submit, config, patience: SLURM_QUESTION_MAX_TIME })
    }

    /// Of the cluster that a task was admitted for. The programs may lie elsewhere on this machine.
    ///
    /// # Errors
    /// Slurm is not installed.
    pub(super) fn of(binding: &SlurmBinding) -> Result<Self, SlurmError> {
        let recorded = binding.client.path.as_path();
        let config = binding.config.clone();
        if is_executable(recorded) {
            return Ok(Self { submit: recorded.to_path_buf(), config, patience: SLURM_QUESTION_MAX_TIME });
        }
        Self::found(config)
    }

    /// The same for somebody who waits no longer than that.
    pub(super) fn within(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// The cluster as a record names it.
    ///
    /// # Errors
    /// The program can not be read, or is not Slurm's.
    pub(super) fn binding(&self, root: &Root, options: &[String]) -> Result<SlurmBinding, SlurmError> {
        let client = installed::bound(root, &self.submit)
            .map_err(|source| SlurmError::File { path: self.submit.clone(), source })?;
        let config = self.config.clone();
        Ok(SlurmBinding { client, version: self.version()?, config, options: options.to_vec() })
    }

    /// What the programs say of their version, one line.
    ///
    /// # Errors
    /// They say nothing, or are not Slurm's.
    pub(super) fn version(&self) -> Result<String, SlurmError> {
        let answer = self.ask(SUBMIT, ["--version".into()], "--version")?;
        let said = String::from_utf8_lossy(&answer).trim().to_owned();
        if said.starts_with("slurm") && said.chars().all(|sign| sign.is_ascii_graphic() || sign == ' ') {
            return Ok(said);
        }
        let said = said.chars().filter(|sign| !sign.is_control()).take(80).collect();
        Err(SlurmError::Version { program: self.submit.clone(), said })
    }

    /// The configuration that was named.
    pub(super) fn config(&self) -> Option<&AbsolutePath> {
        self.config.as_ref()
    }

    /// All jobs of this user that the controller knows, also those that ended a while ago.
    ///
    /// # Errors
    /// The controller could not be asked.
    pub(super) fn jobs(&self) -> Result<Vec<Job>, SlurmError> {
        let words = [
            // Answered by the controller for this user alone; a name would be looked for here, in everybody's jobs.
            format!("--user={}", geteuid()),
            "--states=all".to_owned(),
            "--noheader".to_owned(),
            format!("--format={QUEUE_FORMAT}"),
        ];
        Ok(states::of_queue(&self.ask("squeue", words.map(OsString::from), "")?))
    }

    /// The jobs of that name since a time, from the accounting, where there is one.
    ///
    /// # Errors
    /// There is no accounting, or it could not be asked.
    pub(super) fn accounted(&self, name: &str, since: Timestamp) -> Result<Vec<Job>, SlurmError> {
        let words = [
            "--allocations".to_owned(),
            "--duplicates".to_owned(),
            "--noheader".to_owned(),
            "--parsable2".to_owned(),
            format!("--user={}", geteuid()),
            format!("--name={name}"),
            format!("--starttime={}", day_before(since)),
            format!("--format={ACCOUNT_FORMAT}"),
        ];
        Ok(states::of_account(&self.ask("sacct", words.map(OsString::from), "")?))
    }

    /// Submits a job.
    ///
    /// # Errors
    /// As for every question; it may be queued all the same.
    pub(super) fn submit(&self, words: Vec<OsString>) -> Result<(), SlurmError> {
        self.ask(SUBMIT, words, "").map(drop)
    }

    /// Takes a job out of the queue, unless it was started meanwhile.
    ///
    /// # Errors
    /// The controller could not be asked.
    pub(super) fn withdraw(&self, number: u64) -> Result<(), SlurmError> {
        let words = ["--state=PENDING".to_owned(), number.to_string()];
        self.ask("scancel", words.map(OsString::from), "").map(drop)
    }

    /// Tells the runner of a job to end its turn.
    ///
    /// # Errors
    /// The controller could not be asked.
    pub(super) fn interrupt(&self, number: u64) -> Result<(), SlurmError> {
        let words = ["--batch".to_owned(), "--signal=TERM".to_owned(), number.to_string()];
        self.ask("scancel", words.map(OsString::from), "").map(drop)
    }

    fn ask(
        &self,
        program: &str,
        words: impl IntoIterator<Item = OsString>,
        shown: &str,
    ) -> Result<Vec<u8>, SlurmError> {
        let questioner = Questioner {
            program: &self.submit.with_file_name(program),
            directory: Path::new("/"),
            variable: self.config.as_ref().map(|config| (CONFIG_VARIABLE, config.as_str())),
            patience: self.patience,
        };
        Ok(questioner.ask(&words.into_iter().collect::<Vec<_>>(), shown)?)
    }
}

/// The date a day before a time: Slurm reads dates as local ones, and no place is more than a day behind.
fn day_before(time: Timestamp) -> String {
    const DAY_SECONDS: i128 = 24 * 60 * 60;
    let seconds = time.unix_nanoseconds() / 1_000_000_000 - DAY_SECONDS;
    let day = SystemTime::UNIX_EPOCH + Duration::from_secs(u64::try_from(seconds).unwrap_or(0));
    Timestamp::from_system_time(day).unwrap_or(time).to_string().chars().take("YYYY-MM-DD".len()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cluster_is_set_up_where_a_configuration_is_named_or_in_its_place() {
        let directory = tempfile::tempdir().unwrap();
        let places = [directory.path().join("first"), directory.path().join("second")];
        assert!(!is_configured_in(None, &places));
        // The programs complain of one that is named and missing.
        assert!(is_configured_in(Some(&AbsolutePath::new(&places[0]).unwrap()), &places));
        std::fs::write(&places[1], "").unwrap();
        assert!(is_configured_in(None, &places));
    }

    #[test]
    fn a_job_of_any_place_on_earth_is_in_the_time_that_is_asked_for() {
        // The day before is still going on west of Greenwich.
        for (admitted, asked) in [
            ("2026-03-01T02:00:00.000000000Z", "2026-02-28"),
            ("2026-11-30T23:59:59.500000000Z", "2026-11-29"),
            ("1970-01-01T00:00:01.000000000Z", "1970-01-01"),
        ] {
            assert_eq!(day_before(admitted.parse().unwrap()), asked);
        }
    }
}
