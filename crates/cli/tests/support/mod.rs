//! A lead in a world of its own: a root, a HOME, a workspace and a PATH that holds fake CLIs. Everything that was started
//! there is gone when the value is dropped, also when the test failed.

#![allow(dead_code, reason = "each test file uses its part")]

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;
use testkit::fake::{self, Log};
use testkit::real::Stage;

/// No wait of a test is longer; a wait that ends here is a failure, not a measurement.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A lead in a world of its own.
pub(crate) struct Lead {
    directory: TempDir,
    slots: u32,
    home: PathBuf,
    workspace: PathBuf,
    programs: PathBuf,
    temporary: Option<PathBuf>,
    more_variables: Vec<(&'static str, OsString)>,
}

impl Lead {
    /// A world with fake `codex` and `pi` on PATH. It lies below the target directory: codex may write in the system's
    /// temporary directory, so no root may be there.
    pub(crate) fn new() -> Self {
        let directory = directory();
        let place = |name: &str| directory.path().join(name);
        let lead = Self {
            home: place("home"),
            workspace: place("workspace"),
            programs: place("bin"),
            temporary: None,
            more_variables: Vec::new(),
            slots: 4,
            directory,
        };
        for path in [&lead.home, &lead.workspace, &lead.programs] {
            fs::create_dir(path).unwrap();
        }
        for name in ["codex", "pi"] {
            fake::install(&lead.programs, name).unwrap();
        }
        // Else the repository of this project would be the workspace's.
        let made = Command::new("git")
            .args(["init", "--quiet"])
            .arg(&lead.workspace)
            .env_clear()
            .env("HOME", &lead.home)
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .status();
        assert!(made.unwrap().success());
        lead
    }

    /// A lead who uses the real CLI of a stage. Must be called, and used, on the thread that set the stage.
    pub(crate) fn on(stage: &Stage) -> Self {
        Self {
            directory: directory(),
            slots: 8,
            home: stage.home(),
            workspace: stage.workspace(),
            programs: stage.programs(),
            temporary: Some(stage.temporary().to_path_buf()),
            more_variables: Vec::new(),
        }
    }

    /// The same with another number of slots.
    pub(crate) fn with_slots(slots: u32) -> Self {
        let mut lead = Self::new();
        lead.slots = slots;
        lead
    }

    /// The same with one more variable for every command.
    pub(crate) fn and(mut self, name: &'static str, value: impl Into<OsString>) -> Self {
        self.more_variables.push((name, value.into()));
        self
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.path().join("root")
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.home.clone()
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        self.workspace.clone()
    }

    pub(crate) fn programs(&self) -> PathBuf {
        self.programs.clone()
    }

    /// What the fake CLIs noted.
    pub(crate) fn log(&self) -> Log {
        Log::of(&self.home())
    }

    /// A file with that brief.
    pub(crate) fn brief(&self, text: &str) -> PathBuf {
        let file = tempfile::Builder::new().prefix("brief-").tempfile_in(self.path()).unwrap();
        fs::write(file.path(), text).unwrap();
        file.into_temp_path().keep().unwrap()
    }

