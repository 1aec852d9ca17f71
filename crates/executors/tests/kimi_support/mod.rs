//! A stage with everything that a Kimi run needs: the fake on PATH, a login, a pinned ripgrep.

#![allow(dead_code, reason = "each test program uses a part")]

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::runs;
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
    runs::observed(stage, &ask(stage, lane, prompt, &[]))
}

/// Waits until the fake has said that it works.
pub(crate) fn wait_for_start(stage: &Stage) {
    runs::wait_for_starts(stage, "scratch", 1);
}
