//! Makes the plan of a task, at admission and again at the launch boundary, and compares the two (STATE.md 3.1, 3.4).

use provider::{Host, PlanInput, Profile};
use record::failure::{FailureCode, Stage};
use record::json::Record;
use record::plan::{CapturedEnvironment, LaunchPlan, Plan};
use record::request::Request;
use record::words::ReasonCode;
use record::{AbsolutePath, Sha256Digest};
use store::ProbeCache;

use crate::error::{At, TurnError};
use crate::host::CapturedHost;
use crate::{fence, probe, secrets, workspace};

/// What planning works on.
///
/// `'h` is how long the host is used, `'a` only the planning.
pub(crate) struct Planning<'a, 'h> {
    pub(crate) root: &'a AbsolutePath,
    /// Absent when there is no root yet.
    pub(crate) cache: Option<ProbeCache>,
    pub(crate) request: &'a Request,
    pub(crate) request_sha256: Sha256Digest,
    pub(crate) brief: &'a [u8],
    pub(crate) captured: &'h CapturedEnvironment,
    pub(crate) own_executable: &'h AbsolutePath,
}

/// A plan, and the host with the descriptors of what was hashed for it.
pub(crate) struct Planned<'h> {
    pub(crate) plan: Plan,
    pub(crate) host: CapturedHost<'h>,
}

/// Plans the launch of a request.
///
/// # Errors
/// Those of the profile, of its probes, and of the workspace.
pub(crate) fn plan<'h>(profile: &dyn Profile, planning: Planning<'_, 'h>) -> Result<Planned<'h>, TurnError> {
    let Planning { root, cache, request, captured, .. } = planning;
    let host = CapturedHost::new(captured, planning.own_executable, cache.clone());
    let output_directory = output_directory(root, request);
    let system = host.variable(fence::TEMPORARY_NAME);
    let temporary_directory = fence::temporary_directory(system.as_deref(), request.task_id);
    let input = PlanInput {
        request,
        brief: planning.brief,
        output_directory: &output_directory,
        temporary_directory: &temporary_directory,
    };
    let mut draft = profile.plan(&input, &host).at(Stage::PrepareProvider)?;
    fence::grant_git(&mut draft.launch)?;
    fence::check(root, request, &draft.launch, &temporary_directory)?;
    let entry = draft.launch.identity.first().map(|file| file.path.clone());
    let facts = probe::run_all(
        &request.provider,
        profile.revision(),
        &draft,
        captured,
        || entry.as_ref().and_then(|path| host.take_hashed(path)),
        cache.as_ref(),
    )?;
    let launch = profile.finish(draft, &facts).at(Stage::InspectProvider)?;
    let workspace = workspace::identity(&request.canonical_cwd).map_err(|error| {
        TurnError::new(
            FailureCode::WorkspaceInvalid,
            Stage::ValidateRequest,
            format!("the workspace {} can not be used: {error}", request.canonical_cwd),
        )
    })?;
    let environment_file_names = match &request.environment_file {
        Some(path) => secrets::read(path, profile.secret_names())?.names(),
        None => Vec::new(),
    };
    let plan = Plan {
        schema_version: Plan::SCHEMA_VERSION,
        root_id: request.root_id,
        task_id: request.task_id,
        request_sha256: planning.request_sha256,
        launch,
        workspace,
        environment_file_names,
        captured: host.consulted(),
        publisher_version: env!("CARGO_PKG_VERSION").to_owned(),
    };
    Ok(Planned { plan, host })
}

/// Where the task's declared artifacts are written.
fn output_directory(root: &AbsolutePath, request: &Request) -> AbsolutePath {
    ["tasks", &request.task_id.to_string(), "output"]
        .iter()
        .fold(root.clone(), |path, name| path.join(name).expect("plain names"))
}

/// Why a plan made now may not replace the admitted one; `None` when they agree. The version of the program that planned is
/// no difference.
pub(crate) fn difference(admitted: &Plan, now: &Plan) -> Option<(ReasonCode, String)> {
    let (then, today) = (&admitted.launch, &now.launch);
    // A newer program judges by newer rules; the recorded judge stays the one that decides.
    let same_judge = LaunchPlan { predicate: then.predicate.clone(), ..today.clone() };
    let what = if admitted.workspace != now.workspace {
        return Some((
            ReasonCode::WorkspaceGone,
            "another directory stands at the workspace's path".to_owned(),
        ));
    } else if then.identity != today.identity || then.provider_version != today.provider_version {
        let changed = then.identity.iter().find(|file| !today.identity.contains(file));
        let path = changed.map_or("the executable", |file| file.path.as_str());
        return Some((ReasonCode::ExecutableDrift, format!("{path} is not what was admitted")));
    } else if then.argv != today.argv {
        "the arguments"
    } else if then.environment != today.environment {
        "the environment"
    } else if then.effective_config != today.effective_config {
        "the policy"
    } else if admitted.environment_file_names != now.environment_file_names {
        "the names in the environment file"
    } else if then != &same_judge || admitted.captured != now.captured {
        "the launch"
    } else {
        return None;
    };
    Some((ReasonCode::PlanDrift, format!("{what} would not be what was admitted")))
}
