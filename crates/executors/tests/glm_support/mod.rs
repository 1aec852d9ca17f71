//! A stage with everything that a GLM run needs: a fake Claude Code and a key.

#![allow(dead_code, reason = "each test program uses a part")]

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use executors::glm::GLM;
use serde_json::{Value, json};
use testkit::watch::until_below;

use crate::support::checkout::{Checkout, git};
use crate::support::{Finished, Stage};

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_delegation-glm");
pub(crate) const KEY: &str = "zai-planted-0123456789abcdef";
pub(crate) const PROFILE: &str = "glm53-flash-max";

/// A stage with a key and no Claude Code.
pub(crate) fn bare() -> Stage {
    let mut stage = Stage::new(PROGRAM, "glm-5.3-flash");
    stage.plant(KEY);
    stage.set("ZAI_API_KEY", KEY);
    stage.write("bin/.keep", "");
    stage.set("PATH", format!("{}:/usr/bin:/bin", stage.path("bin").display()));
    stage
}

/// A stage where a run goes well.
pub(crate) fn ready() -> Stage {
    let stage = bare();
    install(&stage, "claude", json!({}));
    stage
}

/// Puts a fake Claude Code into the stage's `bin`.
pub(crate) fn install(stage: &Stage, name: &str, setup: Value) -> PathBuf {
    let fake = testkit::binary::path("testkit-fake-claude").expect("the fake");
    let path = stage.path("bin").join(name);
    testkit::trailer::plant(&fake, &path, &setup).expect("planted");
    path
}

/// The marker that lets the fake write one line of its stream.
pub(crate) fn line(event: &Value) -> String {
    text_line(&event.to_string())
}

/// The same for a line that need not be JSON.
pub(crate) fn text_line(text: &str) -> String {
    format!("[[GLM: line \"{}\"]]", text.replace('\\', "\\\\").replace('"', "\\\""))
}

pub(crate) fn init(model: &str) -> Value {
    json!({"type": "system", "subtype": "init", "model": model})
}

pub(crate) fn assistant(model: &str) -> Value {
    json!({"type": "assistant", "message": {"model": model, "content": []}})
}

pub(crate) fn retry(status: u64) -> Value {
    json!({"type": "system", "subtype": "api_retry", "error_status": status})
}

/// A good result that counts one participant, with members changed.
pub(crate) fn result(change: &Value) -> Value {
    let mut result = json!({
        "type": "result", "subtype": "success", "is_error": false, "result": "Fine.",
        "modelUsage": {"glm-5.3-flash": {"inputTokens": 1, "canonicalModel": "glm-5.3-flash", "provider": "firstParty"}},
    });
    for (key, value) in change.as_object().expect("members") {
        result[key] = value.clone();
    }
    result
}

/// Runs a prompt in a lane.
pub(crate) fn ask(stage: &Stage, lane: &str, prompt: &str, more: &[&str]) -> Finished {
    stage.write("prompt.md", prompt);
    stage.run_lane(lane, &[&["--allow-provisional"], more].concat())
}

/// The answer of a run that went well, as JSON.
pub(crate) fn observed(stage: &Stage, lane: &str, prompt: &str) -> Value {
    let finished = ask(stage, lane, prompt, &[]);
    assert_eq!((finished.code, finished.stderr.as_str()), (0, ""), "{finished:?}");
    serde_json::from_slice(&stage.answer().expect("an answer")).expect("JSON")
}

/// What Claude Code sees of itself in a run that goes well. The key is in it, so the answer is written where no test looks for
/// planted keys.
pub(crate) fn observe(stage: &Stage, mut words: Vec<OsString>) -> Value {
    let output = stage.path("elsewhere/answer.txt");
    let at = words.iter().position(|word| word == "--output").expect("a flag") + 1;
    words[at] = output.clone().into();
    let finished = stage.run(&words);
    assert_eq!((finished.code, finished.stderr.as_str()), (0, ""), "{finished:?}");
    let answer = fs::read(output).expect("an answer");
    fs::remove_dir_all(stage.path("elsewhere")).expect("removed");
    let answer: Value = serde_json::from_slice(&answer).expect("JSON");
    answer["observed"].clone()
}

