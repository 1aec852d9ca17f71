//! One run: everything that is refused first, then one turn of Claude Code, then publication or a diagnostic.

use std::ffi::OsStr;
use std::time::Duration;

use gates::words::Status;
use process::Fence;

use super::launch::{self, Order, Private};
use super::limits::{
    BUDGET_DEFAULT_USD, BUDGET_MAX_USD, BUILDING_DEFAULT_SECONDS, LANE_EVALUATION_MAX_SECONDS,
    POLICY_EVALUATION_MAX_SECONDS, READING_DEFAULT_SECONDS, RUN_MAX_SECONDS,
};
use super::outcome::Work;
use super::qualification::{self, Qualification};
use super::runtime::{self, Host, Runtime, Unready};
use super::{BUDGET_FLAG, BUILDER, POLICY_ANNOTATION, confinement, endpoint};
use crate::common::child::{self, KILL_GRACE, Launch, NewFiles};
use crate::common::clock::Start;
use crate::common::environment::ChildEnvironment;
use crate::common::evaluation::{self, Manifest, ManifestRules, POLICY_ANNOTATION_SCHEMA};
use crate::common::exit::Refusal;
use crate::common::gate::Admitted;
use crate::common::line::RunLine;
use crate::common::place::{DebugRule, PathRules, Places};
use crate::common::program::{Call, Done};
use crate::common::prompt::Prompt;
use crate::common::run_directory::RunDirectory;

const POLICY_MANIFEST: ManifestRules = ManifestRules {
    schema: POLICY_ANNOTATION_SCHEMA,
    further_keys: &[],
    timeout_max_seconds: POLICY_EVALUATION_MAX_SECONDS,
};
const LANE_MANIFEST: ManifestRules = ManifestRules {
    schema: qualification::SCHEMA,
    further_keys: qualification::FURTHER_KEYS,
    timeout_max_seconds: LANE_EVALUATION_MAX_SECONDS,
};
const TIMEOUT_VARIABLE: &str = "DELEGATION_GLM_TIMEOUT_SECONDS";

const fn paths(is_evaluation: bool) -> PathRules {
    PathRules {
        create_parents: true,
        diagnostic_may_exist: true,
        outputs_outside_workdir: is_evaluation,
        debug: if is_evaluation { DebugRule::OutsideWorkdir } else { DebugRule::Exists },
        workdir_is_narrow: false,
        reserved: &[],
    }
}

fn may_evaluate(lane: &str, status: Status) -> bool {
    match lane {
        POLICY_ANNOTATION | BUILDER => status == Status::Candidate,
        "clerk" | "scout" => matches!(status, Status::Candidate | Status::Provisional),
        _ => false,
    }
}

