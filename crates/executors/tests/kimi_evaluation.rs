//! Evaluation of policy-annotation (runners.md 1.8, 3.8).

mod kimi_support;
mod support;

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;

use executors::kimi::KIMI;
use kimi_support::{PROGRAM, install, lock_file, login, ready, wait_for_start};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use support::checkout::{Checkout, demand_annotated};
use support::runs::clear;
use support::{Stage, gate_files};
use testkit::watch::until_below;

/// A stage and the words of an evaluation of a prompt in it.
fn evaluation(prompt: &str, change: impl FnOnce(&mut Checkout)) -> (Stage, Vec<OsString>, String) {
    let mut stage = ready();
    stage.write("prompt.md", prompt);
    let mut checkout = Checkout::new(&mut stage, PROGRAM, &KIMI, "kimi-k3", "max");
    change(&mut checkout);
    let (manifest, sha256) = checkout.publish(&mut stage, &KIMI);
    let more = ["--evaluation", "--evaluation-manifest", manifest.to_str().expect("UTF-8")];
    let words = stage.words("policy-annotation", &more);
    (stage, words, sha256)
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().expect("an object").keys().map(String::as_str).collect()
}

#[test]
fn an_evaluation_leaves_a_receipt_and_a_commit_marker() {
    let (stage, words, sha256) = evaluation("[[KIMI: say annotated]]", |_| {});
    demand_annotated(&stage, &words, &sha256);
}

#[test]
fn the_lane_has_no_tools_and_its_login_is_never_shared() {
    let (mut stage, mut words, _) =
        evaluation("[[KIMI: observe]]", |checkout| checkout.change("max_output_chars", json!(65536)));
    stage.set("DELEGATION_KIMI_OAUTH_MODE", "shared");
    words.extend(["--oauth".into(), "shared".into()]);
    let finished = stage.run(&words);
    assert_eq!(finished.code, 0, "{finished:?}");
    assert_eq!(stage.metrics()["oauth_refresh_persistence"], "serialized-atomic-sync");
    assert_eq!(stage.metrics()["write_scope"], "scratch");
    let seen: Value = serde_json::from_slice(&stage.answer().expect("an answer")).expect("JSON");
    let config: toml::Table = seen["observed"]["config"].as_str().expect("text").parse().expect("TOML");
    let config = serde_json::to_value(config).expect("JSON");
    assert_eq!(config["loop_control"]["max_steps_per_turn"], 30);
    let enabled = config["tools"]["enabled"].as_array().expect("a list");
    let disabled = config["tools"]["disabled"].as_array().expect("a list");
    // An empty list would enable everything.
    assert!(!enabled.is_empty() && enabled.iter().all(|tool| disabled.contains(tool)));
    assert!(seen["observed"]["agent"].as_str().expect("text").contains("tools: []\n"));
}

#[test]
fn a_preflight_prints_a_receipt_and_starts_nothing() {
    let (stage, mut words, sha256) = evaluation("[[KIMI: say x]]", |_| {});
    words.push("--preflight-only".into());
    let finished = stage.run(&words);
    assert_eq!((finished.code, finished.stderr.as_str()), (0, ""), "{finished:?}");
    let receipt: Value = serde_json::from_str(&finished.stdout).expect("JSON");
    assert_eq!(keys(&receipt).len(), 16);
    assert_eq!(receipt["status"], "READY_NO_PROVIDER_CALL");
    assert_eq!(receipt["evaluation_manifest_sha256"], sha256);
    assert_eq!(receipt["profile"], "kimi-k3");
    assert_eq!(receipt["provider_dispatch_started"], false);
    assert_eq!(stage.outputs(), Vec::<String>::new());
    assert!(!lock_file(&stage).exists());
    install(&stage, json!({"role": "kimi", "effort": "high"}));
    stage.run(&words).refused(69, "effort max");
}

