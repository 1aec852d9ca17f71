//! A stage with everything that a Gemini run needs: the fake on PATH and a login.

#![allow(dead_code, reason = "each test program uses a part")]

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::runs;
use crate::support::{Finished, Stage};

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_delegation-gemini");
pub(crate) const TOKEN: &str = "store-planted-0123456789";
pub(crate) const STORE: &str = "home/.gemini/antigravity-cli/antigravity-oauth-token";

/// A stage with a login and no program.
pub(crate) fn bare() -> Stage {
    let mut stage = Stage::new(PROGRAM, "gemini-3.7-flash");
    stage.write("bin/.keep", "");
    stage.set("PATH", format!("{}:/usr/bin:/bin", stage.path("bin").display()));
    // Every run of these tests looks as if it came from a remote shell.
    for name in ["SSH_CLIENT", "SSH_CONNECTION", "SSH_TTY"] {
        stage.set(name, "192.0.2.1 1 22");
    }
    stage.set("ANTHROPIC_API_KEY", "planted-key-of-another");
    stage.plant("planted-key-of-another");
    stage.plant(TOKEN);
    stage.write(STORE, TOKEN);
    // What a run must not see.
    stage.write("home/.gemini/antigravity-cli/settings.json", "{\"toolPermission\":\"yolo\"}");
    stage.write("home/.gemini/GEMINI.md", "memory");
    stage
}

/// A stage where a run goes well.
pub(crate) fn ready() -> Stage {
    let stage = bare();
    install(&stage, json!({"role": "agy"}));
    stage
}

/// Puts the fake on PATH.
pub(crate) fn install(stage: &Stage, setup: Value) {
    let fake = testkit::binary::path("testkit-fake-runtime").expect("the fake");
    testkit::trailer::plant(&fake, &stage.path("bin/agy"), &setup).expect("planted");
}

/// Runs a prompt in a lane under evaluation: no lane is operational.
pub(crate) fn ask(stage: &Stage, lane: &str, prompt: &str, more: &[&str]) -> Finished {
    stage.write("prompt.md", prompt);
    stage.run_lane(lane, &[&["--evaluation"], more].concat())
}

/// The answer of a run that went well, as JSON.
pub(crate) fn observed(stage: &Stage, lane: &str, prompt: &str) -> Value {
    runs::observed(stage, &ask(stage, lane, prompt, &[]))
}

/// Waits until the fake has said that it works; returns the directory of its run.
pub(crate) fn wait_for_start(stage: &Stage) -> PathBuf {
    runs::wait_for_starts(stage, "scratch", 1).remove(0)
}
