//! From a licence to a running provider, through the gate (STATE.md 3.4).

use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Seek};
use std::path::Path;
use std::time::Duration;

use process::{Child, Gate, LaunchSpec, Program, SealedInput, StartError, Tree};
use record::json::Record;
use record::launch::{Launch, Running};
use record::plan::{CapturedEnvironment, LaunchPlan, Plan, StartMethod};
use record::request::Request;
use record::words::ReasonCode;
use store::{LaunchClaim, RawStreams, Task};

use crate::context::now;
use crate::evidence::Ended;
use crate::host::CapturedHost;
use crate::{containment, fence, points, secrets, stop};

/// The program that becomes the gate: the very image that runs now, whatever has become of its path.
pub(crate) const GATE_PROGRAM: &str = "/proc/self/exe";

/// A provider that runs, or may run.
pub(crate) struct Launched {
    pub(crate) child: Child,
    pub(crate) tree: Tree,
    pub(crate) running: Running,
    /// Whether another runner launched it.
    pub(crate) recovered: bool,
}

/// What a launch needs.
pub(crate) struct LaunchInput<'a> {
    pub(crate) task: &'a Task,
    pub(crate) request: &'a Request,
    pub(crate) plan: &'a Plan,
    pub(crate) launch: &'a Launch,
    pub(crate) host: &'a CapturedHost<'a>,
    pub(crate) brief: &'a [u8],
    pub(crate) containment: &'a process::Containment,
}

/// How the entry of a plan is executed: an ELF file by the descriptor through which it was hashed, a script by path.
pub(crate) fn program(launch: &LaunchPlan, hashed: Option<File>) -> Result<Program, String> {
    let entry = launch.identity.first().ok_or("the plan names no executable")?;
    match (launch.start, hashed) {
        (StartMethod::Path, _) => Ok(Program::Path(entry.path.to_path_buf())),
        (StartMethod::Descriptor, Some(file)) => Ok(Program::Descriptor(file)),
        (StartMethod::Descriptor, None) => Err("the executable was not opened".to_owned()),
    }
}

/// The soft limit of open files for a child; none when it was unlimited.
pub(crate) fn open_files_limit(captured: &CapturedEnvironment) -> Option<u64> {
    Some(captured.open_files_limit).filter(|limit| *limit != u64::MAX)
}

/// Launches the provider. `Err` says how the turn ended without one, or that it may have begun.
pub(crate) fn launch(input: &LaunchInput<'_>, claim: &LaunchClaim) -> Result<Launched, Ended> {
    let LaunchInput { task, plan, host, .. } = input;
    let failed = |message: String| Ended::not_started(ReasonCode::StartFailed, message);
    let RawStreams { stdout, stderr } = task.create_raw(claim).map_err(|error| failed(error.to_string()))?;
    let hashed = plan.launch.identity.first().and_then(|entry| host.take_hashed(&entry.path));
    let (fence, temporary) = fence::of_turn(task, plan).map_err(|error| failed(error.to_string()))?;
    let spec = LaunchSpec {
        program: program(&plan.launch, hashed).map_err(failed)?,
        argv: plan.launch.argv.iter().map(Into::into).collect(),
        environment: environment(input)?,
        directory: plan.launch.directory.to_path_buf(),
        stdin: standard_input(&plan.launch, input.brief).map_err(|error| failed(error.to_string()))?,
        stdout,
        stderr,
        umask: plan.captured.umask,
        open_files_limit: open_files_limit(&plan.captured),
        containment: input.containment.clone(),
        fence,
        dies_with_starter: false,
    };
    let gate = Gate::spawn(Path::new(GATE_PROGRAM), spec)
        .map_err(|error| Ended::not_started(fence::reason(&error), error.to_string()))?;
    points::reached(points::GATE_READY);
    let tree = containment::tree(task, gate.identity());
    let running = running_record(input, claim, &gate);
    task.create(&running)
        .map_err(|error| Ended::not_started(ReasonCode::StorageUncertain, error.to_string()))?;
    if let Some(temporary) = temporary {
        temporary.keep();
    }
    if !host.is_unchanged() {
        return Err(Ended::not_started(
            ReasonCode::ExecutableDrift,
            "the executable changed just before the launch".to_owned(),
        ));
    }
    if stop::is_requested(task).unwrap_or(false) {
        return Err(Ended::cancelled());
    }
    points::reached(points::RECORDED);
    match gate.go() {
        Ok(child) => Ok(Launched { child, tree, running, recovered: false }),
        Err(StartError::ExecutionUndetermined(_)) => Err(Ended::undetermined_start(tree)),
        Err(error) => Err(failed(error.to_string())),
    }
}

