//! Fake CLIs, and a real one in a closed network: nothing of these tests is live.

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use record::words::Permission;
use serde_json::Value;
use tempfile::TempDir;
use testkit::fake::{self, Fake};
use testkit::real::{Component, Stage, target_directory};

use super::delegate::Delegate;
use super::receipt::{Receipt, Verdict};
use super::steps::{Briefs, Trial};

/// A host with fake CLIs and nothing else.
struct World {
    directory: TempDir,
    delegate: Delegate,
}

impl World {
    fn new() -> Self {
        let directory = directory();
        for name in ["home", "bin"] {
            fs::create_dir(directory.path().join(name)).unwrap();
        }
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin", directory.path().join("bin").display());
        let environment = [("HOME", directory.path().join("home").into_os_string()), ("PATH", path.into())];
        Self::with(directory, environment)
    }

    fn with(directory: TempDir, environment: impl IntoIterator<Item = (&'static str, OsString)>) -> Self {
        let program = testkit::binary::of_package("cli", "delegate").unwrap();
        let environment = environment.into_iter().map(|(name, value)| (name.into(), value));
        let delegate = Delegate::new(program, directory.path().join("root"), environment);
        Self { directory, delegate }
    }

    fn install(&self, name: &str) -> Fake {
        fake::install(&self.directory.path().join("bin"), name).unwrap()
    }

    fn trial(&self, fresh: &str, continued: &str, write: &str) -> Trial<'_> {
        let [fresh, continued, write] = [fresh, continued, write].map(str::to_owned);
        Trial {
            delegate: &self.delegate,
            directory: self.directory.path(),
            permission: None,
            is_login_elsewhere: false,
            briefs: Briefs { fresh, continued, write },
        }
    }
}

impl Drop for World {
    /// Ends the supervisor, which would wait for more work.
    fn drop(&mut self) {
        let root = self.delegate.root().as_os_str().as_encoded_bytes();
        for entry in fs::read_dir("/proc").unwrap().flatten() {
            let words = fs::read(entry.path().join("cmdline")).unwrap_or_default();
            if words.windows(root.len()).any(|window| window == root) {
                let _ = Command::new("kill").arg("-KILL").arg(entry.file_name()).status();
            }
        }
    }
}

fn directory() -> TempDir {
    // Outside the system's temporary directory: no root may be there.
    tempfile::Builder::new().prefix("acceptance-").tempdir_in(target_directory()).unwrap()
}

/// Verdict and reason of each step.
fn steps(receipt: &Receipt) -> Vec<(&str, Verdict, Option<&str>)> {
    receipt.steps.iter().map(|step| (step.name, step.verdict, step.reason.as_deref())).collect()
}

/// What a fake is asked; it writes other words into the file than it should.
const GOOD: [&str; 3] =
    ["[[fake: answer WORD]]", "[[fake: answer WORD]]", "[[fake: writes-outside-workspace FILE]] WORD"];

#[test]
fn nothing_is_installed() {
    let world = World::new();
    let [fresh, continued, write] = GOOD;
    for provider in world.delegate.providers(None).unwrap() {
        let receipt = world.trial(fresh, continued, write).of(&provider).unwrap();
        assert_eq!(receipt.verdict, Verdict::Blocked, "{receipt}");
        assert_eq!(steps(&receipt), [("preflight", Verdict::Blocked, Some("no-executable"))]);
    }
    assert!(world.delegate.providers(Some("bogus:run")).is_err());
    assert!(world.delegate.providers(Some("offline:survey")).is_err(), "it has nothing live");
}

#[test]
fn nobody_is_signed_in() {
    let world = World::new();
    world.install("codex");
    let [fresh, continued, write] = GOOD;
    let receipt = world.trial(fresh, continued, write).of("codex:exec").unwrap();
    assert_eq!(steps(&receipt), [("login", Verdict::Blocked, Some("no-login"))]);
    assert_eq!(receipt.verdict, Verdict::Blocked);
    assert!(!world.delegate.root().join("tasks").exists(), "a turn was run");

    // A CLI whose login is in no file says so itself, in a turn.
    world.install("agy");
    let not_signed_in = "[[fake: error-event \"authentication failed or timed out\"]]";
    let receipt = world.trial(not_signed_in, continued, write).of("antigravity:print").unwrap();
    assert_eq!(receipt.verdict, Verdict::Blocked, "{receipt}");
    assert_eq!(steps(&receipt)[0], ("fresh", Verdict::Blocked, Some("authentication-required")));
}

#[test]
fn a_program_that_is_too_old_fails() {
    let world = World::new();
    world.install("codex").configure("[[fake: help-lacks --json]]").unwrap();
    let receipt = world.trial("", "", "").of("codex:exec").unwrap();
    assert_eq!(steps(&receipt), [("preflight", Verdict::Failed, Some("provider_preflight_failed"))]);
    assert_eq!(receipt.verdict, Verdict::Failed);
}

