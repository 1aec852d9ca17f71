//! Our write fence around a turn: where the provider may write, and why that is allowed (STATE.md 7).

mod git;
mod temporary;

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use process::{GateStep, StartError, WriteFence};
use record::failure::{FailureCode, Stage};
use record::plan::{CapturedEnvironment, LaunchPlan, Plan};
use record::request::Request;
use record::words::{Fence, Permission, ReasonCode};
use record::{AbsolutePath, Sha256Digest};

use store::Task;

use crate::error::TurnError;
pub(crate) use temporary::{TEMPORARY_NAME, Temporary, remove_of_task, temporary_directory};

/// What any program may write to. Of the terminals only those are reached that somebody handed over.
const DEVICES: [&str; 8] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
    "/dev/ptmx",
    "/dev/pts",
];

/// Adds to a plan behind our fence what a turn in a linked worktree writes outside it.
///
/// # Errors
/// `workspace_invalid` when its repository can not be read.
pub(crate) fn grant_git(launch: &mut LaunchPlan) -> Result<(), TurnError> {
    let config = &mut launch.effective_config;
    if config.fence == Fence::Ours && config.permission == Permission::WorkspaceWrite {
        let grants = git::grants(&launch.directory).map_err(|error| {
            let message = format!("the git repository of {} can not be read: {error}", launch.directory);
            TurnError::new(FailureCode::WorkspaceInvalid, Stage::PrepareProvider, message)
        })?;
        config.writable_roots.extend(grants);
        config.writable_roots.sort();
        config.writable_roots.dedup();
    }
    Ok(())
}

/// A digest of what git obeys in the workspace of a turn that may change it; `None` when it only reads, or when that could
/// not be determined.
pub(crate) fn git_control(plan: &Plan) -> Option<Sha256Digest> {
    let writes = plan.launch.effective_config.permission == Permission::WorkspaceWrite;
    writes.then(|| git::control(plan.launch.directory.as_path()).ok()).flatten()
}

/// Checks that this kernel has the fence of a launch, and that nothing the provider may write overlaps what it must not
/// write.
///
/// # Errors
/// `fence_unavailable`, `root_invalid`, `workspace_invalid`, or `invalid_request` for the environment file.
pub(crate) fn check(
    root: &AbsolutePath,
    request: &Request,
    launch: &LaunchPlan,
    temporary: &AbsolutePath,
) -> Result<(), TurnError> {
    let refused = |code, message| Err(TurnError::new(code, Stage::PrepareProvider, message));
    let config = &launch.effective_config;
    let ours = config.fence == Fence::Ours;
    let support = process::fence_support();
    if ours && !support.is_sufficient() {
        let message = format!("our write fence can not be had: {support}; --fence none does without one");
        return refused(FailureCode::FenceUnavailable, message);
    }
    let mut writable: Vec<PathBuf> = config.writable_roots.iter().map(AbsolutePath::to_path_buf).collect();
    if ours {
        writable.push(temporary::resolved(temporary));
    }
    for path in &writable {
        let shown = path.display();
        let overlaps = |other: &AbsolutePath| holds(path, other.as_path()) || holds(other.as_path(), path);
        if overlaps(root) {
            let message = format!(
                "the state root {root} overlaps {shown}, where the provider may write; choose another root"
            );
            return refused(FailureCode::RootInvalid, message);
        }
        if !ours {
            continue;
        }
        let workspace = &request.canonical_cwd;
        if config.permission == Permission::ReadOnly && overlaps(workspace) {
            let message =
                format!("the read-only workspace {workspace} overlaps {shown}, where the provider may write");
            return refused(FailureCode::WorkspaceInvalid, message);
        }
        if let Some(file) = request.environment_file.as_ref().filter(|file| holds(path, file.as_path())) {
            let message =
                format!("the environment file {file} lies in {shown}, where the provider may write");
            return refused(FailureCode::InvalidRequest, message);
        }
    }
    Ok(())
}

/// Whether `inner` is `outer` or lies in it, by name or because a directory above it is the same one under another name.
fn holds(outer: &Path, inner: &Path) -> bool {
    let identity = |path: &Path| path.metadata().ok().map(|found| (found.dev(), found.ino()));
    inner.starts_with(outer)
        || identity(outer).is_some_and(|outer| inner.ancestors().any(|above| identity(above) == Some(outer)))
}

/// The fence that the gate of a turn shall raise, with the temporary directory that goes with ours.
///
/// # Errors
/// A directory can not be made, or the temporary one is there already.
pub(crate) fn of_turn(task: &Task, plan: &Plan) -> io::Result<(process::Fence, Option<Temporary>)> {
    match plan.launch.effective_config.fence {
        Fence::None => Ok((process::Fence::None, None)),
        Fence::Theirs => Ok((process::Fence::Theirs, None)),
        Fence::Ours => {
            let system = plan.captured.get(TEMPORARY_NAME);
            let temporary = Temporary::make(&temporary_directory(system, task.id()))?;
            let more = [temporary.path().to_path_buf(), task.output_path()];
            Ok((around(&plan.launch, more, task.path())?, Some(temporary)))
        }
    }
}

/// The fence of a question that is put to the CLI of a plan. Its temporary directory is no turn's: it holds the one that is
/// granted, and proves the fence itself.
///
/// # Errors
/// A directory can not be made.
pub(crate) fn of_question(
    launch: &LaunchPlan,
    captured: &CapturedEnvironment,
) -> io::Result<(process::Fence, Option<Temporary>)> {
    match launch.effective_config.fence {
        Fence::None => Ok((process::Fence::None, None)),
        Fence::Theirs => Ok((process::Fence::Theirs, None)),
        Fence::Ours => {
            let temporary = Temporary::make_for_question(captured.get(TEMPORARY_NAME))?;
            let fence = around(launch, [temporary.granted()], temporary.path().to_path_buf())?;
            Ok((fence, Some(temporary)))
        }
    }
}

/// Our fence with the grants of a launch and `more`; the directories of the profile are made where they are missing.
/// `forbidden` is a directory of ours that is not granted, by which the fence is proved.
fn around(
    launch: &LaunchPlan,
    more: impl IntoIterator<Item = PathBuf>,
    forbidden: PathBuf,
) -> io::Result<process::Fence> {
    let config = &launch.effective_config;
    for path in config.writable_roots.iter().filter(|path| **path != launch.directory) {
        DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(|error| {
            io::Error::new(error.kind(), format!("{path}, where the provider writes: {error}"))
        })?;
    }
    let mut proofs = vec![forbidden];
    if config.permission == Permission::ReadOnly {
        proofs.push(launch.directory.to_path_buf());
    }
    Ok(process::Fence::Ours(WriteFence {
        directories: config.writable_roots.iter().map(AbsolutePath::to_path_buf).chain(more).collect(),
        files: DEVICES.map(PathBuf::from).into(),
        forbidden: proofs,
        access: None,
    }))
}

/// The word for a fence that a gate proved.
pub(crate) fn proved(fence: &process::Fence) -> Fence {
    match fence {
        process::Fence::Ours(_) => Fence::Ours,
        process::Fence::Theirs => Fence::Theirs,
        _ => Fence::None,
    }
}

/// Why no provider ran when its gate did not come up.
pub(crate) fn reason(error: &StartError) -> ReasonCode {
    match error {
        StartError::Step(GateStep::Fence | GateStep::FenceProof, _) => ReasonCode::FenceUnavailable,
        _ => ReasonCode::StartFailed,
    }
}
