//! Where a command works: the root, the supervisor, our own executable.

use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use record::failure::{FailureCode, Stage};
use record::words::SupervisorKind;
use record::{AbsolutePath, TaskId, Timestamp};

use crate::arguments::Globals;
use crate::failure::Refusal;
use crate::human::{safe, shell};
use crate::root;
use crate::settings::Settings;

/// Name of the environment variable that stands for `--supervisor`.
const SUPERVISOR_VARIABLE: &str = "DELEGATE_SUPERVISOR";
/// Name of the environment variable that stands for `--pueue-config`.
const PUEUE_CONFIG_VARIABLE: &str = "DELEGATE_PUEUE_CONFIG";
/// Name of the environment variable with the number of slots.
const SLOTS_VARIABLE: &str = "DELEGATE_SLOTS";
/// Name of the program that takes the hidden words, as installed.
const PROGRAM_NAME: &str = "delegate";
/// Name of the runner's program, as installed.
const RUNNER_NAME: &str = "delegate-run";

/// Everything that a command on tasks needs.
pub(crate) struct Setting {
    /// For the room behind.
    pub(crate) context: turn::Context,
    /// For people.
    pub(crate) place: Place,
}

/// Names of places and commands as a reader can use them.
pub(crate) struct Place {
    root: AbsolutePath,
    program: String,
    root_flag: String,
    now: Timestamp,
}

impl Place {
    /// `root_flag` is the value of `--root` when it was given, so that shown commands reach the same root.
    pub(crate) fn new(root: AbsolutePath, program: String, root_flag: Option<&str>, now: Timestamp) -> Self {
        let root_flag = root_flag.map_or_else(String::new, |path| format!(" --root {}", shell::quoted(path)));
        Self { root, program, root_flag, now }
    }

    /// When the command began, for times that are told relative to it.
    pub(crate) fn now(&self) -> Timestamp {
        self.now
    }

    /// The state root.
    pub(crate) fn root(&self) -> &AbsolutePath {
        &self.root
    }

    /// The path of a file in the task's directory.
    pub(crate) fn file(&self, id: TaskId, basename: &str) -> PathBuf {
        let directory = self.root.as_path().join("tasks").join(id.to_string());
        directory.join(basename)
    }

    /// The directory of a task, for people.
    pub(crate) fn task_directory(&self, id: TaskId) -> String {
        safe::one_line(&format!("{}/tasks/{id}", self.root.as_str()))
    }

    /// A file in the directory of a task, for people.
    pub(crate) fn task_file(&self, id: TaskId, basename: &str) -> String {
        format!("{}/{}", self.task_directory(id), safe::one_line(basename))
    }

    /// A command line of this program that reaches the same root.
    pub(crate) fn command(&self, words: &str) -> String {
        format!("{}{} {words}", self.program, self.root_flag)
    }
}

/// Finds everything that a command on tasks needs. Nothing is made.
///
/// # Errors
/// A flag or variable that can not be used.
pub(crate) fn open(globals: &Globals) -> Result<Setting, Refusal> {
    let root = root::resolve(globals.root.as_deref())?;
    let settings = Settings::read()?;
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let Owner { kind, is_explicit, pueue_config } = Owner::choose(
        (globals.supervisor, globals.pueue_config.as_deref()),
        (variable(SUPERVISOR_VARIABLE), variable(PUEUE_CONFIG_VARIABLE)),
        (settings.supervisor, settings.pueue_config.as_deref()),
    )?;
    let runner = globals.runner.as_deref().map(runner).transpose()?;
    let program = own_program()?;
    let here = std::env::current_dir().unwrap_or_default();
    let search_path = std::env::var("PATH").unwrap_or_default();
    let shown_program = shell::own_name(program.as_path(), &search_path, &here);
    let root_flag = globals.root.as_ref().map(|_| root.as_str());
    let place = Place::new(root.clone(), shown_program, root_flag, turn::now());
    Ok(Setting {
        context: turn::Context {
            supervisor: kind,
            supervisor_is_explicit: is_explicit,
            pueue_config,
            runner,
            slots: slots()?.or(settings.slots.map(u32::from)),
            slurm: settings.slurm.options()?,
            ..context(root, program)
        },
        place,
    })
}

/// The surroundings of a runner: it takes everything about its task from the records.
///
/// # Errors
/// The path of our own executable can not be had.
pub(crate) fn of_runner(root: AbsolutePath) -> Result<turn::Context, Refusal> {
    Ok(context(root, own_program()?))
}