    /// `delegate` with these arguments, in a scrubbed environment.
    pub(crate) fn command<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_delegate"));
        command
            .args(arguments)
            .env_clear()
            .env("HOME", self.home())
            .env("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", self.programs().display()))
            .env("LANG", "C.UTF-8")
            // Where the fakes note what they do: every fence leaves it open.
            .env("NPM_CONFIG_CACHE", self.home().join(".cache"))
            .env("DELEGATE_ROOT", self.root())
            .env("DELEGATE_SLOTS", self.slots.to_string())
            .envs(self.temporary.iter().map(|path| ("TMPDIR", path)))
            .envs(self.more_variables.iter().map(|(name, value)| (name, value)))
            .current_dir(self.path())
            .stdin(Stdio::null());
        command
    }

    /// Runs `delegate` to its end.
    pub(crate) fn run<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Ran {
        Ran::from(self.command(arguments).output().unwrap())
    }

    /// Runs `delegate … --json`.
    pub(crate) fn json<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Ran {
        Ran::from(self.command(arguments).arg("--json").output().unwrap())
    }

    /// The arguments of a dispatch to a provider with a brief.
    pub(crate) fn dispatch_arguments(&self, provider: &str, brief: &str, more: &[&str]) -> Vec<String> {
        let brief = self.brief(brief);
        let mut arguments: Vec<String> = [
            "dispatch",
            "--provider",
            provider,
            "--brief",
            brief.to_str().unwrap(),
            "--cwd",
            self.workspace().to_str().unwrap(),
        ]
        .map(str::to_owned)
        .to_vec();
        arguments.extend(more.iter().map(|word| (*word).to_owned()));
        arguments
    }

    /// Dispatches, and returns the id.
    pub(crate) fn dispatch(&self, provider: &str, brief: &str, more: &[&str]) -> String {
        let ran = self.json(self.dispatch_arguments(provider, brief, more));
        assert_eq!(ran.code, 0, "{ran:?}");
        ran.answer()["task_id"].as_str().unwrap().to_owned()
    }

    /// Dispatches, waits for the end, and returns the answer.
    pub(crate) fn turn(&self, provider: &str, brief: &str, more: &[&str]) -> Ran {
        let mut arguments = self.dispatch_arguments(provider, brief, more);
        arguments.push("--wait".to_owned());
        self.json(arguments)
    }

    /// A command with `--json` in a mount namespace of its own, after a shell has mounted something over the root,
    /// which is its `$0`; nothing where such a namespace can not be had.
    pub(crate) fn mounted(&self, mount: &str, arguments: &[String]) -> Option<Ran> {
        let command = self.command(Vec::<String>::new());
        let program = command.get_program().to_owned();
        let environment =
            command.get_envs().filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())));
        let output = Command::new("unshare")
            .args(["-m", "sh", "-c", &format!("{mount} && exec \"$@\"")])
            .arg(self.root())
            .arg(program)
            .args(arguments)
            .arg("--json")
            .env_clear()
            .envs(environment)
            .output()
            .unwrap();
        let refused = String::from_utf8_lossy(&output.stderr).contains("unshare:");
        (!refused).then(|| Ran::from(output))
    }

    /// Waits for the end of a task in another process than the one that dispatched it.
    pub(crate) fn collect(&self, id: &str) -> Ran {
        self.json(["collect", id, "--watch", "60s"])
    }

    pub(crate) fn task_directory(&self, id: &str) -> PathBuf {
        self.root().join("tasks").join(id)
    }

    /// A record of a task.
    pub(crate) fn record(&self, id: &str, name: &str) -> Option<Value> {
        let bytes = fs::read(self.task_directory(id).join(name)).ok()?;
        Some(serde_json::from_slice(&bytes).unwrap())
    }

    /// The processes of ours whose command line holds every one of `words`.
    pub(crate) fn processes(&self, words: &[&str]) -> Vec<u32> {
        let root = self.root();
        processes(|command_line, _| {
            contains(command_line, root.as_os_str().as_encoded_bytes())
                && words.iter().all(|word| contains(command_line, word.as_bytes()))
        })
    }

    /// The runner of a task.
    pub(crate) fn runner(&self, id: &str) -> u32 {
        until("a runner", || self.processes(&[id]).first().copied())
    }

    /// The embedded supervisor.
    pub(crate) fn supervisor(&self) -> Option<u32> {
        self.processes(&["__supervise"]).first().copied()
    }

    /// Removes the cgroups of turns that were cut off with everything else.
    fn remove_cgroups(&self) {
        let record = self.root().join("root.json");
        // A test may have put a pipe in its place, of which a read never returns.
        let bytes = if record.is_file() { fs::read(record).unwrap_or_default() } else { return };
        let root: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        let (Some(id), Ok(home)) = (root["root_id"].as_str(), process::CgroupHome::find()) else { return };
        for node in home.nodes(&format!("delegate-{id}-")).unwrap_or_default() {
            let _ = node.remove();
        }
    }

    /// Everything that runs in this world: ours by the root in its command line, the fakes and theirs by HOME.
    pub(crate) fn everything(&self) -> Vec<u32> {
        let places = [self.path(), &self.home].map(|path| path.as_os_str().as_encoded_bytes());
        processes(|command_line, environment| {
            places.iter().any(|place| contains(command_line, place) || contains(environment, place))
        })
    }
}

