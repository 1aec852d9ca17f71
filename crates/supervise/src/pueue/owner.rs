//! Pueue as a supervisor.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use record::answer::{SupervisorState, SupervisorView};
use record::outcome::Outcome;
use record::submission::{PueueBinding, Submission, SupervisorBinding};
use record::words::SupervisorKind;
use record::{AbsolutePath, TaskId};
use store::{Root, Task};

use super::binding;
use super::client::Client;
use super::config::{Config, Surroundings};
use super::error::PueueError;
use super::private::Private;
use super::rows::{self, Row};
use crate::confirmation::confirmed;
use crate::limits::{ENSURE_LOOKS_MAX_COUNT, PUEUE_VIEW_MAX_AGE};
use crate::runner::Runner;
use crate::{Inspection, SuperviseError, Supervisor, machine, submission};

/// A queue of Pueue as the owner of runners.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pueue {
    /// Our own executable, absolute; it takes the hidden words [`super::PUEUE_DAEMON_WORD`] and [`crate::RUN_WORD`].
    pub delegate: PathBuf,
    /// The configuration of the queue for new tasks; `None` for a private queue in the root.
    pub config: Option<AbsolutePath>,
    /// Runners at once of a private queue that has to be started; `None` for one per processor.
    pub slots: Option<u32>,
}

/// What a queue said when this process looked at it last.
struct LastLook {
    config: AbsolutePath,
    at: Instant,
    /// `None` when it could not be asked.
    rows: Option<Vec<Row>>,
}

/// A command that watches many tasks asks once for all.
static LAST_LOOK: Mutex<Option<LastLook>> = Mutex::new(None);

impl Supervisor for Pueue {
    fn kind(&self) -> SupervisorKind {
        SupervisorKind::Pueue
    }

    fn bind(&self, root: &Root) -> Result<Option<SupervisorBinding>, SuperviseError> {
        let (config, is_private) = match &self.config {
            Some(config) => (config.clone(), false),
            None => (Private::of(root, &machine()?).configure()?, true),
        };
        Ok(Some(SupervisorBinding::Pueue(binding::bind(root, &config, is_private)?)))
    }

    /// Asks first. A row that may still run is enough; one that ended without an outcome of the task is replaced. What an
    /// `add` that failed really did is asked again.
    fn submit(&self, root: &Root, task: &Task) -> Result<(), SuperviseError> {
        let owned = Owned::read(root, task)?;
        let client = binding::client_of(root, &owned.binding)?;
        if owned.binding.daemon.is_some() {
            self.private_of(root, &owned)?.serve(self, &owned.binding, &client)?;
        }
        let before = owned.rows(client.rows()?);
        if before.iter().any(Row::may_run) {
            return Ok(());
        }
        let added = client.add(&owned.label, &self.command(root, task, &owned.submission));
        confirmed(added, &before, PartialEq::eq, || Ok(owned.rows(client.rows()?)))
    }

    fn view(&self, root: &Root, task: &Task) -> SupervisorView {
        let rows = Owned::read(root, task).ok().and_then(|owned| owned.seen_rows(root));
        let row = rows.as_ref().and_then(|rows| rows::current(rows));
        let has_ended = matches!(task.read::<Outcome>(), Ok(Some(_)));
        SupervisorView {
            kind: SupervisorKind::Pueue,
            state: match row {
                _ if has_ended => SupervisorState::Ended,
                Some(row) => row.state,
                None => SupervisorState::Unknown,
            },
            matched: rows.as_ref().map(|rows| !rows.is_empty()),
            numeric_task_id: row.map(|row| row.number),
            job: None,
            node: None,
            reason: None,
        }
    }

    /// Only a private daemon is ours to start.
    fn ensure(&self, root: &Root) -> Result<(), SuperviseError> {
        let machine = machine()?;
        let private = Private::of(root, &machine);
        if !private.exists() || private.is_served() {
            return Ok(());
        }
        let open = root.open_tasks()?;
        let owned = open.iter().take(ENSURE_LOOKS_MAX_COUNT).find_map(|id| {
            let task = root.task(*id).ok()??;
            let has_ended = !matches!(task.read::<Outcome>(), Ok(None));
            Owned::read(root, &task)
                .ok()
                .filter(|owned| !has_ended && private.is_configured_by(&owned.binding))
        });
        match owned {
            None => Ok(()),
            Some(owned) => {
                let client = binding::client_of(root, &owned.binding)?;
                private.serve(self, &owned.binding, &client)
            }
        }
    }

