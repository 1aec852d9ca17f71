//! Runs the probes that a plan asks for: contained, bounded, with an empty standard input; answers are kept per executable
//! identity (STATE.md 3.1).

use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Seek};
use std::path::Path;
use std::time::{Duration, Instant};

use process::{COOKIE_NAME, Ending, Gate, LaunchSpec, ProcessIdentity, SealedInput, Tree};
use provider::{Draft, Probe, ProbeOutput};
use record::failure::{FailureCode, Stage};
use record::plan::CapturedEnvironment;
use record::{ProfileId, Sha256Digest};
use rustix::fs::MemfdFlags;
use serde::{Deserialize, Serialize};
use store::ProbeCache;

use crate::error::TurnError;
use crate::launch;
use crate::limits::{PROBE_MAX_SECONDS, PROBE_OUTPUT_MAX_BYTES, TICK_WHILE_GROWING};

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
    cache: &ProbeCache,
) -> Result<Vec<ProbeOutput>, TurnError> {
    draft
        .probes
        .iter()
        .map(|probe| {
            let key = cache_key(profile, revision, draft, probe);
            if let Some(cached) =
                cache.get(&key).and_then(|bytes| serde_json::from_slice::<CachedProbe>(&bytes).ok())
            {
                return Ok(ProbeOutput {
                    exit_code: Some(0),
                    stdout: cached.stdout.into_bytes(),
                    stderr: cached.stderr.into_bytes(),
                });
            }
            let output = run(draft, probe, captured, entry()).map_err(|message| {
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
                let _ = cache.put(&key, &text);
            }
            Ok(output)
        })
        .collect()
}

fn cache_key(profile: &ProfileId, revision: u32, draft: &Draft, probe: &Probe) -> String {
    let identity = serde_json::to_string(&(profile, revision, &draft.launch.identity, &probe.arguments))
        .expect("an identity is plain data");
    format!("probe-{}", Sha256Digest::of(identity.as_bytes()))
}

fn run(
    draft: &Draft,
    probe: &Probe,
    captured: &CapturedEnvironment,
    entry: Option<File>,
) -> Result<ProbeOutput, String> {
    let capture = || -> std::io::Result<(File, File)> {
        let file = File::from(rustix::fs::memfd_create("probe", MemfdFlags::CLOEXEC)?);
        Ok((file.try_clone()?, file))
    };
    let describe = |error: std::io::Error| error.to_string();
    // What a probe leaves behind comes home to this process and is swept.
    process::become_subreaper().map_err(describe)?;
    let (stdout_writer, mut stdout) = capture().map_err(describe)?;
    let (stderr_writer, mut stderr) = capture().map_err(describe)?;
    let launch = &draft.launch;
    let cookie = store::random_nonce().to_string();
    let mut argv = vec![launch.argv[0].clone().into()];
    argv.extend(probe.arguments.iter().map(Into::into));
    let spec = LaunchSpec {
        program: launch::program(launch, entry)?,
        argv,
        environment: environment(&launch.environment, &cookie),
        directory: launch.directory.to_path_buf(),
        stdin: SealedInput::from_bytes(b"").map_err(describe)?,
        stdout: stdout_writer,
        stderr: stderr_writer,
        umask: captured.umask,
        open_files_limit: launch::open_files_limit(captured),
        containment: process::Containment::Subreaper,
        fence: process::Fence::None,
    };
    let gate = Gate::spawn(Path::new(launch::GATE_PROGRAM), spec).map_err(|error| error.to_string())?;
    let tree = Tree::new(gate.identity(), &cookie);
    let identity = gate.identity();
    let ending =
        gate.go().map_err(|error| error.to_string()).and_then(|child| watch(child, &stdout, &stderr));
    sweep(&tree, identity)?;
    let exit_code = match ending? {
        Ending::Exited(code) => Some(code),
        Ending::Signalled(_) | Ending::Ended => None,
    };
    Ok(ProbeOutput { exit_code, stdout: contents(&mut stdout)?, stderr: contents(&mut stderr)? })
}

/// The environment of the launch with a cookie of this probe alone: another process that probes for the same task, or runs
/// it, must not take this one's processes for its own.
fn environment(planned: &[String], cookie: &str) -> Vec<OsString> {
    planned
        .iter()
        .map(|entry| match entry.split_once('=') {
            Some((COOKIE_NAME, _)) => format!("{COOKIE_NAME}={cookie}").into(),
            _ => entry.into(),
        })
        .collect()
}

fn watch(mut child: process::Child, stdout: &File, stderr: &File) -> Result<Ending, String> {
    let limit = Duration::from_secs(PROBE_MAX_SECONDS);
    let started = Instant::now();
    while started.elapsed() < limit {
        if let Some(ending) = child.wait(TICK_WHILE_GROWING, &[]).map_err(|error| error.to_string())? {
            return Ok(ending);
        }
        for file in [stdout, stderr] {
            if file.metadata().is_ok_and(|metadata| metadata.len() > PROBE_OUTPUT_MAX_BYTES) {
                return Err(format!("it said more than {PROBE_OUTPUT_MAX_BYTES} bytes"));
            }
        }
    }
    Err(format!("no answer within {PROBE_MAX_SECONDS} s"))
}

fn sweep(tree: &Tree, identity: ProcessIdentity) -> Result<(), String> {
    let swept = tree.sweep().map_err(|error| error.to_string())?;
    if swept.survivors > 0 {
        return Err(format!(
            "{} of its processes (first {}) can not be ended",
            swept.survivors, identity.pid
        ));
    }
    Ok(())
}

fn contents(file: &mut File) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    file.rewind().map_err(|error| error.to_string())?;
    file.take(PROBE_OUTPUT_MAX_BYTES).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    Ok(bytes)
}
