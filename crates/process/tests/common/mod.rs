//! What several tests need: a launch to start from, a pipe to hear from a process by, and ending what a test started.

#![allow(dead_code, unreachable_pub)] // Each test uses its own part.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, PipeReader};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use process::{
    CgroupHome, CgroupNode, Child, Containment, Ending, Fence, Gate, LaunchSpec, ProcessIdentity, Program,
    ResourceLimits, SealedInput, Tree,
};

/// The program that is a gate, and the processes that misbehave.
pub const TEST_PROGRAM: &str = env!("CARGO_BIN_EXE_process-test-program");

/// Only keeps a broken test from hanging for ever.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// The path of the test program.
pub fn test_program() -> &'static Path {
    Path::new(TEST_PROGRAM)
}

/// Makes a new file for appending.
pub fn append(path: &Path) -> File {
    File::options().append(true).create(true).open(path).expect("a file to append to")
}

/// A launch of a program by its path, with its output in `output`.
pub fn launch(argv: &[&str], output: File) -> LaunchSpec {
    LaunchSpec {
        program: Program::Path(PathBuf::from(argv[0])),
        argv: argv.iter().map(OsString::from).collect(),
        environment: vec!["PATH=/usr/bin:/bin".into()],
        directory: PathBuf::from("/"),
        stdin: SealedInput::from_bytes(b"").expect("an input"),
        stderr: output.try_clone().expect("a second descriptor"),
        stdout: output,
        umask: 0o077,
        open_files_limit: None,
        containment: Containment::ProcessGroup,
        fence: Fence::None,
        dies_with_starter: false,
    }
}

/// A launch of a shell script.
pub fn shell(script: &str, output: File) -> LaunchSpec {
    launch(&["/bin/sh", "-c", script], output)
}

/// An output that the test can read line by line.
pub fn pipe() -> (BufReader<PipeReader>, File) {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    (BufReader::new(reader), File::from(OwnedFd::from(writer)))
}

/// The next line that a process wrote.
pub fn line(reader: &mut impl BufRead) -> String {
    let mut line = String::new();
    reader.read_line(&mut line).expect("a line");
    line.trim_end().to_owned()
}

/// The identity in a line "number start-time".
pub fn announced(reader: &mut impl BufRead) -> ProcessIdentity {
    let line = line(reader);
    let (pid, start_time) = line.split_once(' ').expect("two numbers");
    ProcessIdentity {
        pid: pid.parse().expect("a process number"),
        start_time: start_time.parse().expect("a start time"),
    }
}

/// Starts a launch.
pub fn start(spec: LaunchSpec) -> Started {
    let child = Gate::spawn(test_program(), spec).expect("a gate").go().expect("an execution");
    Started(child)
}

/// A child whose whole tree is killed when the test is over, however it ends.
pub struct Started(pub Child);

impl Started {
    /// Waits for the end of the child.
    pub fn ending(&mut self) -> Ending {
        ending(&mut self.0)
    }

    /// The tree of the child.
    pub fn tree(&self) -> Tree {
        Tree::new(self.0.identity(), "no-cookie")
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        end(self.0.identity());
    }
}

/// Waits for the end of a child.
pub fn ending(child: &mut Child) -> Ending {
    child.wait(PATIENCE, &[]).expect("a wait").expect("an end within the test's patience")
}

/// Kills that process and its descendants, if they are there.
pub fn end(identity: ProcessIdentity) {
    let _ = Tree::new(identity, "no-cookie").kill();
}

/// Ends a process that a test knows by its identity when the test is over.
pub struct EndAtLast(pub ProcessIdentity);

impl Drop for EndAtLast {
    fn drop(&mut self) {
        end(self.0);
    }
}

/// Runs a command line to its end and gives back what it wrote.
pub fn output_of(spec: impl FnOnce(File) -> LaunchSpec) -> String {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("output");
    let mut started = start(spec(append(&path)));
    started.ending();
    fs::read_to_string(&path).expect("output")
}

/// Makes a named pipe: opening it for writing lets a process go on that opens it for reading.
pub fn barrier(path: &Path) {
    rustix::fs::mknodat(
        rustix::fs::CWD,
        path,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
        0,
    )
    .expect("a named pipe");
}

/// Lets a process go on that waits at a barrier.
pub fn pass(path: &Path) {
    drop(File::options().write(true).open(path).expect("a reader"));
}

/// The identity of the process that has that number now.
pub fn identity_of(pid: u32) -> ProcessIdentity {
    ProcessIdentity { pid, start_time: stat_field(pid, 22).parse().expect("a start time") }
}

/// A field of `/proc/PID/stat` by its number in proc_pid_stat(5), from 3 upwards.
pub fn stat_field(pid: u32, number: usize) -> String {
    let line = fs::read_to_string(format!("/proc/{pid}/stat")).expect("a process");
    let (_, rest) = line.rsplit_once(')').expect("a name");
    rest.split_ascii_whitespace().nth(number - 3).expect("a field").to_owned()
}

/// Two trees of one process at once would take each other's orphans for their own.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// A cgroup that is emptied and removed when the test is over, before the next one begins.
pub struct Node(pub CgroupNode, MutexGuard<'static, ()>);

impl Drop for Node {
    fn drop(&mut self) {
        let _ = self.0.remove();
    }
}

/// A cgroup for one test, or `None` where the host has none to give.
pub fn node(name: &str) -> Option<Node> {
    let home = CgroupHome::find().inspect_err(|error| eprintln!("skipped: {error}")).ok()?;
    let turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let name = format!("process-test-{}-{name}", std::process::id());
    Some(Node(home.make(&name, &ResourceLimits::default()).expect("a node"), turn))
}
