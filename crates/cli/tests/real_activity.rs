//! What `status` says of running turns of the real CLIs, against the model server, in a network that holds loopback only.

mod support;

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use serde_json::Value;
use support::{Lead, until_within};
use testkit::real::{Component, Stage};

/// Silence after which a turn is called silent or waiting.
const SILENCE_SECONDS: f64 = 30.0;
/// Some CLIs take half a minute to begin where they reach no network, and then half a minute of silence must pass.
const PATIENCE: Duration = Duration::from_secs(300);

/// Turns of one CLI that run beside each other, each in a repository of its own.
struct Turns<'a> {
    lead: &'a Lead,
    stage: &'a Stage,
    provider: &'a str,
}

impl Turns<'_> {
    fn begin(&self, name: &str, script: &str) -> String {
        let brief = format!("[[script: {script}]]");
        let mut arguments =
            self.lead.dispatch_arguments(self.provider, &brief, &["--permission", "workspace-write"]);
        let at = arguments.iter().position(|word| word == "--cwd").unwrap() + 1;
        arguments[at] = self.repository(name).to_str().unwrap().to_owned();
        let ran = self.lead.json(arguments);
        assert_eq!(ran.code, 0, "{ran:?}");
        ran.answer()["task_id"].as_str().unwrap().to_owned()
    }

    fn repository(&self, name: &str) -> PathBuf {
        let path = self.stage.workspace().join(name);
        fs::create_dir(&path).unwrap();
        let mut git = Command::new("git");
        git.args(["init", "--quiet"]).arg(&path).env_clear().envs(self.stage.environment());
        assert!(git.status().unwrap().success());
        path
    }

    /// What the turn does now.
    fn activity(&self, id: &str) -> Value {
        let answer = self.lead.json(["status", id]).answer();
        assert_eq!(answer["publication"], "none", "it ended early: {answer}");
        answer["activity"].clone()
    }

    /// Waits for the word on a turn.
    fn becomes(&self, id: &str, word: &str) -> Value {
        until_within(PATIENCE, word, || {
            Some(self.activity(id)).filter(|activity| activity["diagnosis"] == word)
        })
    }
}

/// A CLI prints nothing of an answer before that is complete, or nothing of a tool before that has ended; only what its
/// processes and connections do tells a turn that goes on from one that hangs.
fn every_turn_gets_its_word(component: Component, provider: &str, tool_outlives_silence: bool) {
    let name = format!("every_turn_gets_its_word_{}", component.name());
    let Some(stage) = Stage::for_test(&name, component) else { return };
    let lead = Lead::on(&stage);
    let turns = Turns { lead: &lead, stage: &stage, provider };
    let streams = turns.begin("streams", "slow deltas=6000 gap_ms=100");
    // The first turn makes what the CLI keeps in its home; others at once would be in its way.
    turns.becomes(&streams, "model-working");
    let waits = turns.begin("waits", "hang");
    let busy = turns.begin("busy", "shell \"while :; do sleep 0.1; done\"");
    let hangs = tool_outlives_silence.then(|| turns.begin("hangs", "shell \"tail -f /dev/null\""));
    turns.becomes(&busy, "tool-running");
    if let Some(hangs) = &hangs {
        turns.becomes(hangs, "tool-running");
    }

    let waiting = turns.becomes(&waits, "waiting");
    assert!(waiting["idle_seconds"].as_f64().unwrap() > SILENCE_SECONDS, "{waiting}");
    if let Some(hangs) = &hangs {
        turns.becomes(hangs, "tool-silent");
        assert_eq!(turns.activity(&busy)["diagnosis"], "tool-running");
    }
    // It has run longer than any silence by now.
    let streaming = turns.activity(&streams);
    assert!(streaming["elapsed_seconds"].as_f64().unwrap() > SILENCE_SECONDS, "{streaming}");
    assert_eq!(streaming["diagnosis"], "model-working", "{streaming}");
}

#[test]
fn every_turn_of_claude_gets_its_word() {
    every_turn_gets_its_word(Component::Claude, "claude:print", true);
}

#[test]
fn every_turn_of_codex_gets_its_word() {
    // It ends a tool after ten seconds itself.
    every_turn_gets_its_word(Component::Codex, "codex:exec", false);
}

#[test]
fn every_turn_of_opencode_gets_its_word() {
    every_turn_gets_its_word(Component::Opencode, "opencode:run", true);
}

#[test]
fn every_turn_of_pi_gets_its_word() {
    every_turn_gets_its_word(Component::Pi, "pi:json", true);
}