/// A run of a stream that fails and leaves nothing but its diagnostic.
pub(crate) fn fails(stage: &Stage, prompt: &str, code: i32, phase: &str, reason: &str) -> Value {
    let finished = ask(stage, "scout", prompt, &[]);
    let path = stage.path("out/answer.txt.error.json");
    finished.refused(code, &format!("delegation-glm: {reason} (details: {})", path.display()));
    assert_eq!(stage.outputs(), ["answer.txt.error.json"]);
    let diagnostic = stage.diagnostic();
    assert_eq!((&diagnostic["phase"], &diagnostic["reason"]), (&json!(phase), &json!(reason)));
    assert_eq!((&diagnostic["schema_version"], &diagnostic["debug_dir"]), (&json!(2), &Value::Null));
    diagnostic
}

/// Removes what a run left, so that another can follow.
pub(crate) fn clear(stage: &Stage) {
    fs::remove_dir_all(stage.path("out")).expect("removed");
    fs::create_dir(stage.path("out")).expect("a directory");
}

/// Waits until the fake says that its turn has begun; returns its temporary directory.
pub(crate) fn wait_for_start(stage: &Stage) -> PathBuf {
    until_below(&stage.path("tmp"), "a child that works", || {
        let runs = fs::read_dir(stage.path("tmp")).expect("a directory").flatten();
        runs.map(|entry| entry.path().join("temporary")).find(|run| run.join("started").exists())
    })
}

/// A stage and the words of an evaluation of policy-annotation.
pub(crate) fn policy(prompt: &str, change: impl FnOnce(&mut Checkout)) -> (Stage, Vec<OsString>, String) {
    let mut stage = ready();
    stage.write("prompt.md", prompt);
    let profile = format!("{PROFILE}-policy-annotation");
    let mut checkout = Checkout::new(&mut stage, PROGRAM, &GLM, &profile, "max");
    change(&mut checkout);
    let (manifest, sha256) = checkout.publish(&mut stage, &GLM);
    let words = words(&stage, "policy-annotation", &manifest);
    (stage, words, sha256)
}

pub(crate) fn words(stage: &Stage, lane: &str, manifest: &Path) -> Vec<OsString> {
    let manifest = manifest.to_str().expect("UTF-8");
    stage.words(lane, &["--evaluation", "--evaluation-manifest", manifest])
}

/// A stage whose workspace is a committed fixture, and the manifest of an evaluation of a lane in it.
pub(crate) struct LaneEvaluation {
    pub(crate) stage: Stage,
    pub(crate) checkout: Checkout,
    lane: &'static str,
}

impl LaneEvaluation {
    pub(crate) fn new(lane: &'static str, prompt: &str) -> Self {
        let mut stage = ready();
        stage.write("prompt.md", prompt);
        stage.write("work/.gitignore", "ignored/*\n");
        stage.write("work/source.txt", "source\n");
        stage.write("work/below/source.txt", "source\n");
        stage.write("work/ignored/.keep", "");
        let work = stage.path("work");
        git(&work, &["init", "-q", "."]);
        git(&work, &["add", "-f", "."]);
        git(&work, &["commit", "-q", "-m", "fixture"]);
        let mut checkout = Checkout::new(&mut stage, PROGRAM, &GLM, &format!("{PROFILE}-{lane}"), "max");
        let is_builder = lane == "builder";
        for (key, value) in [
            ("schema", json!("delegation_glm_lane_evaluation_v1")),
            ("lane", json!(lane)),
            ("max_cost_usd", json!(1.5)),
            ("permission_mode", json!(if is_builder { "acceptEdits" } else { "plan" })),
            ("task_count", json!(6)),
            ("workdir_commit", json!(git(&work, &["rev-parse", "HEAD"]))),
            ("workdir_mode", json!(if is_builder { "writable-fixture" } else { "read-only" })),
            ("max_output_chars", json!(65536)),
        ] {
            checkout.change(key, value);
        }
        Self { stage, checkout, lane }
    }

    /// Puts a schema compiler beside the program: a script with this body.
    pub(crate) fn install_compiler(&self, script: &str) {
        let path = self.checkout.root().join("bin/delegation-schema");
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("written");
        let done = std::process::Command::new("chmod").arg("755").arg(path).status().expect("chmod runs");
        assert!(done.success());
    }

    /// Runs it with the lane under evaluation in both gates.
    pub(crate) fn run(&mut self, more: &[&str]) -> (Finished, String) {
        let (manifest, sha256) = self.checkout.publish_lane(&mut self.stage, &GLM, self.lane);
        let mut words = words(&self.stage, self.lane, &manifest);
        words.extend(more.iter().map(OsString::from));
        (self.stage.run(&words), sha256)
    }
}