pub(super) fn run(call: &Call<'_>, line: &RunLine) -> Result<Done, Refusal> {
    let surroundings = call.surroundings;
    let admitted = call.gates.admit(line, may_evaluate)?;
    let file = line.prompt_file.as_deref().ok_or_else(|| Refusal::usage("--prompt-file is missing"))?;
    let prompt = Prompt::read(file)?;
    let budget = line.own(BUDGET_FLAG).map(budget).transpose()?;
    let rules = if admitted.lane == POLICY_ANNOTATION { POLICY_MANIFEST } else { LANE_MANIFEST };
    let manifest = match line.manifest() {
        Some(path) => {
            Some(evaluation::check(path, rules, call.family, call.gates, &admitted, &prompt, surroundings)?)
        }
        None => None,
    };
    let lane_manifest = manifest.as_ref().filter(|_| admitted.lane != POLICY_ANNOTATION);
    let terms = lane_manifest.map(|manifest| qualification::terms(manifest, &admitted.lane)).transpose()?;
    let evaluated_budget = match (&manifest, &terms) {
        (Some(_), Some(terms)) => Some(terms.max_cost_usd.clone()),
        (Some(_), None) => Some(BUDGET_DEFAULT_USD.to_owned()),
        (None, _) => None,
    };
    if let (Some(asked), Some(bound)) = (&budget, &evaluated_budget)
        && asked.parse::<f64>() != bound.parse::<f64>()
    {
        return Err(Refusal::gate(format!("the evaluation is bound to {BUDGET_FLAG} {bound}")));
    }
    let places = Places::check(line, paths(line.evaluation))?;
    if let Some(terms) = &terms {
        terms.demand_workdir(&places.workdir)?;
    }
    let base_url = endpoint::base_url(surroundings)?;
    let seconds = surroundings.number(TIMEOUT_VARIABLE, 1..=RUN_MAX_SECONDS)?;
    // Refused before anything is looked at that could come and go.
    ChildEnvironment::of_user(surroundings)?;
    let runtime = match runtime::probe(call, &Host::look(surroundings)) {
        Ok(runtime) => runtime,
        Err(Unready::Refused(refusal)) => return Err(refusal),
        Err(Unready::Interrupted(signal)) => return Ok(Done::Interrupted(signal)),
    };
    if line.evaluation {
        runtime::demand_native(&runtime.claude)?;
    }
    let run_directory = RunDirectory::create(call.family)?;
    let schema = match lane_manifest {
        Some(manifest) => match qualification::compiled_schema(manifest, call, &run_directory)? {
            Ok(schema) => Some(schema),
            Err(signal) => return Ok(Done::Interrupted(signal)),
        },
        None => None,
    };
    let private = Private::make(&run_directory)
        .map_err(|error| Refusal::unavailable(format!("no private directory can be made: {error}")))?;
    let fence = fence(&admitted, line.evaluation, &places, &runtime, &private, &run_directory)?;
    let environment = if line.evaluation {
        launch::evaluation_environment(&private, &base_url, &runtime.key, surroundings)
    } else {
        launch::environment(&private, &base_url, &runtime.key, surroundings)?
    };
    places.create_parents()?;
    let budget = evaluated_budget.or(budget).unwrap_or_else(|| BUDGET_DEFAULT_USD.to_owned());
    let order =
        Order { lane: &admitted.lane, effort: &admitted.effort, budget: &budget, schema: schema.as_deref() };
    let launch = Launch {
        name: "claude",
        program: &runtime.claude,
        arguments: launch::arguments(&order),
        environment,
        directory: &places.workdir,
        stdin: prompt.text.as_bytes(),
        fence,
        limit: Duration::from_secs(limit(&admitted, manifest.as_ref(), seconds)),
        grace: KILL_GRACE,
        new_files: NewFiles::of_run(admitted.lane == BUILDER),
    };
    let mut work = Work {
        admitted: admitted.clone(),
        manifest: manifest.clone(),
        qualification: None,
        places: places.clone(),
        secrets: vec![runtime.key.expose().to_owned()],
        start: Start::now(),
    };
    if let Some(terms) = terms {
        match Qualification::begin(terms, &places.workdir) {
            Ok(qualification) => work.qualification = Some(qualification),
            Err(failure) => return Ok(work.refuse(failure)),
        }
    }
    let ended = child::run(launch, &run_directory, surroundings, call.signals, &mut |_, _| {});
    work.conclude(ended)
}

/// Accepts a budget.
///
/// # Errors
/// 64.
pub(super) fn check_budget(text: &OsStr) -> Result<(), Refusal> {
    budget(text).map(drop)
}

/// The budget that the user named, in US dollars: digits, and a point with more of them.
fn budget(text: &OsStr) -> Result<String, Refusal> {
    let text = text.to_str().unwrap_or_default();
    let plain = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let framed = !text.starts_with('.') && !text.ends_with('.');
    let amount = text.parse::<f64>().ok().filter(|amount| *amount > 0.0 && *amount <= BUDGET_MAX_USD);
    amount.filter(|_| plain && framed).map(|_| text.to_owned()).ok_or_else(|| {
        Refusal::usage(format!("{BUDGET_FLAG} must be an amount in dollars up to {BUDGET_MAX_USD}"))
    })
}

fn limit(admitted: &Admitted, manifest: Option<&Manifest>, asked: Option<u64>) -> u64 {
    let default = if admitted.lane == BUILDER { BUILDING_DEFAULT_SECONDS } else { READING_DEFAULT_SECONDS };
    manifest.map_or(asked.unwrap_or(default), |manifest| manifest.timeout_seconds)
}

fn fence(
    admitted: &Admitted,
    is_evaluation: bool,
    places: &Places,
    runtime: &Runtime,
    private: &Private,
    run_directory: &RunDirectory,
) -> Result<Fence, Refusal> {
    let (lane, workdir) = (admitted.lane.as_str(), places.workdir.as_path());
    let fence = if is_evaluation {
        confinement::of_evaluation(lane, workdir, &runtime.claude, private, run_directory)
    } else {
        confinement::of_run(lane, workdir, private, run_directory)
    };
    fence.map_err(Refusal::sandbox)
}