/// The planned environment, with the secret values as the environment file has them now: they may have been replaced since
/// admission, their names may not (STATE.md 8).
fn environment(input: &LaunchInput<'_>) -> Result<Vec<OsString>, Ended> {
    let LaunchInput { request, plan, .. } = input;
    let mut environment: Vec<OsString> = plan.launch.environment.iter().map(Into::into).collect();
    let Some(path) = &request.environment_file else { return Ok(environment) };
    let allowed =
        provider::catalogue().get(&request.provider).map_or(&[][..], |profile| profile.secret_names());
    let secrets = secrets::read(path, allowed)
        .map_err(|error| Ended::not_started(ReasonCode::PlanDrift, error.message))?;
    if secrets.names() != plan.environment_file_names {
        let message = "the environment file sets other names than at admission".to_owned();
        return Err(Ended::not_started(ReasonCode::PlanDrift, message));
    }
    environment.extend(secrets.entries().map(OsString::from));
    Ok(environment)
}

/// The brief, behind what the plan puts in front of it.
fn standard_input(launch: &LaunchPlan, brief: &[u8]) -> std::io::Result<SealedInput> {
    match &launch.stdin_prefix {
        None => SealedInput::from_bytes(brief),
        Some(prefix) => SealedInput::from_bytes(&[prefix.as_bytes(), brief].concat()),
    }
}

fn running_record(input: &LaunchInput<'_>, claim: &LaunchClaim, gate: &Gate) -> Running {
    let begun = process::boot_clock();
    let budget = input.request.requested_config.budget.duration();
    let identity = gate.identity();
    Running {
        schema_version: Running::SCHEMA_VERSION,
        root_id: input.request.root_id,
        task_id: input.request.task_id,
        request_sha256: input.launch.request_sha256,
        plan_sha256: input.launch.plan_sha256,
        launch_sha256: claim.sha256(),
        pid: identity.pid,
        start_time: identity.start_time,
        deadline_boot_nanos: nanoseconds(begun.saturating_add(budget)),
        started_boot_nanos: nanoseconds(begun),
        containment: containment::word(gate.containment()),
        fence: fence::proved(gate.fence()),
        started_at: now(),
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// The identity of the process that a record names.
pub(crate) fn identity(running: &Running) -> process::ProcessIdentity {
    process::ProcessIdentity { pid: running.pid, start_time: running.start_time }
}

/// Reads what was added to a stream since the last call.
pub(crate) struct StreamReader {
    file: File,
    position: u64,
}

impl StreamReader {
    /// A reader from the beginning of `file`.
    pub(crate) fn new(file: File) -> Self {
        Self { file, position: 0 }
    }

    /// Whether less than `size` bytes were read.
    pub(crate) fn is_behind(&self, size: u64) -> bool {
        self.position < size
    }

    /// Hands what is new to `sink`, at most `most` bytes of it, and nothing beyond `cap` bytes of the file: that will be cut
    /// off. Answers the size of the file, and whether it got shorter than what had been read.
    pub(crate) fn advance(
        &mut self,
        cap: u64,
        most: u64,
        mut sink: impl FnMut(&[u8]),
    ) -> std::io::Result<(u64, bool)> {
        let size = self.file.metadata()?.len();
        if size < self.position {
            return Ok((size, true));
        }
        self.file.seek(std::io::SeekFrom::Start(self.position))?;
        let mut buffer = [0; 32 << 10];
        let end = size.min(cap).min(self.position.saturating_add(most));
        while self.position < end {
            let wanted = usize::try_from(end - self.position).unwrap_or(usize::MAX).min(buffer.len());
            match self.file.read(&mut buffer[..wanted]) {
                Ok(0) => break,
                Ok(count) => {
                    sink(&buffer[..count]);
                    self.position += count as u64;
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok((size, false))
    }
}