#[test]
fn turns_that_do_not_show_it_fail() {
    let world = World::new();
    world.install("agy");
    let [fresh, continued, write] = GOOD;
    let of = |fresh: &str, continued: &str, write: &str| {
        world.trial(fresh, continued, write).of("antigravity:print").unwrap()
    };
    for (receipt, step) in [
        (
            of("[[fake: answer something]]", continued, write),
            ("fresh", Verdict::Failed, Some("other-answer")),
        ),
        (of("[[fake: exit-0-empty]]", continued, write), ("fresh", Verdict::Failed, Some("empty-output"))),
        (
            of(fresh, "[[fake: answer something]]", write),
            ("continued", Verdict::Failed, Some("other-answer")),
        ),
        (
            of(fresh, "[[fake: other-session-id]]", write),
            ("continued", Verdict::Failed, Some("identity-mismatch")),
        ),
        (of(fresh, continued, "[[fake: answer WORD]]"), ("write", Verdict::Failed, Some("no-file"))),
        (of(fresh, continued, write), ("write", Verdict::Failed, Some("other-content"))),
    ] {
        assert!(steps(&receipt).contains(&step), "{receipt}");
        assert_eq!(receipt.verdict, Verdict::Failed, "{receipt}");
    }
}

#[test]
fn the_receipt_tells_nothing_of_the_host() {
    let world = World::new();
    world.install("agy");
    let [fresh, continued, _] = GOOD;
    let mut trial = world.trial(fresh, continued, "");
    trial.permission = Some(Permission::ReadOnly);
    let receipt = trial.of("antigravity:print").unwrap();
    assert_eq!(receipt.verdict, Verdict::Passed, "{receipt}");
    assert_eq!(
        steps(&receipt),
        [
            ("fresh", Verdict::Passed, None),
            ("continued", Verdict::Passed, None),
            ("models", Verdict::Passed, None),
        ]
    );
    receipt.write(world.directory.path()).unwrap();
    let text = fs::read_to_string(world.directory.path().join("antigravity-print.json")).unwrap();
    let written: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&written["verdict"], &written["provider_version"]), (&"passed".into(), &"1.2.2".into()));
    assert_eq!(written["steps"][0]["turn"]["launched"], "yes");
    for private in [world.directory.path().to_str().unwrap(), "walnut-", "conversation", "task"] {
        assert!(!text.contains(private), "{private}: {text}");
    }
}

/// The whole way with a real CLI, against the model server in a network that holds loopback only.
fn passes(test: &str, component: Component, provider: &str) {
    let Some(stage) = Stage::for_test(test, component) else { return };
    let world = World::with(directory(), stage.environment());
    let [fresh, write] = ["[[script: answer WORD]]", "[[script: write FILE WORD]]"];
    let mut trial = world.trial(fresh, fresh, write);
    trial.is_login_elsewhere = true;
    let receipt = trial.of(provider).unwrap();
    assert_eq!(receipt.verdict, Verdict::Passed, "{receipt}");
    assert_eq!(receipt.steps.len(), 4, "{receipt}");

    let failing = world.trial("[[script: answer something]]", "", "");
    let receipt = Trial { is_login_elsewhere: true, ..failing }.of(provider).unwrap();
    assert_eq!(receipt.verdict, Verdict::Failed, "{receipt}");
    let blocked = world.trial("[[script: 401]]", "", "");
    let receipt = Trial { is_login_elsewhere: true, ..blocked }.of(provider).unwrap();
    assert_eq!(steps(&receipt)[0], ("fresh", Verdict::Blocked, Some("authentication-required")), "{receipt}");
}

#[test]
fn codex_passes_fails_and_is_blocked() {
    passes("codex_passes_fails_and_is_blocked", Component::Codex, "codex:exec");
}

#[test]
fn pi_passes_fails_and_is_blocked() {
    passes("pi_passes_fails_and_is_blocked", Component::Pi, "pi:json");
}

#[test]
fn the_worst_decides() {
    use Verdict::{Blocked, Failed, Passed};
    for (verdicts, code) in [
        (&[Passed][..], 0),
        (&[Passed, Blocked], 2),
        (&[Blocked, Failed, Passed], 1),
        // Nothing is no pass.
        (&[], 2),
    ] {
        let expected = std::process::ExitCode::from(code);
        assert_eq!(format!("{:?}", super::exit_code(verdicts)), format!("{expected:?}"));
    }
}

/// The chore itself, as somebody runs it on a host without any CLI.
#[test]
fn the_chore_is_blocked_where_nothing_is_installed() {
    let directory = directory();
    let program: PathBuf = testkit::binary::of_package("cli", "delegate").unwrap();
    let options = super::Options {
        provider: Some("codex:exec".to_owned()),
        permission: None,
        login_elsewhere: false,
        delegate: Some(directory.path().join("delegate")),
        output: Some(directory.path().join("out")),
    };
    // A PATH of its own hides what this host may have.
    let script = format!("#!/bin/sh\nPATH=/usr/bin:/bin HOME=/nowhere exec '{}' \"$@\"\n", program.display());
    let written = Command::new("sh")
        .args(["-c", "printf %s \"$1\" > \"$2\" && chmod 755 \"$2\"", "sh", &script])
        .arg(directory.path().join("delegate"))
        .status();
    assert!(written.unwrap().success());
    let code = super::run(&options).unwrap();
    assert_eq!(format!("{code:?}"), format!("{:?}", std::process::ExitCode::from(2)));
    let receipt = fs::read_to_string(directory.path().join("out/codex-exec.json")).unwrap();
    assert!(receipt.contains("no-executable"), "{receipt}");
}
