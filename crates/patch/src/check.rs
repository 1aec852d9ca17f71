//! One check, stage by stage (patch-verifier.md 4 and 8). It changes nothing but its own scratch directory.

mod judged;
mod probe;
mod run;
mod summary;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use record::Sha256Digest;

use crate::extract::{self, ExtractError, Extraction};
use crate::findings::Findings;
use crate::git::Git;
use crate::input::{PatchFile, Workdir};
use crate::policy::LoadedPolicy;
use crate::receipt::Receipt;
use run::Run;

pub use judged::{TextJudgement, judge_text};

/// What to check.
#[derive(Debug, Clone)]
pub struct Request {
    /// The diff.
    pub patch: PathBuf,
    /// The worktree that it is meant for.
    pub workdir: PathBuf,
    /// Whether deletions may pass.
    pub allow_delete: bool,
}

/// What a check takes from the process around it.
#[derive(Debug, Clone)]
pub struct Surroundings {
    /// The search path for git.
    pub search_path: Option<OsString>,
    /// Where the scratch directory is made.
    pub temporary: PathBuf,
}

impl Surroundings {
    /// Those of this process: `PATH` and `TMPDIR`. Without `TMPDIR` a file system in memory is preferred: what is
    /// written there lives as long as one check.
    pub fn of_process() -> Self {
        let named = std::env::var_os("TMPDIR").filter(|value| !value.is_empty()).map(PathBuf::from);
        let in_memory = || Some(PathBuf::from("/dev/shm")).filter(|place| is_writable(place));
        Self {
            search_path: std::env::var_os("PATH"),
            temporary: named.or_else(in_memory).unwrap_or_else(std::env::temp_dir),
        }
    }
}

fn is_writable(place: &Path) -> bool {
    use rustix::fs::Access;

    place.is_dir() && rustix::fs::access(place, Access::WRITE_OK | Access::EXEC_OK).is_ok()
}

/// Why there is no receipt.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// git is not on the search path (exit 69).
    #[error("git is not on the search path")]
    NoGit,
    /// The patch does not exist (exit 66).
    #[error("the patch does not exist")]
    NoPatch,
    /// The patch can not be read (exit 66).
    #[error("the patch can not be read: {0}")]
    UnreadablePatch(std::io::Error),
    /// The worktree does not exist (exit 66).
    #[error("the worktree does not exist")]
    NoWorkdir,
    /// A path is not UTF-8 and has no place in a receipt (exit 64).
    #[error("the path of the patch or the worktree is not UTF-8")]
    PathNotUtf8,
    /// The result of a task holds no diff that can be taken (see [`extract::extract`]).
    #[error(transparent)]
    Extract(#[from] ExtractError),
    /// The extracted diff can not be stored.
    #[error("the extracted diff can not be stored: {0}")]
    Store(std::io::Error),
}

/// Judges a diff.
///
/// # Errors
/// An input is missing or can not be read, or git is missing: there is nothing to judge.
pub fn check(
    request: &Request,
    policy: &LoadedPolicy,
    surroundings: &Surroundings,
) -> Result<Receipt, CheckError> {
    let git = Git::find(surroundings.search_path.as_deref()).ok_or(CheckError::NoGit)?;
    let patch_path = PatchFile::resolve(&request.patch).ok_or(CheckError::NoPatch)?;
    let workdir_path = Workdir::resolve(&request.workdir).ok_or(CheckError::NoWorkdir)?;
    let mut findings = Findings::default();
    let mut decisions = Vec::new();
    let patch = PatchFile::read(patch_path, &policy.policy.limits, &mut findings, &mut decisions)
        .map_err(CheckError::UnreadablePatch)?;
    let workdir = Workdir::judge(&workdir_path, &mut findings, &mut decisions);
    let texts = [Some(&patch.path), workdir.path.as_ref()];
    if texts.into_iter().flatten().any(|path| path.to_str().is_none()) {
        return Err(CheckError::PathNotUtf8);
    }
    let run = Run { request, policy, git, temporary: &surroundings.temporary, patch, workdir };
    Ok(summary::receipt(&run, run.stages(findings, decisions)))
}

/// Takes the diff from the result text of a task, stores it under `patch` and judges it there.
///
/// # Errors
/// The text holds no unambiguous diff, `patch` exists or can not be made, or as [`check`].
pub fn check_result(
    text: &[u8],
    request: &Request,
    policy: &LoadedPolicy,
    surroundings: &Surroundings,
) -> Result<Receipt, CheckError> {
    use std::io::Write as _;
    use std::os::unix::fs::OpenOptionsExt as _;

    let (diff, form) = extract::extract(text)?;
    std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&request.patch)
        .and_then(|mut file| file.write_all(diff))
        .map_err(CheckError::Store)?;
    let mut receipt = check(request, policy, surroundings)?;
    receipt.extraction = Some(Extraction { form, result_sha256: Sha256Digest::of(text).to_string() });
    Ok(receipt)
}
