//! One run: everything that is refused first, then one print run of the vendor's program, then publication or a diagnostic.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use gates::words::Status;
use serde_json::{Map, Value, json};

use super::classify;
use super::confinement::fence;
use super::home::Home;
use super::limits::{OPERATION_DEFAULT_SECONDS, OPERATION_MAX_SECONDS};
use super::probe;
use super::runtime_model;
use crate::common::child::{self, End, Ended, KILL_GRACE, Launch, LaunchError, NewFiles};
use crate::common::clock::Start;
use crate::common::diagnostic::{Account, fail};
use crate::common::environment::ChildEnvironment;
use crate::common::exit::{Exit, Failure, Phase, Refusal};
use crate::common::gate::Admitted;
use crate::common::line::RunLine;
use crate::common::login::tokens::of_files;
use crate::common::place::{DebugRule, PathRules, Places};
use crate::common::program::{Call, Done, Stop, ended};
use crate::common::prompt::Prompt;
use crate::common::publish::{Member, publish};
use crate::common::report::{json_file, members};
use crate::common::run_directory::RunDirectory;
use crate::common::sandbox::LANDLOCK;

const PATHS: PathRules = PathRules {
    create_parents: true,
    diagnostic_may_exist: false,
    outputs_outside_workdir: false,
    debug: DebugRule::Exists,
    workdir_is_narrow: false,
    reserved: &[],
};
const PREAMBLE: &str = "\
This is a prompt-only task. Everything that you may use stands below; there is no workspace, no file and no network. \
Do not call any tool: every call is denied. Answer in plain text.\n\n";

pub(super) fn run(call: &Call<'_>, line: &RunLine) -> Result<Done, Refusal> {
    ended(attempt(call, line))
}

fn attempt(call: &Call<'_>, line: &RunLine) -> Result<Done, Stop> {
    let surroundings = call.surroundings;
    let admitted = call.gates.admit(line, |_, status| status != Status::Disabled)?;
    let places = Places::check(line, PATHS)?;
    let path = line.prompt_file.as_deref().ok_or_else(|| Refusal::usage("--prompt-file is missing"))?;
    let prompt = Prompt::read(path)?;
    prompt.demand_argument(PREAMBLE.len())?;
    let limit = surroundings.number("DELEGATION_GEMINI_TIMEOUT_SECONDS", 1..=OPERATION_MAX_SECONDS)?;
    ChildEnvironment::of_user(surroundings)?;
    let runtime = probe::probe(call, &[&admitted.effort])?;
    places.create_parents()?;
    let run_directory = RunDirectory::create(call.family)?;
    let home = Home::build(&runtime.user_home, &runtime_model(&admitted.effort), &run_directory)?;
    let fence = fence(&runtime.user_home, &runtime.agy, &home, &run_directory);
    let launch = Launch {
        name: "agy",
        program: &runtime.agy,
        arguments: arguments(&prompt, &admitted.effort),
        environment: home.environment(surroundings)?,
        directory: &home.workspace,
        stdin: b"",
        fence: fence.map_err(Refusal::sandbox)?,
        limit: Duration::from_secs(limit.unwrap_or(OPERATION_DEFAULT_SECONDS)),
        grace: KILL_GRACE,
        new_files: NewFiles::Private,
    };
    let login = home.login();
    let secrets = of_files([login.as_path()]);
    let work = Work { call, admitted, places, login, secrets, start: Start::now() };
    match child::run(launch, &run_directory, surroundings, call.signals, &mut |_, _| {}) {
        Ok(Ended { end: End::Interrupted(signal), .. }) => Err(Stop::Interrupted(signal)),
        Ok(ended) => Ok(work.conclude(&ended)),
        Err(LaunchError::Sandbox(why)) => Err(Refusal::sandbox(why).into()),
        Err(LaunchError::Other(_)) => {
            let failure = Failure::new(Exit::Failed, Phase::Dispatch, "process_lost");
            Ok(work.fail(&Output::default(), failure))
        }
    }
}

