//! Runs the probes that a plan asks for: contained, bounded, with an empty standard input; answers are kept per executable
//! identity (STATE.md 3.1).

use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Seek};
use std::path::Path;
use std::time::{Duration, Instant};

use process::{COOKIE_NAME, Ending, Gate, LaunchSpec, SealedInput, Tree};
use provider::{Draft, ModelListing, Probe, ProbeOutput, TEMPORARY_NAMES};
use record::failure::{FailureCode, Stage};
use record::plan::{CapturedEnvironment, LaunchPlan, Plan};
use record::{ProfileId, Sha256Digest};
use rustix::fs::MemfdFlags;
use serde::{Deserialize, Serialize};
use store::ProbeCache;

use crate::error::TurnError;
use crate::fence::{self, Temporary};
use crate::launch;
use crate::limits::{MODEL_LISTING_TIMEOUT, PROBE_OUTPUT_MAX_BYTES, PROBE_TIMEOUT, TICK_WHILE_GROWING};

#[derive(Serialize, Deserialize)]
struct CachedProbe {
    stdout: String,
    stderr: String,
}

/// The output of every probe of `draft`, in order, from the cache where the same executable was asked the same before.
///
/// # Errors
/// `provider_preflight_failed` when a probe can not be run, takes too long or says too much.
pub(crate) fn run_all(
    profile: &ProfileId,
    revision: u32,
    draft: &Draft,
    captured: &CapturedEnvironment,
    entry: impl Fn() -> Option<File>,
    cache: Option<&ProbeCache>,
) -> Result<Vec<ProbeOutput>, TurnError> {
    draft
        .probes
        .iter()
        .map(|probe| {
            let key = cache_key(profile, revision, draft, probe);
            let cached = cache.and_then(|cache| cache.get(&key));
            if let Some(cached) = cached.and_then(|bytes| serde_json::from_slice::<CachedProbe>(&bytes).ok())
            {
                return Ok(ProbeOutput {
                    exit_code: Some(0),
                    stdout: cached.stdout.into_bytes(),
                    stderr: cached.stderr.into_bytes(),
                });
            }
            let question = Question {
                launch: &draft.launch,
                captured,
                entry: entry(),
                arguments: probe.arguments.clone(),
                input: b"",
                time: PROBE_TIMEOUT,
            };
            let output = ask(question).map_err(|message| {
                let words = probe.arguments.join(" ");
                TurnError::new(
                    FailureCode::ProviderPreflightFailed,
                    Stage::InspectProvider,
                    format!("asking {} {words}: {message}", draft.launch.argv[0]),
                )
            })?;
            if let ProbeOutput { exit_code: Some(0), stdout, stderr } = &output
                && let (Ok(stdout), Ok(stderr)) =
                    (String::from_utf8(stdout.clone()), String::from_utf8(stderr.clone()))
                && let Ok(text) = serde_json::to_vec(&CachedProbe { stdout, stderr })
            {
                // A cache that can not be written is slower, nothing else.
                let _ = cache.map(|cache| cache.put(&key, &text));
            }
            Ok(output)
        })
        .collect()
}

/// Why a question to a CLI has no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProbeError {
    /// It took too long.
    #[error("no answer in time")]
    Silent,
    /// Anything else.
    #[error("{0}")]
    Failed(String),
}

impl From<std::io::Error> for ProbeError {
    fn from(error: std::io::Error) -> Self {
        Self::Failed(error.to_string())
    }
}

/// One question to a CLI.
struct Question<'a> {
    launch: &'a LaunchPlan,
    captured: &'a CapturedEnvironment,
    entry: Option<File>,
    arguments: Vec<String>,
    input: &'a [u8],
    time: Duration,
}

/// Asks a planned CLI for its models; nothing of the answer is kept.
///
/// # Errors
/// It can not be asked, or does not answer in time.
pub(crate) fn list_models(
    plan: &Plan,
    entry: Option<File>,
    listing: &dyn ModelListing,
) -> Result<ProbeOutput, ProbeError> {
    ask(Question {
        launch: &plan.launch,
        captured: &plan.captured,
        entry,
        arguments: listing.arguments().iter().map(|word| (*word).to_owned()).collect(),
        input: listing.input(),
        time: MODEL_LISTING_TIMEOUT,
    })
}