fn context(root: AbsolutePath, program: AbsolutePath) -> turn::Context {
    turn::Context {
        root,
        supervisor: SupervisorKind::Embedded,
        supervisor_is_explicit: false,
        pueue_config: None,
        slurm: turn::SlurmSettings::default(),
        runner: None,
        program,
        captured: turn::capture_environment(),
        slots: None,
    }
}

/// How many turns may run at once under a supervisor that this command starts.
fn slots() -> Result<Option<u32>, Refusal> {
    let Some(value) = std::env::var_os(SLOTS_VARIABLE).filter(|value| !value.is_empty()) else {
        return Ok(None);
    };
    match value.to_str().and_then(|text| text.parse().ok()) {
        Some(slots) if slots > 0 => Ok(Some(slots)),
        _ => Err(Refusal::invalid_request(format!("{SLOTS_VARIABLE} must be a number from 1 on"))),
    }
}

/// The owner of new tasks.
#[derive(Debug, PartialEq)]
struct Owner {
    kind: SupervisorKind,
    /// Whether anybody asked for that kind.
    is_explicit: bool,
    pueue_config: Option<AbsolutePath>,
}

impl Owner {
    /// From the flags, where those are silent from the variables, and else from the settings: a configuration of Pueue asks for
    /// Pueue. What only the settings say is nobody's word on a task that exists.
    ///
    /// # Errors
    /// Two flags that contradict each other, a kind that is not there, or a path that is none.
    fn choose(
        flags: (Option<SupervisorKind>, Option<&Path>),
        variables: (Option<OsString>, Option<OsString>),
        settings: (Option<SupervisorKind>, Option<&Path>),
    ) -> Result<Self, Refusal> {
        let named = match (flags, variables.0) {
            ((Some(kind), _), _) => Some(kind),
            ((None, Some(_)), _) => Some(SupervisorKind::Pueue),
            ((None, None), Some(value)) => Some(kind_of(&value)?),
            ((None, None), None) => variables.1.as_ref().map(|_| SupervisorKind::Pueue),
        };
        let set = settings.0.or(settings.1.map(|_| SupervisorKind::Pueue));
        let kind = named.or(set).unwrap_or(SupervisorKind::Embedded);
        let config = match (kind, flags.1, &variables.1) {
            (SupervisorKind::Pueue, Some(path), _) => Some(pueue_config("--pueue-config", path)?),
            (SupervisorKind::Pueue, None, Some(path)) => {
                Some(pueue_config(PUEUE_CONFIG_VARIABLE, Path::new(path))?)
            }
            (SupervisorKind::Pueue, None, None) => {
                settings.1.map(|path| pueue_config("pueue-config", path)).transpose()?
            }
            (_, None, _) => None,
            (_, Some(_), _) => {
                return Err(Refusal::invalid_request(format!(
                    "--pueue-config does not go with --supervisor {kind}"
                )));
            }
        };
        Ok(Self { kind, is_explicit: named.is_some(), pueue_config: config })
    }
}

fn kind_of(value: &OsStr) -> Result<SupervisorKind, Refusal> {
    value.to_str().and_then(|text| text.parse().ok()).ok_or_else(|| {
        Refusal::invalid_request(format!("{SUPERVISOR_VARIABLE} must be embedded, pueue or slurm"))
    })
}

fn pueue_config(name: &str, path: &Path) -> Result<AbsolutePath, Refusal> {
    AbsolutePath::new(path)
        .map_err(|fault| Refusal::invalid_request(format!("{name} {}: {fault}", path.display())))
}

/// The runner given with `--runner`: what it names must not depend on a link that may change (predecessor-core 1.1).
fn runner(path: &Path) -> Result<AbsolutePath, Refusal> {
    let refused = |why: &str| {
        let shown = path.display();
        Refusal::correctable(
            FailureCode::InvalidRequest,
            Stage::ResolveRunner,
            format!("--runner {shown}: {why}"),
        )
    };
    let clean = AbsolutePath::new(path).map_err(|fault| refused(&fault.to_string()))?;
    let metadata = path.symlink_metadata().map_err(|fault| refused(&fault.to_string()))?;
    if path.canonicalize().ok().as_deref() != Some(path) {
        return Err(refused("it is reached through a symbolic link"));
    }
    if !metadata.is_file() || metadata.permissions().mode() & 0o111 == 0 {
        return Err(refused("it is not an executable file"));
    }
    Ok(clean)
}

