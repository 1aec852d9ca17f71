//! A stage with everything that a Kimi run needs: the fake on PATH, a login, a pinned ripgrep.

#![allow(dead_code, reason = "each test program uses a part")]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::limits::TEST_WAIT_MAX_SECONDS;
use testkit::watch::until_below;

use crate::support::{Finished, Stage};

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_delegation-kimi");
pub(crate) const ACCESS: &str = "access-planted-0123456789";
pub(crate) const REFRESH: &str = "refresh-planted-0123456789";

/// A stage with a login and nothing else.
pub(crate) fn bare() -> Stage {
    let mut stage = Stage::new(PROGRAM, "kimi-k3");
    stage.write("bin/.keep", "");
    stage.set("PATH", format!("{}:/usr/bin:/bin", stage.path("bin").display()));
    sign_in(&mut stage, ACCESS, REFRESH);
    stage
}

/// A stage where a run goes well.
pub(crate) fn ready() -> Stage {
    let stage = bare();
    install(&stage, json!({"role": "kimi"}));
    plant_ripgrep(&stage, "rg", json!({}));
    pin(&stage);
    stage
}

/// Puts the fake on PATH.
pub(crate) fn install(stage: &Stage, setup: Value) {
    let fake = testkit::binary::path("testkit-fake-kimi").expect("the fake");
    testkit::trailer::plant(&fake, &stage.path("bin/kimi"), &setup).expect("planted");
}

/// A fake ripgrep in `bin`; two with other members have other bytes.
pub(crate) fn plant_ripgrep(stage: &Stage, name: &str, more: Value) -> PathBuf {
    let fake = testkit::binary::path("testkit-fake-kimi").expect("the fake");
    let mut setup = json!({"role": "rg"});
    for (member, value) in more.as_object().expect("members") {
        setup[member] = value.clone();
    }
    let path = stage.path("bin").join(name);
    testkit::trailer::plant(&fake, &path, &setup).expect("planted");
    path
}

pub(crate) fn pin(stage: &Stage) {
    let finished = stage.run(&["pin-rg"]);
    assert_eq!((finished.code, finished.stderr.as_str()), (0, ""), "{finished:?}");
}

/// The user's login; none of its tokens may appear anywhere.
pub(crate) fn sign_in(stage: &mut Stage, access: &str, refresh: &str) {
    stage.plant(access);
    stage.plant(refresh);
    let login = json!({"access_token": access, "refresh_token": refresh, "expires_at": 1});
    stage.write("home/.kimi-code/credentials/kimi-code.json", login.to_string());
    stage.write("home/.kimi-code/oauth/kimi-code", "");
    stage.write("home/.kimi-code/device_id", "device");
    // What a run must not see.
    stage.write("home/.kimi-code/config.toml", "default_effort = \"high\"\n[[hooks]]\ncommand = \"true\"\n");
}

pub(crate) fn login(stage: &Stage) -> String {
    fs::read_to_string(stage.path("home/.kimi-code/credentials/kimi-code.json")).expect("a login")
}

pub(crate) fn lock_file(stage: &Stage) -> PathBuf {
    stage.path("home/.kimi-code/.delegation-kit-oauth.lock")
}

/// Runs a prompt in a lane.
pub(crate) fn ask(stage: &Stage, lane: &str, prompt: &str, more: &[&str]) -> Finished {
    stage.write("prompt.md", prompt);
    stage.run_lane(lane, &[&["--allow-provisional"], more].concat())
}

/// The answer of a run that went well, as JSON.
pub(crate) fn observed(stage: &Stage, lane: &str, prompt: &str) -> Value {
    let finished = ask(stage, lane, prompt, &[]);
    assert_eq!((finished.code, finished.stdout.as_str(), finished.stderr.as_str()), (0, "", ""));
    serde_json::from_slice(&stage.answer().expect("an answer")).expect("JSON")
}

/// Clears what a run left, for the next.
pub(crate) fn clear(stage: &Stage) {
    for name in stage.outputs() {
        let path = stage.path("out").join(name);
        if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }.expect("removed");
    }
}

/// Waits until something holds; no event tells of it.
pub(crate) fn wait_until(mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(TEST_WAIT_MAX_SECONDS);
    while !holds() {
        assert!(Instant::now() < deadline, "it never came to hold");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Waits until the fake has said that it works.
pub(crate) fn wait_for_start(stage: &Stage) {
    let directory = stage.path("tmp");
    until_below(&directory, "a fake that works", || {
        let mut runs = fs::read_dir(&directory).expect("a directory").flatten();
        runs.any(|entry| entry.path().join("scratch/started").exists()).then_some(())
    });
}

pub(crate) fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;
    fs::metadata(path).expect("metadata").permissions().mode() & 0o7777
}