#[test]
fn an_evaluation_ends_at_the_limit_of_its_manifest() {
    let (stage, words, _) =
        evaluation("[[KIMI: hang]]", |checkout| checkout.change("timeout_seconds", json!(1)));
    stage.run(&words).refused(75, "evaluation_timeout");
    assert_eq!(stage.diagnostic()["vendor_exit_code"], Value::Null);
    assert!(!lock_file(&stage).exists());
}

#[test]
fn a_cancel_in_the_last_grace_is_obeyed_at_once_and_the_login_is_kept() {
    let (mut stage, words, _) = evaluation("[[KIMI: rotate kept]] [[KIMI: stubborn]]", |checkout| {
        checkout.change("timeout_seconds", json!(3));
    });
    stage.set("DELEGATION_KIMI_CANCEL_GRACE_SECONDS", "600");
    let started = stage.start(&words);
    until_below(&stage.path("tmp"), "a child that was told", || {
        let entries = fs::read_dir(stage.path("tmp")).expect("a directory").flatten();
        entries.map(|entry| entry.path().join("scratch/told")).find(|path| path.exists())
    });
    let runner = Pid::from_raw(started.pid().cast_signed()).expect("a number");
    kill_process(runner, Signal::TERM).expect("told");
    stage.finish(started).refused(130, "caller_cancelled");
    assert_eq!(stage.diagnostic()["oauth_sync"], "ok");
    assert!(login(&stage).contains("refresh-rotated-kept"));
    assert!(!lock_file(&stage).exists());
}

#[test]
fn an_answer_that_is_too_long_is_none() {
    let (stage, words, _) =
        evaluation("[[KIMI: say ä]]", |checkout| checkout.change("max_output_chars", json!(1)));
    assert_eq!(stage.run(&words).code, 0, "one character, not two bytes");
    let (stage, words, _) =
        evaluation("[[KIMI: say ab]]", |checkout| checkout.change("max_output_chars", json!(1)));
    stage.run(&words).refused(70, "output_too_large");
    assert_eq!(stage.diagnostic()["phase"], "output");
}

#[test]
fn a_marker_that_can_not_be_published_takes_everything_back() {
    let (stage, words, _) = evaluation("[[KIMI: started]] [[KIMI: wait go]] [[KIMI: say x]]", |_| {});
    let started = stage.start(&words);
    wait_for_start(&stage);
    stage.write("out/answer.txt.commit.json", "theirs");
    stage.write("work/go", "");
    stage.finish(started).refused(70, "evaluation_commit_finalize_failed");
    assert_eq!(stage.outputs(), ["answer.txt.commit.json", "answer.txt.error.json", "answer.txt.stderr"]);
}

#[test]
fn the_manifest_is_checked_before_the_runtime() {
    let (mut stage, mut words, _) =
        evaluation("x", |checkout| checkout.change("timeout_seconds", json!(1201)));
    stage.set("PATH", "/usr/bin:/bin");
    stage.run(&words).refused(78, "timeout_seconds is no whole number in 1..1200");
    let metrics: PathBuf = stage.path("out/answer.txt.commit.json");
    words.extend(["--metrics".into(), metrics.into()]);
    stage.run(&words).refused(78, "timeout_seconds");
}

#[test]
fn metrics_can_not_lie_where_the_marker_goes() {
    let (stage, mut words, _) = evaluation("x", |_| {});
    let metrics: PathBuf = stage.path("out/answer.txt.commit.json");
    words.extend(["--metrics".into(), metrics.into()]);
    stage.run(&words).refused(64, "are the same file");
}

#[test]
fn no_other_lane_is_evaluated() {
    let mut stage = ready();
    stage.unset("PATH");
    let more = ["--evaluation", "--evaluation-manifest", "/nowhere"];
    for lane in ["judgement", "reviewer", "senior", "clerk", "builder"] {
        stage.run_lane(lane, &more).refused(78, "is not to be evaluated");
    }
    stage.run_lane("policy-annotation", &more).refused(78, "evaluation manifest");
    gate_files::set_status(&mut stage, KIMI.gate, "kimi-k3", "policy-annotation", "disabled", "blocked");
    stage.run_lane("policy-annotation", &more).refused(78, "is not to be evaluated");
    clear(&stage);
}
