//! What the tests of this crate start: the supervisor with a faster clockwork, a dispatcher, and a runner that does what
//! the brief of its task says instead of running a provider.
//!
//! Everybody leaves lines in `stage/events` beside the root; that file is what the tests look at.

use std::env;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::thread;
use std::time::{Duration, SystemTime};

use record::launch::Launch;
use record::outcome::{Outcome, Payload, Reason};
use record::plan::{Plan, Predicate};
use record::request::Request;
use record::words::{Containment, Launched, Permission, ReasonCode, StopCause, Verdict};
use record::{AbsolutePath, Sha256Digest, TaskId, Timestamp};
use store::{Created, Root, RunLock, Task};
use supervise::embedded::{Embedded, SUPERVISE_WORD, ServeOptions, Timing, serve};
use supervise::{RUN_WORD, RUNNER_BUSY_EXIT_CODE, Supervisor};

/// Tries of the run lock, a millisecond apart.
const LOCK_TRIES_MAX_COUNT: u32 = 5_000;

fn main() -> ExitCode {
    let mut arguments = env::args_os().skip(1);
    let word = arguments.next().unwrap_or_default();
    let rest: Vec<OsString> = arguments.collect();
    let text: Vec<&str> = rest.iter().filter_map(|argument| argument.to_str()).collect();
    match (word.to_str(), &text[..]) {
        (Some(SUPERVISE_WORD), _) => supervise(rest),
        (Some(RUN_WORD), ["--root", root, task]) | (Some("--root"), [root, task]) => {
            run(&root.parse().expect("a root"), task.parse().expect("a task"))
        }
        (Some("orphan"), [fifo]) => wait_at(Path::new(fifo)),
        (Some("submit"), [root, task]) => {
            submit(&root.parse().expect("a root"), task.parse().expect("a task"))
        }
        _ => panic!("unknown role {word:?}"),
    }
}

fn supervise(arguments: Vec<OsString>) -> ExitCode {
    let mut options = ServeOptions::from_arguments(arguments).expect("options");
    let stage = Stage::beside(&options.root);
    let numbers = fs::read_to_string(stage.path("timing")).expect("a clockwork");
    let mut numbers =
        numbers.split_whitespace().map(|number| Duration::from_millis(number.parse().expect("a number")));
    let mut next = || numbers.next().expect("four numbers");
    options.timing =
        Timing { linger: next(), scan_period: next(), restart_first: next(), restart_longest: next() };
    // A link, and so not beside a runner that happens to be built.
    options.delegate = stage.path("delegate");
    stage.event(format_args!("supervisor {}", std::process::id()));
    serve(&options)
}

fn submit(root: &AbsolutePath, task: TaskId) -> ExitCode {
    let root = Root::open(root).expect("a root");
    let task = root.task(task).expect("a readable task").expect("a task");
    let embedded = Embedded { delegate: env::current_exe().expect("a path"), slots: None };
    embedded.submit(&root, &task).expect("submitted");
    ExitCode::SUCCESS
}

/// The directory beside the root where tests and programs meet.
struct Stage(PathBuf);

impl Stage {
    fn beside(root: &AbsolutePath) -> Self {
        Self(root.as_path().with_file_name("stage"))
    }

    fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.0.join(name)
    }

    fn event(&self, event: impl std::fmt::Display) {
        let mut events = OpenOptions::new().append(true).open(self.path("events")).expect("the events");
        events.write_all(format!("{event}\n").as_bytes()).expect("an event");
    }
}

fn run(root: &AbsolutePath, id: TaskId) -> ExitCode {
    let stage = Stage::beside(root);
    stage.event(format_args!("start {id} {} {}", std::process::id(), std::os::unix::process::parent_id()));
    let root = Root::open(root).expect("a root");
    let task = root.task(id).expect("a readable task").expect("a task");
    let Some(lock) = lock(&task) else {
        return ExitCode::from(RUNNER_BUSY_EXIT_CODE as u8);
    };
    if task.read::<Outcome>().expect("readable").is_none() {
        let brief = String::from_utf8(task.brief().expect("a brief")).expect("text");
        for command in brief.lines() {
            if let Some(code) = obey(&stage, &task, &lock, command) {
                return ExitCode::from(code);
            }
        }
        stage.event(format_args!("end {id}"));
        finish(&task, &lock);
        root.remove_open_marker(id).expect("no marker");
    }
    ExitCode::SUCCESS
}

