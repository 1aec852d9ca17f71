//! `<family>:run`: a task whose child is a family runner (runners.md). The runner decides by the gates whether a lane may run;
//! here is only how it is started and how the files that it leaves are read.
//!
//! A family is one value in [`families`]; what it needs beyond is a field here, not a profile of its own.

mod families;
mod judge;
mod reason;
mod refusal;
mod summary;

pub(crate) use families::{DEEPSEEK, GEMINI, GLM, GROK, KIMI, QWEN};
pub use refusal::{LOGIN_OPENING, SANDBOX_OPENING};

use record::AbsolutePath;
use record::capability::{Description, ReadOnlyDescription, RuntimeDescription};
use record::request::Request;
use record::words::{ContinuationMode, Fence, Permission, ProfileOption, ReadOnlyMechanism};

use crate::environment::{BASE_NAMES, Environment};
use crate::error::PlanError;
use crate::host::Host;
use crate::judge::Judge;
use crate::launch::{self, Decided};
use crate::login::{LoginFile, ProgramBehind};
use crate::profile::{Draft, PlanInput, Profile};
use crate::roots;
use crate::summary::Summariser;
use crate::{executable, options, probe};

/// What the runner writes the answer to; its two companions have further words behind that name.
const ANSWER: &str = "answer.txt";
const METRICS: &str = "answer.txt.metrics.json";
const DIAGNOSTIC: &str = "answer.txt.error.json";
/// The brief is standard input, which is a sealed file.
const PROMPT: &str = "/dev/stdin";
const REQUIRED_FLAGS: &[&str] =
    &["--allow-provisional", "--effort", "--lane", "--output", "--prompt-file", "--workdir"];
/// Name the gates, for every runner validates all of them.
const GATE_NAMES: &[&str] = &[
    "DELEGATION_ROUTING_GATES_FILE",
    "DELEGATION_EVIDENCE_FILE",
    "DELEGATION_GLM_ROUTING_FILE",
    "DELEGATION_KIMI_ROUTING_FILE",
    "DELEGATION_GROK_ROUTING_FILE",
    "DELEGATION_QWEN_ROUTING_FILE",
    "DELEGATION_DEEPSEEK_ROUTING_FILE",
    "DELEGATION_GEMINI_ROUTING_FILE",
];

/// One family runner as a profile.
pub(crate) struct Runner {
    /// The profile.
    id: &'static str,
    /// The program.
    program: &'static str,
    /// The lanes that write into the workspace; they need `workspace-write`, all others `read-only`.
    writing_lanes: &'static [&'static str],
    /// How read-only is kept beside our fence.
    read_only: ReadOnlyMechanism,
    /// Variables that pass beyond those of all runners.
    names: &'static [&'static str],
    /// Variables with the value that they have in a task, whatever the caller's say.
    settings: &'static [(&'static str, &'static str)],
    /// The variable that names the key file.
    key_file_name: Option<&'static str>,
    /// Names of secret variables that an environment file may set.
    secret_names: &'static [&'static str],
    /// The program behind the runner.
    behind: Option<ProgramBehind>,
    /// Where the program behind the runner keeps its login; the runner writes what is refreshed into that directory.
    login: Option<LoginFile>,
    /// The directory in the data home of the runners that the runner writes for logins that runs share.
    shared_logins: Option<&'static str>,
    /// The variable by which the runner takes a time limit in seconds.
    timeout_name: Option<&'static str>,
    /// Files that the runner may leave beyond the three of every runner.
    further_artifacts: &'static [&'static str],
    /// What the fence limits, one sentence each.
    fence_limits: &'static [&'static str],
}

impl Runner {
    /// The variables that [`Environment::build`] takes as they are.
    fn plain_names(&self) -> Vec<&'static str> {
        [BASE_NAMES, GATE_NAMES, self.names].concat()
    }

    /// The lane, which must fit the mode.
    fn lane<'a>(&self, request: &'a Request) -> Result<&'a str, PlanError> {
        let refused = |why: String| Err(PlanError::InvalidOption { option: ProfileOption::Lane, why });
        let Some(lane) = request.requested_config.lane.as_deref() else {
            return refused(format!("{} runs nothing without --lane", self.program));
        };
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte == b'-';
        if lane.is_empty() || lane.starts_with('-') || !lane.bytes().all(plain) {
            return refused("it is no name of a lane".to_owned());
        }
        let needed = match self.writing_lanes.contains(&lane) {
            true => Permission::WorkspaceWrite,
            false => Permission::ReadOnly,
        };
        if request.requested_config.permission != needed {
            return refused(format!("lane {lane} needs --permission {needed}"));
        }
        Ok(lane)
    }

    fn environment(&self, request: &Request, host: &dyn Host) -> Result<Environment, PlanError> {
        let mut environment = Environment::build(&self.plain_names(), request, host)?;
        if let Some((name, value)) = self.key_file_name.and_then(|name| Some((name, host.variable(name)?))) {
            environment.set(name, value);
        }
        if let Some((name, timeout)) = self.timeout_name.zip(request.requested_config.native_timeout) {
            environment.set(name, timeout.duration().as_secs().max(1).to_string());
        }
        for (name, value) in self.settings {
            environment.set(name, (*value).to_owned());
        }
        Ok(environment)
    }

    /// The directories beside the workspace that the runner writes.
    fn state(&self, environment: &Environment) -> Result<Vec<AbsolutePath>, PlanError> {
        let plain = |directory: AbsolutePath, name: &str| directory.join(name).expect("a plain path");
        let mut directories = Vec::new();
        if let Some(login) = self.login {
            directories.push(match directory(environment, login.directory_variable)? {
                Some(directory) => directory,
                None => plain(roots::home(environment)?, login.directory),
            });
        }
        if let Some(name) = self.shared_logins {
            directories.push(plain(data_home(environment)?, name));
        }
        Ok(directories)
    }
}

