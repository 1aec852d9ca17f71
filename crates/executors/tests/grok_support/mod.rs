//! A stage with everything that a Grok run needs: the fake on PATH and a login.

#![allow(dead_code, reason = "each test program uses a part")]

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::runs;
use crate::support::{Finished, Stage};

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_delegation-grok");
pub(crate) const ACCESS: &str = "access-planted-0123456789";
pub(crate) const REFRESH: &str = "refresh-planted-0123456789";

/// A stage with a login and no program.
pub(crate) fn bare() -> Stage {
    let mut stage = Stage::new(PROGRAM, "grok-4.6");
    stage.write("bin/.keep", "");
    stage.set("PATH", format!("{}:/usr/bin:/bin", stage.path("bin").display()));
    // Whatever engines this machine has.
    stage.set("DELEGATION_GROK_RUNTIME_SOCKET_ENDPOINTS", stage.path("docker.sock"));
    stage.set("ANTHROPIC_API_KEY", "planted-key-of-another");
    stage.plant("planted-key-of-another");
    stage.plant("thought-planted");
    sign_in(&mut stage, ACCESS, REFRESH);
    // What a run must not see.
    stage.write("home/.grok/config.toml", "[[hooks]]\ncommand = \"true\"\n");
    stage
}

/// A stage where a run goes well.
pub(crate) fn ready() -> Stage {
    let stage = bare();
    install(&stage, "bin/grok", json!({}));
    stage
}

/// Plants the fake; two with other members have other bytes.
pub(crate) fn install(stage: &Stage, name: &str, more: Value) -> PathBuf {
    let fake = testkit::binary::path("testkit-fake-runtime").expect("the fake");
    let mut setup = json!({"role": "grok"});
    for (member, value) in more.as_object().expect("members") {
        setup[member] = value.clone();
    }
    let path = stage.write(name, "");
    testkit::trailer::plant(&fake, &path, &setup).expect("planted");
    path
}

/// The user's login; none of its tokens may appear anywhere.
pub(crate) fn sign_in(stage: &mut Stage, access: &str, refresh: &str) {
    stage.plant(access);
    stage.plant(refresh);
    let login = json!({"https://accounts.x.ai/sign-in": {"key": access, "refresh_token": refresh}});
    stage.write("home/.grok/auth.json", login.to_string());
}

pub(crate) fn login(stage: &Stage) -> String {
    fs::read_to_string(stage.path("home/.grok/auth.json")).expect("a login")
}

pub(crate) fn lock_file(stage: &Stage) -> PathBuf {
    stage.path("home/.grok/.delegation-kit-oauth.lock")
}

/// Runs a prompt in the builder lane.
pub(crate) fn ask(stage: &Stage, prompt: &str, more: &[&str]) -> Finished {
    stage.write("prompt.md", prompt);
    stage.run_lane("builder", &[&["--allow-provisional"], more].concat())
}

/// The answer of a run that went well, as JSON.
pub(crate) fn observed(stage: &Stage, prompt: &str, more: &[&str]) -> Value {
    runs::observed(stage, &ask(stage, prompt, more))
}

/// Waits until so many fakes have said that they work.
pub(crate) fn wait_for_starts(stage: &Stage, number: usize) {
    runs::wait_for_starts(stage, "home-scratch", number);
}