    fn withdraw(&self, root: &Root, task: &Task) -> Result<(), SuperviseError> {
        let owned = Owned::read(root, task)?;
        let client = binding::client_of(root, &owned.binding)?;
        let waiting = |rows: Vec<Row>| owned.rows(rows).into_iter().filter(|row| row.is_waiting);
        let asked: Vec<_> = waiting(client.rows()?)
            .map(|row| client.ask(["remove".to_owned(), row.number.to_string()]))
            .collect();
        // A row that was started meanwhile is refused, and its runner finds the outcome: only one that still waits is left over.
        match asked.into_iter().find_map(Result::err) {
            Some(error) if waiting(client.rows()?).next().is_some() => Err(error.into()),
            _ => Ok(()),
        }
    }

    fn inspect(&self, root: Option<&Root>) -> Option<Inspection> {
        let client = binding::on_path().ok()?;
        let (place, reached) = self.reach(&client, root);
        // A version is told whatever the configuration.
        let config = self.config.clone().or_else(|| AbsolutePath::new(Path::new("/")).ok())?;
        let version = Client { program: client, config }.version().map_err(SuperviseError::from);
        Some(Inspection { version, place, reached })
    }
}

impl Pueue {
    /// The configuration for new tasks, and whether its queue is served.
    fn reach(&self, client: &Path, root: Option<&Root>) -> (String, Option<Result<(), SuperviseError>>) {
        let Some(config) = &self.config else {
            let private = root.and_then(|root| Some(Private::of(root, &machine().ok()?)));
            let is_served = private.is_some_and(|private| private.is_served());
            let missing = binding::beside(client).err().map(|error| Err(error.into()));
            return ("a private queue in the root".to_owned(), missing.or(is_served.then_some(Ok(()))));
        };
        let asked = || -> Result<(), PueueError> {
            let config = Config::read(config, &Surroundings::of_this_process())?;
            Client { program: client.to_path_buf(), config: config.path }.rows().map(drop)
        };
        (config.to_string(), Some(asked().map_err(SuperviseError::from)))
    }

    fn private_of(&self, root: &Root, owned: &Owned) -> Result<Private, SuperviseError> {
        let private = Private::of(root, &owned.submission.machine_id);
        if private.is_configured_by(&owned.binding) {
            Ok(private)
        } else {
            Err(PueueError::Changed { what: "the place of the state root" }.into())
        }
    }

    fn command(&self, root: &Root, task: &Task, submission: &Submission) -> Vec<OsString> {
        let runner = match &submission.runner_executable {
            Some(program) => Runner::named(program),
            None => Runner::beside(&self.delegate),
        };
        runner.words(root.path(), task.id())
    }
}

/// A task that Pueue owns on this machine.
struct Owned {
    submission: Submission,
    binding: PueueBinding,
    label: String,
    task: TaskId,
}

impl Owned {
    fn read(root: &Root, task: &Task) -> Result<Self, SuperviseError> {
        let submission = submission(task)?;
        if submission.supervisor != SupervisorKind::Pueue {
            return Err(SuperviseError::OtherSupervisor { recorded: submission.supervisor });
        }
        if submission.machine_id != machine()? {
            return Err(SuperviseError::OtherMachine);
        }
        let Some(SupervisorBinding::Pueue(binding)) = submission.supervisor_binding.clone() else {
            return Err(PueueError::NotBound.into());
        };
        let label = format!("delegate:{}:{}", root.id(), task.id());
        Ok(Self { submission, binding, label, task: task.id() })
    }

    /// Those of the task.
    fn rows(&self, rows: Vec<Row>) -> Vec<Row> {
        rows::of_task(rows, &self.label, self.task)
    }

    /// Those of the task as this process saw them last, at most a moment ago; `None` when the queue could not be asked.
    fn seen_rows(&self, root: &Root) -> Option<Vec<Row>> {
        let mut last = LAST_LOOK.lock().unwrap_or_else(PoisonError::into_inner);
        let is_fresh =
            |look: &LastLook| look.config == self.binding.config && look.at.elapsed() < PUEUE_VIEW_MAX_AGE;
        if last.as_ref().is_none_or(|look| !is_fresh(look)) {
            let rows = binding::client_of(root, &self.binding).and_then(|client| client.rows()).ok();
            *last = Some(LastLook { config: self.binding.config.clone(), at: Instant::now(), rows });
        }
        last.as_ref()?.rows.clone().map(|rows| self.rows(rows))
    }
}
