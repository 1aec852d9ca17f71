//! One run: everything that is refused first, then one turn of the vendor's program, then publication or a diagnostic.

use std::time::Duration;

use gates::words::Status;
use process::Fence;

use super::home::{Home, LOGIN, SandboxProfile};
use super::interface::arguments;
use super::knobs::Knobs;
use super::lane::Lane;
use super::limits::EVALUATION_MAX_SECONDS;
use super::login;
use super::outcome::Work;
use super::probe::{self, Wanted};
use crate::common::child::{self, KILL_GRACE, Launch, NewFiles};
use crate::common::clock::Start;
use crate::common::environment::ChildEnvironment;
use crate::common::evaluation::{self, ManifestRules, POLICY_ANNOTATION_SCHEMA};
use crate::common::exit::Refusal;
use crate::common::line::RunLine;
use crate::common::login::LoginMode;
use crate::common::login::tokens::of_files;
use crate::common::place::{DebugRule, PathRules, Places};
use crate::common::program::{Call, Done, Stop, ended};
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
        debug: if lane.edits() { DebugRule::Exists } else { DebugRule::OutsideWorkdir },
        workdir_is_narrow: false,
        reserved: &[],
    }
}

pub(super) fn run(call: &Call<'_>, line: &RunLine) -> Result<Done, Refusal> {
    ended(attempt(call, line))
}

fn attempt(call: &Call<'_>, line: &RunLine) -> Result<Done, Stop> {
    let surroundings = call.surroundings;
    let admitted =
        call.gates.admit(line, |lane, status| lane == EVALUATED_LANE && status == Status::Candidate)?;
    let lane = Lane::of(&admitted.lane)
        .ok_or_else(|| Refusal::gate(format!("lane {}: no tools are known for it", admitted.lane)))?;
    if !lane.edits() && !line.evaluation {
        return Err(Refusal::gate(format!("lane {} is only evaluated", admitted.lane)).into());
    }
    let path = line.prompt_file.as_deref().ok_or_else(|| Refusal::usage("--prompt-file is missing"))?;
    let prompt = Prompt::read(path)?;
    let manifest = match line.manifest() {
        Some(path) => {
            let gates = call.gates;
            Some(evaluation::check(path, MANIFEST, call.family, gates, &admitted, &prompt, surroundings)?)
        }
        None => None,
    };
    let places = Places::check(line, paths(lane))?;
    prompt.demand_text()?;
    let mode = LoginMode::of_line(line)?.filter(|_| !line.evaluation).unwrap_or(LoginMode::Serialized);
    ChildEnvironment::of_user(surroundings)?;
    let knobs = Knobs::of(surroundings)?;
    let run_directory = RunDirectory::create(call.family)?;
    let profile = SandboxProfile::of(lane, &run_directory);
    let wanted = Wanted { lane, mode, profile: &profile, workdir: Some(&places.workdir) };
    let (runtime, login) = probe::probe(call, &knobs, wanted)?;
    if line.preflight_only()
        && let Some(manifest) = &manifest
    {
        return Ok(printed(&manifest.preflight(&admitted)));
    }
    let home = Home::build(&profile, &run_directory)?;
    let prompt_file = home.write_prompt(&prompt.text)?;
    let (placed, home) = login::put(&login, &knobs, home)?;
    let limit =
        manifest.as_ref().map_or(knobs.limit, |manifest| Duration::from_secs(manifest.timeout_seconds));
    let launch = Launch {
        name: "grok",
        program: &runtime.binary.path,
        arguments: arguments(lane, &prompt_file, &profile),
        environment: home.environment(surroundings)?,
        directory: &places.workdir,
        stdin: b"",
        fence: Fence::Theirs,
        limit,
        grace: KILL_GRACE,
        new_files: NewFiles::of_run(lane.edits()),
    };
    let start = Start::now();
    let secrets = of_files([home.vendor.join(LOGIN).as_path(), &knobs.ambient.join(LOGIN)]);
    let (places, runtime) = (places.clone(), runtime.clone());
    let work = Work { lane, admitted, manifest, places, runtime, limit, secrets, start };
    if let Some(signal) = call.signals.take() {
        return Err(Stop::Interrupted(signal));
    }
    let ended = child::run(launch, &run_directory, surroundings, call.signals, &mut |_, _| {});
    work.conclude(&home, &placed, &profile, ended.ok())
}
