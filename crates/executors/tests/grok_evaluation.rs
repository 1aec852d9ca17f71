//! Evaluation of policy-annotation (runners.md 1.8, 4.3, 4.4).

mod grok_support;
mod support;

use std::ffi::OsString;

use executors::grok::GROK;
use grok_support::{PROGRAM, lock_file, ready, wait_for_starts};
use serde_json::{Value, json};
use support::Stage;
use support::checkout::{Checkout, demand_annotated};
use support::runs::Holder;

/// A stage and the words of an evaluation of a prompt in it.
fn evaluation(prompt: &str, change: impl FnOnce(&mut Checkout)) -> (Stage, Vec<OsString>, String) {
    let mut stage = ready();
    stage.write("prompt.md", prompt);
    let mut checkout = Checkout::new(&mut stage, PROGRAM, &GROK, "grok-build", "high");
    change(&mut checkout);
    let (manifest, sha256) = checkout.publish(&mut stage, &GROK);
    let more = ["--evaluation", "--evaluation-manifest", manifest.to_str().expect("UTF-8")];
    let words = stage.words("policy-annotation", &more);
    (stage, words, sha256)
}

fn count(value: &Value) -> usize {
    value.as_object().expect("an object").len()
}

#[test]
fn an_evaluation_leaves_a_receipt_and_a_commit_marker() {
    let (stage, words, sha256) = evaluation("[[RUN: say annotated]]", |_| {});
    let metrics = demand_annotated(&stage, &words, &sha256);
    assert_eq!(
        (&metrics["sandbox"], &metrics["timeout_seconds"]),
        (&json!("delegation-kit-read-only"), &json!(60))
    );
}

#[test]
fn the_lane_reads_only_and_its_login_is_never_shared() {
    let (stage, mut words, _) =
        evaluation("[[RUN: observe]]", |checkout| checkout.change("max_output_chars", json!(65536)));
    words.extend(["--oauth".into(), "shared".into()]);
    let finished = stage.run(&words);
    assert_eq!(finished.code, 0, "{finished:?}");
    let seen: Value = serde_json::from_slice(&stage.answer().expect("an answer")).expect("JSON");
    let seen = &seen["observed"];
    assert_eq!(seen["variables"].get("GROK_HOME"), None);
    let profiles = seen["texts"]["sandbox.toml"].as_str().expect("text");
    assert!(profiles.starts_with("[profiles.delegation-kit-read-only-"), "{profiles}");
    assert!(profiles.contains("extends = \"read-only\"\nrestrict_network = true"), "{profiles}");
    let arguments = seen["arguments"].as_array().expect("arguments");
    assert!(arguments.contains(&json!("grep,read_file,list_dir")) && !arguments.contains(&json!("--allow")));
}

#[test]
fn an_answer_without_a_model_is_void() {
    let (stage, words, _) = evaluation(r#"[[RUN: set "{\"model\":null}"]]"#, |_| {});
    stage.run(&words).refused(70, "strict_identity_evaluation_void");
    assert_eq!(stage.diagnostic()["phase"], "identity");
    let (stage, words, _) = evaluation(r#"[[RUN: set "{\"model\":\"grok-3\"}"]]"#, |_| {});
    stage.run(&words).refused(70, "provider_identity_mismatch");
}

#[test]
fn an_evaluation_is_bounded_by_its_manifest() {
    let change =
        |key: &'static str, value: u64| move |checkout: &mut Checkout| checkout.change(key, json!(value));
    let (stage, words, _) = evaluation("[[RUN: hang]]", change("timeout_seconds", 1));
    stage.run(&words).refused(75, "timeout");
    let (stage, words, _) = evaluation("[[RUN: say ä]]", change("max_output_chars", 1));
    assert_eq!(stage.run(&words).code, 0, "one character, not two bytes");
    let (stage, words, _) = evaluation("[[RUN: say ab]]", change("max_output_chars", 1));
    stage.run(&words).refused(70, "max_output_chars");
    assert_eq!(stage.diagnostic()["phase"], "extract");
    let (mut stage, words, _) = evaluation("x", change("timeout_seconds", 601));
    stage.set("PATH", "/usr/bin:/bin");
    stage.run(&words).refused(78, "timeout_seconds is no whole number in 1..600");
}

#[test]
fn a_preflight_prints_a_receipt_and_starts_nothing() {
    let (stage, mut words, sha256) = evaluation("[[RUN: exit 1]]", |_| {});
    words.push("--preflight-only".into());
    let finished = stage.run(&words);
    assert_eq!((finished.code, finished.stderr.as_str()), (0, ""), "{finished:?}");
    let receipt: Value = serde_json::from_str(&finished.stdout).expect("JSON");
    assert_eq!(count(&receipt), 16);
    assert_eq!((&receipt["profile"], &receipt["model"]), (&json!("grok-build"), &json!("grok-4.6")));
    assert_eq!(receipt["evaluation_manifest_sha256"], sha256);
    assert_eq!(receipt["provider_dispatch_started"], false);
    assert_eq!(stage.outputs(), Vec::<String>::new());
    assert!(!lock_file(&stage).exists());
    let holder = Holder::of(lock_file(&stage));
    stage.run(&words).refused(75, "another run has the Grok login");
    drop(holder);
    stage.write("work/.grok/config.toml", "[[hooks]]\n");
    stage.run(&words).refused(69, "isolation contaminated");
}

#[test]
fn what_can_not_be_published_takes_everything_back() {
    for (name, reason) in [
        ("answer.txt", "output_finalize_failed"),
        ("answer.txt.metrics.json", "metrics_finalize_failed"),
        ("answer.txt.commit.json", "evaluation_commit_finalize_failed"),
    ] {
        let (stage, words, _) = evaluation("[[RUN: started]] [[RUN: wait go]] [[RUN: say x]]", |_| {});
        let started = stage.start(&words);
        wait_for_starts(&stage, 1);
        stage.write(&format!("out/{name}"), "theirs");
        stage.write("work/go", "");
        stage.finish(started).refused(70, reason);
        let mut left = [name, "answer.txt.error.json"];
        left.sort_unstable();
        assert_eq!(stage.outputs(), left);
    }
}

#[test]
fn an_evaluation_keeps_its_files_out_of_the_workspace() {
    let (stage, mut words, _) = evaluation("x", |_| {});
    let collision = stage.path("out/answer.txt.commit.json");
    words.extend(["--metrics".into(), collision.into()]);
    stage.run(&words).refused(64, "are the same file");
    let at = words.len() - 1;
    words[at] = stage.path("work/metrics.json").into();
    stage.run(&words).refused(64, "lies in the workspace");
    words[at - 1] = "--debug-dir".into();
    words[at] = stage.path("work").into();
    stage.run(&words).refused(64, "lies in the workspace");
}