impl Drop for Lead {
    fn drop(&mut self) {
        // A supervisor may start another runner while its last one dies.
        for _ in 0..20 {
            let left = self.everything();
            if left.is_empty() {
                break;
            }
            left.into_iter().for_each(end);
        }
        let _ = fs::set_permissions(self.root(), fs::Permissions::from_mode(0o700));
        self.remove_cgroups();
    }
}

fn directory() -> TempDir {
    tempfile::Builder::new().prefix("lead-").tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

/// What a program printed, and how it ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Ran {
    /// The one JSON object on standard output.
    pub(crate) fn answer(&self) -> Value {
        assert_eq!(self.stdout.lines().count(), 1, "{self:?}");
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The code of the reason of the outcome.
    pub(crate) fn reason(&self) -> String {
        self.answer()["outcome"]["reason"]["code"]
            .as_str()
            .unwrap_or_else(|| panic!("no outcome: {self:?}"))
            .to_owned()
    }

    /// The code of the failure.
    pub(crate) fn failure(&self) -> String {
        self.answer()["failure"]["code"].as_str().unwrap_or_else(|| panic!("no failure: {self:?}")).to_owned()
    }
}

/// The strongest containment that this host has for a turn of ours.
pub(crate) fn containment() -> &'static str {
    if process::CgroupHome::find().is_ok() { "cgroup" } else { "subreaper" }
}

/// Waits until `look` finds something. The thing looked for is in another process's hands and tells nobody, so this looks
/// again and again.
pub(crate) fn until<T>(what: &str, look: impl FnMut() -> Option<T>) -> T {
    until_within(PATIENCE, what, look)
}

/// The same for what takes its time.
pub(crate) fn until_within<T>(patience: Duration, what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + patience;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < deadline, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The task that a fake was launched for, from its cookie.
pub(crate) fn task_of(launch: &fake::Launch) -> String {
    launch.cookie.as_deref().unwrap().rsplit('-').next().unwrap().to_owned()
}

/// Sends a signal to one process.
pub(crate) fn kill(pid: u32, signal: &str) {
    let _ = Command::new("kill").args(["-s", signal, &pid.to_string()]).stderr(Stdio::null()).status();
}

/// The first line of a child's standard error that begins with `prefix`, without it.
pub(crate) fn line_of_stderr(child: &mut Child, prefix: &str) -> String {
    BufReader::new(child.stderr.take().unwrap())
        .lines()
        .map(Result::unwrap)
        .find_map(|line| line.strip_prefix(prefix).map(str::to_owned))
        .unwrap_or_else(|| panic!("no line {prefix}"))
}

/// Kills a process and waits until nothing of it runs any more.
fn end(pid: u32) {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::process::{Pid, PidfdFlags, pidfd_open};
    let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return };
    let Ok(process) = pidfd_open(pid, PidfdFlags::empty()) else { return };
    let _ = rustix::process::pidfd_send_signal(&process, rustix::process::Signal::KILL);
    let patience = Timespec::try_from(PATIENCE).ok();
    let _ = poll(&mut [PollFd::new(&process, PollFlags::IN)], patience.as_ref());
}

fn processes(is_meant: impl Fn(&[u8], &[u8]) -> bool) -> Vec<u32> {
    let ourselves = std::process::id();
    fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
        .filter(|pid| *pid != ourselves)
        .filter(|pid| {
            let read = |name: &str| fs::read(format!("/proc/{pid}/{name}")).unwrap_or_default();
            // A zombie has neither, and is not meant.
            is_meant(&read("cmdline"), &read("environ"))
        })
        .collect()
}

fn contains(haystack: &[u8], needle: &[u8]) -> bool {
    haystack.windows(needle.len()).any(|window| window == needle)
}