/// The executable that takes the hidden words. A runner answers with the `delegate` beside it, so that a plan that names our
/// own executable is the same at admission and at launch.
fn own_program() -> Result<AbsolutePath, Refusal> {
    let failed = |why: String| {
        Refusal::operational(
            FailureCode::DelegateInstallationIncomplete,
            Stage::ResolveRunner,
            format!("the path of this program can not be had: {why}"),
        )
    };
    let executable = std::env::current_exe().map_err(|fault| failed(fault.to_string()))?;
    let beside = executable.with_file_name(PROGRAM_NAME);
    let is_runner = executable.file_name().is_some_and(|name| name == RUNNER_NAME);
    let program = if is_runner && beside.is_file() {
        beside.canonicalize().map_err(|fault| failed(fault.to_string()))?
    } else {
        executable
    };
    AbsolutePath::new(&program).map_err(|fault| failed(fault.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_runner_is_a_plain_executable_file() {
        let directory = tempfile::tempdir().unwrap();
        let base = directory.path().canonicalize().unwrap();
        let good = base.join("runner");
        std::fs::write(&good, "").unwrap();
        assert!(runner(&good).is_err(), "not executable");
        std::fs::set_permissions(&good, PermissionsExt::from_mode(0o755)).unwrap();
        assert_eq!(runner(&good).unwrap().as_path(), good);

        let link = base.join("link");
        std::os::unix::fs::symlink(&good, &link).unwrap();
        for wrong in [link, base.clone(), base.join("missing"), "runner".into()] {
            let refusal = runner(&wrong).unwrap_err();
            assert_eq!(refusal.failure.code, FailureCode::InvalidRequest);
        }
    }

    #[test]
    fn settings_count_where_nobody_says_anything() {
        use SupervisorKind::{Embedded, Pueue, Slurm};
        let config = Path::new("/q");
        let choose = |flag, settings| Owner::choose((flag, None), (None, None), settings).unwrap();
        let owner = |kind, is_explicit| Owner { kind, is_explicit, pueue_config: None };
        assert_eq!(choose(None, (Some(Slurm), None)), owner(Slurm, false));
        assert_eq!(choose(Some(Embedded), (Some(Slurm), Some(config))), owner(Embedded, true));
        assert_eq!(choose(None, (Some(Embedded), Some(config))), owner(Embedded, false));
        let private = AbsolutePath::new(config).ok();
        assert_eq!(
            choose(None, (None, Some(config))),
            Owner { pueue_config: private.clone(), ..owner(Pueue, false) }
        );
        assert_eq!(
            choose(Some(Pueue), (None, Some(config))),
            Owner { pueue_config: private, ..owner(Pueue, true) }
        );
    }

    #[test]
    fn a_flag_counts_before_a_variable() {
        use SupervisorKind::{Embedded, Pueue, Slurm};
        let path = |text: &str| AbsolutePath::new(Path::new(text)).ok();
        let choose =
            |kind, config: Option<&str>, kind_variable: Option<&str>, config_variable: Option<&str>| {
                let variables = (kind_variable.map(OsString::from), config_variable.map(OsString::from));
                Owner::choose((kind, config.map(Path::new)), variables, (None, None))
            };
        let owner = |kind, is_explicit, config| Ok(Owner { kind, is_explicit, pueue_config: config });
        assert_eq!(choose(None, None, None, None), owner(Embedded, false, None));
        assert_eq!(choose(Some(Pueue), None, None, None), owner(Pueue, true, None));
        assert_eq!(choose(None, Some("/q"), Some("embedded"), Some("/r")), owner(Pueue, true, path("/q")));
        assert_eq!(choose(None, None, None, Some("/r")), owner(Pueue, true, path("/r")));
        assert_eq!(choose(None, None, Some("embedded"), Some("/r")), owner(Embedded, true, None));
        assert_eq!(choose(Some(Embedded), None, Some("pueue"), Some("/r")), owner(Embedded, true, None));
        assert_eq!(choose(Some(Slurm), None, Some("pueue"), Some("/r")), owner(Slurm, true, None));
        for (kind, config, variable, code) in [
            (Some(Embedded), Some("/q"), None, FailureCode::InvalidRequest),
            (None, Some("q"), None, FailureCode::InvalidRequest),
            (None, None, Some("bogus"), FailureCode::InvalidRequest),
        ] {
            assert_eq!(choose(kind, config, variable, None).unwrap_err().failure.code, code);
        }
    }
}