/// A lock has no event to wait for.
fn lock(task: &Task) -> Option<RunLock> {
    for _ in 0..LOCK_TRIES_MAX_COUNT {
        if let Some(lock) = task.try_run_lock().expect("a lock") {
            return Some(lock);
        }
        thread::sleep(Duration::from_millis(1));
    }
    None
}

/// One line of the brief; an exit code when the runner ends there.
fn obey(stage: &Stage, task: &Task, lock: &RunLock, command: &str) -> Option<u8> {
    match command.split(' ').collect::<Vec<_>>()[..] {
        ["finish"] => None,
        ["fail"] => Some(1),
        ["fail-until", file] => (!stage.path(file).exists()).then_some(1),
        ["busy-until", file] => (!stage.path(file).exists()).then_some(RUNNER_BUSY_EXIT_CODE as u8),
        ["busy-times", times] => {
            let file = stage.path(format!("times-{}", task.id()));
            let times: u64 = times.parse().expect("a number");
            let mut file = OpenOptions::new().append(true).create(true).open(file).expect("a counter");
            file.write_all(b".").expect("counted");
            (file.metadata().expect("a counter").len() <= times).then_some(RUNNER_BUSY_EXIT_CODE as u8)
        }
        ["launch"] => {
            launch(task, lock);
            None
        }
        ["die-first"] => {
            let file = stage.path(format!("died-{}", task.id()));
            File::create_new(file).ok()?;
            let own = rustix::process::getpid();
            rustix::process::kill_process(own, rustix::process::Signal::KILL).expect("the end");
            None
        }
        ["hold"] => {
            stage.event(format_args!("hold {}", task.id()));
            wait_at(&stage.path(format!("hold-{}", task.id())));
            None
        }
        ["leave-orphan-on-hold"] => {
            #[expect(
                clippy::zombie_processes,
                reason = "it outlives this process, and the supervisor reaps it"
            )]
            let orphan = Command::new(env::current_exe().expect("a path"))
                .arg("orphan")
                .arg(stage.path(format!("hold-{}", task.id())))
                .spawn()
                .expect("an orphan");
            stage.event(format_args!("orphan {}", orphan.id()));
            None
        }
        _ => panic!("unknown command {command}"),
    }
}

/// Waits for a byte. The end of the test comes as the end of the file.
fn wait_at(fifo: &Path) -> ExitCode {
    let mut fifo = File::open(fifo).expect("a FIFO");
    let _ = fifo.read(&mut [0]).expect("readable");
    ExitCode::SUCCESS
}

fn digests(task: &Task) -> (Sha256Digest, Sha256Digest) {
    let request = task.read::<Request>().expect("readable").expect("a request");
    let plan = task.read::<Plan>().expect("readable").expect("a plan");
    (request.sha256, plan.sha256)
}

fn launch(task: &Task, lock: &RunLock) {
    let (request_sha256, plan_sha256) = digests(task);
    let launch = Launch {
        schema_version: 1,
        root_id: task.root().id(),
        task_id: task.id(),
        request_sha256,
        plan_sha256,
        nonce: store::random_nonce(),
        machine_id: Sha256Digest::of(b""),
        boot_id: String::new(),
        pid_namespace: String::new(),
        host_name: String::new(),
        containment: Containment::Subreaper,
        cgroup: None,
        git_control_sha256: None,
        created_at: Timestamp::from_system_time(SystemTime::now()).expect("a time"),
    };
    task.claim_launch(lock, &launch).expect("a licence");
}

fn finish(task: &Task, lock: &RunLock) {
    let (request_sha256, plan_sha256) = digests(task);
    let outcome = Outcome {
        schema_version: 1,
        root_id: task.root().id(),
        task_id: task.id(),
        request_sha256,
        plan_sha256,
        verdict: Verdict::Committed,
        reason: Reason { code: ReasonCode::Completed, message: None, retry_at: None },
        launched: Launched::Yes,
        stop: StopCause::None,
        evidence_sha256: Sha256Digest::of(b""),
        predicate: Predicate {
            profile: "test:program".parse().expect("a profile"),
            mode: Permission::ReadOnly,
            revision: 1,
            sha256: Sha256Digest::of(b""),
        },
        payload: Payload { basename: "result.txt".to_owned(), length: 1, sha256: Sha256Digest::of(b"") },
        artifacts: Vec::new(),
        session: None,
        usage: Vec::new(),
        recovered: false,
        containment: None,
        fence: None,
        leaked_processes: None,
        git_control_changed: None,
        notes: Vec::new(),
    };
    let created = task.create_reserved(lock, &outcome).expect("an outcome");
    assert!(matches!(created, Created::New(_)), "a second outcome");
}