/// The directory that a variable names; an empty one counts as unset, as for the runners.
fn directory(environment: &Environment, name: &str) -> Result<Option<AbsolutePath>, PlanError> {
    if environment.get(name) == Some("") { Ok(None) } else { roots::directory(environment, name) }
}

/// The data home of the runners, by the rule of the runners themselves (runners.md 3.3).
fn data_home(environment: &Environment) -> Result<AbsolutePath, PlanError> {
    if let Some(named) = directory(environment, "DELEGATION_DATA_HOME")? {
        return Ok(named);
    }
    let (parent, below) = match directory(environment, "XDG_DATA_HOME")? {
        Some(parent) => (parent, "delegation-kit"),
        None => (roots::home(environment)?, ".local/share/delegation-kit"),
    };
    Ok(parent.join(below).expect("a plain path"))
}

impl Profile for Runner {
    fn description(&self) -> Description {
        let mut supported_options = vec![ProfileOption::Effort, ProfileOption::Lane];
        supported_options.extend(self.timeout_name.map(|_| ProfileOption::NativeTimeout));
        let mut supported_modes = vec![Permission::ReadOnly];
        supported_modes.extend((!self.writing_lanes.is_empty()).then_some(Permission::WorkspaceWrite));
        Description {
            id: self.id.parse().expect("a well-formed id"),
            supported_modes,
            supported_options,
            continuation: ContinuationMode::Unsupported,
            read_only: ReadOnlyDescription {
                supported: true,
                mechanism: self.read_only,
                containment: Fence::Ours,
            },
            runtime: RuntimeDescription {
                executable: Some(self.program.to_owned()),
                help_args: Vec::new(),
                required_flags: REQUIRED_FLAGS.iter().map(|&flag| flag.to_owned()).collect(),
            },
        }
    }

    fn revision(&self) -> u32 {
        1
    }

    fn environment_names(&self) -> Vec<&'static str> {
        self.plain_names().into_iter().chain(self.key_file_name).chain(self.timeout_name).collect()
    }

    fn secret_names(&self) -> &'static [&'static str] {
        self.secret_names
    }

    fn login_file(&self) -> Option<LoginFile> {
        self.login
    }

    fn login_words(&self) -> String {
        match self.key_file_name {
            Some(_) => "its key is looked for only when it runs".to_owned(),
            None => "the program behind it knows whether it is signed in".to_owned(),
        }
    }

    fn login_advice(&self) -> Option<String> {
        let name = self.key_file_name?;
        let secrets = self.secret_names.join(" or ");
        Some(format!("put the key into a file and name it in {name}, or hand over {secrets} by --env-file"))
    }

    fn program_behind(&self) -> Option<ProgramBehind> {
        self.behind
    }

    fn plan(&self, input: &PlanInput<'_>, host: &dyn Host) -> Result<Draft, PlanError> {
        let description = self.description();
        let request = input.request;
        let offer = options::Offer {
            description: &description,
            fences: &[Fence::Ours, Fence::None],
            modes_note: "no lane of it writes into the workspace",
            secret_names: self.secret_names,
            is_conversation: options::is_uuid,
        };
        let options = options::check(offer, request)?;
        let lane = self.lane(request)?;
        let output = input.output_directory.join(ANSWER).expect("a plain name");
        let mut argv: Vec<String> = [self.program, "run", "--lane", lane].map(str::to_owned).to_vec();
        argv.extend(["--effort", options.effort.unwrap_or("auto")].map(str::to_owned));
        argv.extend(["--prompt-file", PROMPT, "--output", output.as_str()].map(str::to_owned));
        argv.extend(["--workdir", request.canonical_cwd.as_str()].map(str::to_owned));
        argv.extend(request.requested_config.allow_provisional.then(|| "--allow-provisional".to_owned()));

        let mut environment = self.environment(request, host)?;
        let mut writable = launch::writable(host, &mut environment, options.fence, input)?;
        for directory in self.state(&environment)? {
            writable.add(&directory)?;
        }
        let executable = executable::find(host, self.program, None)?;
        let decided = Decided {
            executable,
            argv,
            environment,
            fence: options.fence,
            approval: "gates",
            writable,
            judge: &judge::Revision1,
        };
        let mut launch = decided.into_plan(&description.id, request);
        launch.output_artifacts = [&[ANSWER, DIAGNOSTIC, METRICS], self.further_artifacts]
            .concat()
            .into_iter()
            .map(str::to_owned)
            .collect();
        Ok(Draft { launch, probes: probe::version_and_help(&[]), required_flags: REQUIRED_FLAGS.to_vec() })
    }

    fn fence_limits(&self) -> &'static [&'static str] {
        self.fence_limits
    }

    fn summariser(&self) -> Box<dyn Summariser> {
        Box::new(summary::Silence)
    }

    fn judges(&self) -> &'static [&'static dyn Judge] {
        &[&judge::Revision1]
    }
}