fn cache_key(profile: &ProfileId, revision: u32, draft: &Draft, probe: &Probe) -> String {
    let identity = serde_json::to_string(&(profile, revision, &draft.launch.identity, &probe.arguments))
        .expect("an identity is plain data");
    format!("probe-{}", Sha256Digest::of(identity.as_bytes()))
}

fn ask(question: Question<'_>) -> Result<ProbeOutput, ProbeError> {
    // What the CLI leaves behind comes home to this process and is swept.
    process::become_subreaper()?;
    let capture = || -> std::io::Result<(File, File)> {
        let file = File::from(rustix::fs::memfd_create("probe", MemfdFlags::CLOEXEC)?);
        Ok((file.try_clone()?, file))
    };
    let (stdout_writer, mut stdout) = capture()?;
    let (stderr_writer, mut stderr) = capture()?;
    let Question { launch, captured, .. } = question;
    let cookie = store::random_nonce().to_string();
    let mut argv = vec![launch.argv[0].clone().into()];
    argv.extend(question.arguments.iter().map(Into::into));
    let (fence, temporary) = fence::of_question(launch, captured)?;
    let granted = temporary.as_ref().map(Temporary::granted);
    let spec = LaunchSpec {
        program: launch::program(launch, question.entry).map_err(ProbeError::Failed)?,
        argv,
        environment: environment(&launch.environment, &cookie, granted.as_deref()),
        directory: launch.directory.to_path_buf(),
        stdin: SealedInput::from_bytes(question.input)?,
        stdout: stdout_writer,
        stderr: stderr_writer,
        umask: captured.umask,
        open_files_limit: launch::open_files_limit(captured),
        containment: process::Containment::Subreaper,
        fence,
        dies_with_starter: false,
    };
    let failed = |error: process::StartError| ProbeError::Failed(error.to_string());
    let gate = Gate::spawn(Path::new(launch::GATE_PROGRAM), spec).map_err(failed)?;
    let tree = Tree::new(gate.identity(), &cookie);
    let ending = gate.go().map_err(failed).and_then(|child| watch(child, question.time, &stdout, &stderr));
    sweep(&tree)?;
    let exit_code = match ending? {
        Ending::Exited(code) => Some(code),
        Ending::Signalled(_) | Ending::Ended => None,
    };
    Ok(ProbeOutput { exit_code, stdout: contents(&mut stdout)?, stderr: contents(&mut stderr)? })
}

/// The environment of the launch with a cookie of this probe alone, because another process that probes for the same task,
/// or runs it, must not take this one's processes for its own; and with the temporary directory that was made for it.
fn environment(planned: &[String], cookie: &str, temporary: Option<&Path>) -> Vec<OsString> {
    planned
        .iter()
        .map(|entry| match (entry.split_once('='), temporary) {
            (Some((COOKIE_NAME, _)), _) => format!("{COOKIE_NAME}={cookie}").into(),
            (Some((name, _)), Some(path)) if TEMPORARY_NAMES.contains(&name) => {
                let mut entry = OsString::from(format!("{name}="));
                entry.push(path);
                entry
            }
            _ => entry.into(),
        })
        .collect()
}

fn watch(
    mut child: process::Child,
    time: Duration,
    stdout: &File,
    stderr: &File,
) -> Result<Ending, ProbeError> {
    let started = Instant::now();
    while started.elapsed() < time {
        if let Some(ending) = child.wait(TICK_WHILE_GROWING, &[])? {
            return Ok(ending);
        }
        for file in [stdout, stderr] {
            if file.metadata().is_ok_and(|metadata| metadata.len() > PROBE_OUTPUT_MAX_BYTES) {
                return Err(ProbeError::Failed(format!("it said more than {PROBE_OUTPUT_MAX_BYTES} bytes")));
            }
        }
    }
    Err(ProbeError::Silent)
}

fn sweep(tree: &Tree) -> Result<(), ProbeError> {
    match tree.sweep()?.survivors {
        0 => Ok(()),
        survivors => Err(ProbeError::Failed(format!("{survivors} of its processes can not be ended"))),
    }
}

fn contents(file: &mut File) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.take(PROBE_OUTPUT_MAX_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}
