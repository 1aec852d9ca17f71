//! What the tests of all runners share: a private place to run a runner in, and the promises that are checked after every run.

#![allow(dead_code, reason = "each test program uses a part")]

pub(crate) mod checkout;
pub(crate) mod gate_files;
pub(crate) mod runs;
pub(crate) mod small_disk;
pub(crate) mod talk;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use gates::source::Environment;
use serde_json::Value;
use tempfile::TempDir;

/// A place of its own for one runner: `home`, `tmp`, `work` (the workspace) and `out`.
pub(crate) struct Stage {
    directory: TempDir,
    program: PathBuf,
    family: &'static str,
    variables: BTreeMap<OsString, OsString>,
    umask: Option<&'static str>,
    secrets: Vec<String>,
}

/// A run that ended.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// A run in progress. It is killed when a test gives it up.
pub(crate) struct Started {
    child: Option<Child>,
}

impl Stage {
    /// A place for a program, which is `env!("CARGO_BIN_EXE_…")`, and the family's name in the contract.
    pub(crate) fn new(program: impl Into<PathBuf>, family: &'static str) -> Self {
        let directory = tempfile::Builder::new().prefix("runner-test.").tempdir().expect("a directory");
        let mut stage = Self {
            directory,
            program: program.into(),
            family,
            variables: BTreeMap::new(),
            umask: None,
            secrets: Vec::new(),
        };
        for name in ["home", "tmp", "work", "out"] {
            fs::create_dir(stage.path(name)).expect("a directory");
        }
        fs::write(stage.path("prompt.md"), "Fix the fault.\n").expect("a prompt");
        stage.set("HOME", stage.path("home"));
        stage.set("TMPDIR", stage.path("tmp"));
        stage.set("PATH", "/usr/bin:/bin");
        stage
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().canonicalize().expect("a path").join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        fs::write(&path, content).expect("written");
        path
    }

    pub(crate) fn set(&mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) {
        self.variables.insert(name.as_ref().to_owned(), value.as_ref().to_owned());
    }

    pub(crate) fn unset(&mut self, name: &str) {
        self.variables.remove(OsStr::new(name));
    }

    /// The umask of the program, in octal. It is set where it is started: that of a process counts for all of its threads.
    pub(crate) fn set_umask(&mut self, umask: &'static str) {
        self.umask = Some(umask);
    }

    /// Another file of the program.
    pub(crate) fn use_program(&mut self, program: PathBuf) {
        self.program = program;
    }

    /// A text that may appear nowhere: not on the two streams, not in a file in `out`, not in an argument of a process.
    pub(crate) fn plant(&mut self, secret: &str) {
        self.secrets.push(secret.to_owned());
    }

    /// The words of an ordinary run in a lane, and more.
    pub(crate) fn words(&self, lane: &str, more: &[&str]) -> Vec<OsString> {
        let mut words: Vec<OsString> = vec!["run".into(), "--lane".into(), lane.into()];
        for (flag, name) in
            [("--prompt-file", "prompt.md"), ("--output", "out/answer.txt"), ("--workdir", "work")]
        {
            words.push(flag.into());
            words.push(self.path(name).into());
        }
        words.extend(more.iter().map(OsString::from));
        words
    }

