//! Runs beside each other, and what they leave.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use testkit::limits::TEST_WAIT_MAX_SECONDS;
use testkit::watch::until_below;

use super::{Finished, Stage, Started};

/// Clears what a run left, for the next.
pub(crate) fn clear(stage: &Stage) {
    fs::remove_dir_all(stage.path("out")).expect("removed");
    fs::create_dir(stage.path("out")).expect("a directory");
}

/// The answer of a run that went well and said nothing, as JSON.
pub(crate) fn observed(stage: &Stage, finished: &Finished) -> Value {
    assert_eq!((finished.code, finished.stdout.as_str(), finished.stderr.as_str()), (0, "", ""));
    serde_json::from_slice(&stage.answer().expect("an answer")).expect("JSON")
}

/// Waits until something holds; no event tells of it.
pub(crate) fn wait_until(mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(TEST_WAIT_MAX_SECONDS);
    while !holds() {
        assert!(Instant::now() < deadline, "it never came to hold");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Waits until exactly so many runs have a child that has said that it works; returns their private directories.
pub(crate) fn wait_for_starts(stage: &Stage, scratch: &str, number: usize) -> Vec<PathBuf> {
    until_below(&stage.path("tmp"), "children that work", || {
        Some(at_work(stage, scratch)).filter(|runs| runs.len() == number)
    })
}

/// The private directories of runs whose child has said that it works; `scratch` is its temporary directory there.
fn at_work(stage: &Stage, scratch: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(stage.path("tmp")).expect("a directory").flatten();
    entries.map(|entry| entry.path()).filter(|run| run.join(scratch).join("started").exists()).collect()
}

pub(crate) fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("metadata").permissions().mode() & 0o7777
}

/// The words of a run with a prompt and an answer of its own, which may go on beside another one of the same stage.
pub(crate) fn own_words(stage: &Stage, lane: &str, name: &str, prompt: &str, more: &[&str]) -> Vec<OsString> {
    let file = stage.write(&format!("{name}.md"), prompt);
    let output = stage.path(&format!("out/{name}.txt"));
    let mut words = stage.words(lane, more);
    for (flag, path) in [("--prompt-file", file), ("--output", output)] {
        let at = words.iter().position(|word| word == flag).expect("a flag") + 1;
        words[at] = path.into();
    }
    words
}

/// Code and standard error of a run that ended while another one went on.
pub(crate) fn told(output: &Output) -> (Option<i32>, String) {
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// Asks a run to end.
pub(crate) fn terminate(started: &Started) {
    let pid = Pid::from_raw(started.pid().cast_signed()).expect("a process");
    kill_process(pid, Signal::TERM).expect("a signal");
}

/// A living process whose number stands in a lock file. Both are gone when a test gives it up.
pub(crate) struct Holder {
    process: Child,
    file: PathBuf,
}

impl Holder {
    pub(crate) fn of(file: PathBuf) -> Self {
        let process =
            Command::new("/usr/bin/sleep").arg("600").stdout(Stdio::null()).spawn().expect("a process");
        fs::write(&file, format!("{}\n", process.id())).expect("written");
        Self { process, file }
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = fs::remove_file(&self.file);
    }
}

/// Follows a shared run whose turn waits for `work/go` and then refreshes the login as `first`, while `second` begins beside it, whose
/// probe refreshes it as `probe`.
pub(crate) fn demand_one_login(
    stage: &Stage,
    first: Started,
    second: impl FnOnce() -> Started,
    login: fn(&Stage) -> String,
) {
    let (code, said) = told(&second().wait());
    assert_eq!((code, said.as_str()), (Some(0), ""));
    assert!(login(stage).contains("refresh-rotated-probe"));
    // The first works on with what the probe of the second refreshed, and nobody has logged in elsewhere.
    stage.write("work/go", "");
    let finished = stage.finish(first);
    assert_eq!((finished.code, finished.stderr.as_str()), (0, ""));
    assert!(login(stage).contains("refresh-rotated-first"));
}

/// What tells one holding of a lock from the next: each makes its file anew.
fn holding(file: &Path) -> (u64, i64, i64) {
    let metadata = fs::metadata(file).expect("a lock");
    (metadata.ino(), metadata.mtime(), metadata.mtime_nsec())
}

/// Follows a run whose probe waits for `go-probe` and whose turn writes `work/began` and waits for `work/go`: from the first probe to the
/// end it is one holding of the lock, `second` is sent away all the time, and `kept` holds before the turn begins.
pub(crate) fn demand_one_holding(
    stage: &Stage,
    started: Started,
    lock: &Path,
    second: impl Fn() -> Started,
    kept: impl FnOnce(),
) {
    let demand_busy = || {
        let (code, said) = told(&second().wait());
        assert_eq!(code, Some(75), "{said}");
        assert!(said.contains("another run has the "), "{said}");
    };
    let held = holding(lock);
    demand_busy();
    stage.write("go-probe", "");
    until_below(&stage.path("work"), "a turn that has begun", || {
        stage.path("work/began").exists().then_some(())
    });
    assert_eq!(holding(lock), held, "it is one holding, without a gap");
    kept();
    demand_busy();
    stage.write("work/go", "");
    let finished = stage.finish(started);
    assert_eq!((finished.code, finished.stderr.as_str()), (0, ""));
    assert!(!lock.exists());
}