fn arguments(prompt: &Prompt, effort: &str) -> Vec<OsString> {
    let model = runtime_model(effort);
    let text = format!("{PREAMBLE}{}", prompt.text);
    [
        "-p",
        &text,
        "--model",
        &model,
        "--effort",
        effort,
        "--mode",
        "plan",
        "--sandbox",
        "--print-timeout",
        "5m",
    ]
    .map(OsString::from)
    .to_vec()
}

/// A run that is prepared.
struct Work<'a> {
    call: &'a Call<'a>,
    admitted: Admitted,
    places: Places,
    /// The copy of the login.
    login: PathBuf,
    /// The tokens that it held before the turn.
    secrets: Vec<String>,
    start: Start,
}

/// What the vendor's program wrote, and the status that it ended with.
#[derive(Default)]
struct Output {
    status: Option<i32>,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

impl Work<'_> {
    fn conclude(&self, ended: &Ended) -> Done {
        let (stdout, stderr) = (ended.stdout.read(), ended.stderr.read());
        let is_readable = stdout.is_ok() && stderr.is_ok();
        let output = Output {
            status: ended.end.status(),
            stdout: stdout.unwrap_or_default(),
            stderr: stderr.unwrap_or_default(),
        };
        let failure = classify::failure(ended.end, &output.stderr);
        let done = match failure {
            Some(failure) => Err(failure),
            None if !is_readable => Err(Failure::extract("output_unreadable")),
            None if output.stdout.iter().all(u8::is_ascii_whitespace) => {
                Err(Failure::extract("empty_output"))
            }
            None => self.publish(&output),
        };
        match done {
            Ok(()) => Done::Published,
            Err(failure) => self.fail(&output, failure),
        }
    }

    /// The answer byte for byte, after the metrics.
    fn publish(&self, output: &Output) -> Result<(), Failure> {
        let mut metrics = self.pins();
        metrics.extend(members(json!({
            "runtime_model": runtime_model(&self.admitted.effort),
            "context_mode": "prompt_only",
            "workspace_mode": "isolated_empty",
            "home_mode": "isolated_keychain_oauth",
            "sandbox": LANDLOCK,
            "started_at_epoch": self.start.epoch,
            "finished_at_epoch": self.start.finished_epoch(),
            "duration_seconds": self.start.elapsed_seconds(),
            "tokens": null,
            "provider_cost_usd": null,
        })));
        publish(&[
            Member {
                destination: &self.places.metrics,
                bytes: json_file(&Value::Object(metrics)),
                stage_failure: Failure::publish("metrics_write_failed"),
                publish_reason: "metrics_publish_failed",
            },
            Member {
                destination: &self.places.output,
                bytes: output.stdout.clone(),
                stage_failure: Failure::publish("output_stage_failed"),
                publish_reason: "output_publish_failed",
            },
        ])
    }

    fn fail(&self, output: &Output, failure: Failure) -> Done {
        let mut diagnostic = self.pins();
        diagnostic.extend(members(json!({
            "schema_version": 1,
            "cli_exit_code": output.status,
            "stdout_bytes": output.stdout.len(),
            "stderr_bytes": output.stderr.len(),
            "elapsed_seconds": self.start.elapsed_seconds(),
        })));
        let account = Account {
            family: self.call.family,
            places: &self.places,
            members: diagnostic,
            debug_member: "debug_dir",
            material: vec![("stdout.txt", output.stdout.clone()), ("stderr.txt", output.stderr.clone())],
            secrets: [self.secrets.clone(), of_files([self.login.as_path()])].concat(),
            keeps_diagnostic: true,
            names_debug: false,
        };
        fail(account, failure)
    }

    fn pins(&self) -> Map<String, Value> {
        members(json!({
            "model": self.call.family.model,
            "backend": self.call.family.backend(),
            "effort": self.admitted.effort,
            "lane": self.admitted.lane,
        }))
    }
}