    pub(crate) fn command<S: AsRef<OsStr>>(&self, words: &[S]) -> Command {
        let mut command = match self.umask {
            None => Command::new(&self.program),
            Some(umask) => {
                let mut shell = Command::new("/bin/sh");
                shell.args(["-c", "umask \"$0\"; exec \"$@\"", umask]).arg(&self.program);
                shell
            }
        };
        command.args(words).env_clear().envs(&self.variables).current_dir(self.path("work"));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs the program to its end and checks what holds after every run.
    pub(crate) fn run<S: AsRef<OsStr>>(&self, words: &[S]) -> Finished {
        let output = self.command(words).output().expect("the runner starts");
        self.judge(output)
    }

    /// [`Self::run`] of [`Self::words`].
    pub(crate) fn run_lane(&self, lane: &str, more: &[&str]) -> Finished {
        self.run(&self.words(lane, more))
    }

    /// Starts the program; [`Self::finish`] waits for it.
    pub(crate) fn start<S: AsRef<OsStr>>(&self, words: &[S]) -> Started {
        Started::of(&mut self.command(words))
    }

    pub(crate) fn finish(&self, started: Started) -> Finished {
        self.judge(started.wait())
    }

    /// Starts the program with its standard error in a file, to be read while it runs; [`Self::finish_heard`] waits for it.
    pub(crate) fn start_heard<S: AsRef<OsStr>>(&self, words: &[S], stderr: &Path) -> Started {
        let file = fs::File::create(stderr).expect("a file");
        Started { child: Some(self.command(words).stderr(file).spawn().expect("the runner starts")) }
    }

    pub(crate) fn finish_heard(&self, started: Started, stderr: &Path) -> Finished {
        let output = started.wait();
        self.judge(Output { stderr: fs::read(stderr).expect("readable"), ..output })
    }

    /// The object that `check --json` prints; a valid status of the family.
    pub(crate) fn check(&self) -> Value {
        let finished = self.run(&["check", "--json"]);
        assert_eq!((finished.code, finished.stderr.as_str()), (0, ""));
        let file = self.write("status.json", &finished.stdout);
        self.validate("status", &file);
        serde_json::from_str(&finished.stdout).expect("JSON")
    }

    /// A file in `out` as JSON; nothing where it is absent.
    pub(crate) fn json(&self, name: &str) -> Option<Value> {
        let bytes = fs::read(self.path("out").join(name)).ok()?;
        Some(serde_json::from_slice(&bytes).expect("JSON"))
    }

    pub(crate) fn metrics(&self) -> Value {
        self.json("answer.txt.metrics.json").expect("metrics")
    }

    pub(crate) fn diagnostic(&self) -> Value {
        self.json("answer.txt.error.json").expect("a diagnostic")
    }

    pub(crate) fn answer(&self) -> Option<Vec<u8>> {
        fs::read(self.path("out/answer.txt")).ok()
    }

    /// The names in `out`.
    pub(crate) fn outputs(&self) -> Vec<String> {
        names(&self.path("out"))
    }

    /// Checks what holds after every run; for a test that first has to put back what it moved away.
    pub(crate) fn judge(&self, output: Output) -> Finished {
        let code = output.status.code().unwrap_or_else(|| {
            use std::os::unix::process::ExitStatusExt as _;
            -output.status.signal().expect("a code or a signal")
        });
        let finished = Finished {
            code,
            stdout: String::from_utf8(output.stdout).expect("UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("UTF-8"),
        };
        assert!([0, 64, 69, 70, 75, 78, 130, -15, -2].contains(&code), "{finished:?}");
        assert_eq!(
            names(&self.path("tmp")),
            Vec::<String>::new(),
            "left in the temporary directory: {finished:?}"
        );
        for (suffix, kind) in [(".metrics.json", "result"), (".error.json", "diagnostic")] {
            for name in self.outputs().iter().filter(|name| name.ends_with(suffix)) {
                self.validate(kind, &self.path("out").join(name));
            }
        }
        let texts = [("stdout", finished.stdout.clone()), ("stderr", finished.stderr.clone())];
        let files = files(&self.path("out"));
        for secret in &self.secrets {
            for (place, text) in &texts {
                assert!(!text.contains(secret), "the secret is on {place}: {text}");
            }
            for file in &files {
                let bytes = fs::read(file).unwrap_or_default();
                let found = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
                assert!(!found, "the secret is in {}", file.display());
            }
        }
        finished
    }

    /// Holds a file to the executor contract, as `delegation-executor-contract validate` does.
    pub(crate) fn validate(&self, kind: &str, file: &Path) {
        // A file that a test put there by itself is none of the runner's.
        if fs::read(file).is_ok_and(|bytes| bytes == b"theirs") || file.is_symlink() || file.is_dir() {
            return;
        }
        let words = ["validate", "--envelope", kind, "--family", self.family, "--json", "--file"];
        let mut words: Vec<OsString> = words.map(OsString::from).to_vec();
        words.push(file.into());
        let environment = Environment { variable: &|_| None, installed: None };
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        let code = contract::command::run(&words, &environment, &mut stdout, &mut stderr);
        let text = fs::read_to_string(file).unwrap_or_default();
        assert_eq!(code, 0, "{}\n{text}", String::from_utf8_lossy(&stderr));
    }
}

impl Started {
    pub(crate) fn of(command: &mut Command) -> Self {
        Self { child: Some(command.spawn().expect("the runner starts")) }
    }

    /// Waits for the end; [`Stage::judge`] is the next step.
    pub(crate) fn wait(mut self) -> Output {
        let child = self.child.take().expect("a run in progress");
        child.wait_with_output().expect("the runner ends")
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.as_ref().expect("a run in progress").id()
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Finished {
    /// Demands an exit code, and with it one line on standard error that holds `words`.
    pub(crate) fn refused(&self, code: i32, words: &str) {
        assert_eq!(self.code, code, "{self:?}");
        assert_eq!(self.stdout, "");
        assert_eq!(self.stderr.lines().count(), 1, "{self:?}");
        assert!(self.stderr.contains(words), "{self:?}");
    }
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).expect("a directory");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8")).collect();
    names.sort();
    names
}

/// A file of the user in the memory that all processes share.
pub(crate) fn shared_memory() -> tempfile::NamedTempFile {
    tempfile::Builder::new().prefix("runner-test.").tempfile_in("/dev/shm").expect("a file")
}

/// Every file below a directory.
pub(crate) fn files(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() && !path.is_symlink() { found.extend(files(&path)) } else { found.push(path) }
    }
    found
}
