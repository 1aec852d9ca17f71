//! One run: everything that is refused first, then one turn of the vendor's program, then publication or a diagnostic.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::time::Duration;

use gates::words::Status;

use super::home::Home;
use super::knobs::Knobs;
use super::lane::Lane;
use super::limits::{EVALUATION_MAX_SECONDS, OPERATION_MAX_SECONDS};
use super::login;
use super::outcome::{Turn, Work};
use super::probe;
use super::sandbox::Inside;
use super::{EFFORT, PROMPT_FLAG, RUNTIME_MODEL, heartbeat::Heartbeat};
use crate::common::child::{self, Launch, LaunchError, NewFiles};
use crate::common::clock::Start;
use crate::common::evaluation::{self, ManifestRules, POLICY_ANNOTATION_SCHEMA};
use crate::common::exit::Refusal;
use crate::common::line::RunLine;
use crate::common::login::LoginMode;
use crate::common::place::{DebugRule, PathRules, Places};
use crate::common::program::{Call, Done};
use crate::common::prompt::Prompt;
use crate::common::report::printed;
use crate::common::run_directory::RunDirectory;

const EVALUATED_LANE: &str = "policy-annotation";
const MANIFEST: ManifestRules = ManifestRules {
    schema: POLICY_ANNOTATION_SCHEMA,
    further_keys: &[],
    timeout_max_seconds: EVALUATION_MAX_SECONDS,
};

const fn paths(lane: Lane) -> PathRules {
    PathRules {
        create_parents: false,
        diagnostic_may_exist: false,
        outputs_outside_workdir: !lane.edits(),
        debug: DebugRule::PrivateOutsideWorkdir,
        workdir_is_narrow: true,
        reserved: &[".stderr"],
    }
}

pub(super) fn run(call: &Call<'_>, line: &RunLine) -> Result<Done, Refusal> {
    let surroundings = call.surroundings;
    let admitted =
        call.gates.admit(line, |lane, status| lane == EVALUATED_LANE && status == Status::Candidate)?;
    let lane = Lane::of(&admitted.lane)
        .ok_or_else(|| Refusal::gate(format!("lane {}: no tools are known for it", admitted.lane)))?;
    if admitted.effort != EFFORT {
        return Err(Refusal::usage(format!("effort {}: Kimi runs at {EFFORT} alone", admitted.effort)));
    }
    let prompt = match &line.prompt_file {
        Some(path) => Prompt::read(path)?,
        None => Prompt::of_argument(line.own(PROMPT_FLAG).unwrap_or_default())?,
    };
    let manifest = match line.manifest() {
        Some(path) => {
            let gates = call.gates;
            Some(evaluation::check(path, MANIFEST, call.family, gates, &admitted, &prompt, surroundings)?)
        }
        None => None,
    };
    let places = Places::check(line, paths(lane))?;
    prompt.demand_text()?;
    prompt.demand_argument(0)?;
    let mut knobs = Knobs::of(surroundings)?;
    if let Some(mode) = LoginMode::of_line(line)? {
        knobs.login_mode = mode;
    }
    if line.evaluation {
        knobs.login_mode = LoginMode::Serialized;
    }
    demand_apart(&knobs, &places.workdir)?;
    let (runtime, login) = probe::probe(call, &knobs, lane)?;
    if line.preflight_only()
        && let Some(manifest) = &manifest
    {
        return Ok(printed(&manifest.preflight(&admitted)));
    }
    let run_directory = RunDirectory::create(call.family)?;
    let home = Home::build(lane, &runtime.ripgrep, &run_directory)?;
    let placed = login::put(&login, &knobs, &home)?;
    let limit = manifest.as_ref().map_or(OPERATION_MAX_SECONDS, |manifest| manifest.timeout_seconds);
    let inside = Inside {
        home: &home,
        kimi: &runtime.kimi,
        ripgrep: &runtime.ripgrep,
        workspace: Some((&places.workdir, lane)),
        writable: &login::writable(&login),
    };
    let fence = runtime.confinement.fence(inside, &run_directory);
    let launch = Launch {
        name: "kimi",
        program: &runtime.kimi,
        arguments: arguments(&prompt, &home),
        environment: home.environment(),
        directory: &places.workdir,
        stdin: b"",
        fence: fence.map_err(Refusal::sandbox)?,
        limit: Duration::from_secs(limit),
        grace: knobs.grace,
        new_files: NewFiles::of_run(lane.edits()),
    };
    let work = Work {
        family: call.family,
        lane,
        admitted,
        manifest,
        places: places.clone(),
        mode: knobs.login_mode,
        ambient: &knobs.ambient,
        secrets: login::secrets(&[&home.kimi, &knobs.ambient]),
        runtime: &runtime,
        start: Start::now(),
    };
    if call.signals.take().is_some() {
        return Ok(work.conclude(&home, &placed, Turn::Cancelled));
    }
    let mut heartbeat = Heartbeat::new(call.family, knobs.heartbeat);
    let ended = child::run(launch, &run_directory, surroundings, call.signals, &mut |stdout, _| {
        heartbeat.beat(stdout);
    });
    match ended {
        Ok(ended) => Ok(work.conclude(&home, &placed, Turn::Ended(ended))),
        Err(LaunchError::Sandbox(why)) => Err(Refusal::sandbox(why)),
        Err(LaunchError::Other(_)) => Ok(work.conclude(&home, &placed, Turn::Lost)),
    }
}

/// Accepts the text of a prompt.
///
/// # Errors
/// 64.
pub(super) fn check_prompt(text: &OsStr) -> Result<(), Refusal> {
    let prompt = Prompt::of_argument(text)?;
    prompt.demand_text()?;
    prompt.demand_argument(0)
}

/// Refuses a workspace that would open what is closed off: the vendor's directory of the user, the data home, or the place of the
/// private directories.
fn demand_apart(knobs: &Knobs, workdir: &Path) -> Result<(), Refusal> {
    let temporary = std::env::temp_dir();
    for closed in [&knobs.ambient, &knobs.data_home, &knobs.ripgrep_store, &temporary] {
        let closed = closed.canonicalize().unwrap_or_else(|_| closed.clone());
        if closed.starts_with(workdir) {
            return Err(Refusal::usage(format!("--workdir: {} lies in it", closed.display())));
        }
    }
    Ok(())
}

fn arguments(prompt: &Prompt, home: &Home) -> Vec<OsString> {
    vec![
        "--prompt".into(),
        prompt.text.clone().into(),
        "--model".into(),
        RUNTIME_MODEL.into(),
        "--agent-file".into(),
        home.agent.clone().into(),
        "--skills-dir".into(),
        home.skills.clone().into(),
        "--output-format".into(),
        "stream-json".into(),
    ]
}
