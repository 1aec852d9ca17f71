//! Evaluation of policy-annotation, bound to a manifest (runners.md 1.8, 5.5).

mod support;

use std::ffi::OsString;
use std::fs;

use executors::chat::{DEEPSEEK, QWEN, Service};
use record::Sha256Digest;
use serde_json::{Value, json};
use support::checkout::{Checkout, git};
use support::{Finished, Stage};
use testkit::model_server::{Delivery, ModelServer, RawResponse, Script};

struct Evaluation {
    stage: Stage,
    server: ModelServer,
    service: &'static Service,
    checkout: Checkout,
}

impl Evaluation {
    fn new(service: &'static Service, content: &str, delivery: Delivery) -> Self {
        let (program, effort) = match service.family.program {
            "delegation-qwen" => (env!("CARGO_BIN_EXE_delegation-qwen"), "xhigh"),
            _ => (env!("CARGO_BIN_EXE_delegation-deepseek"), "max"),
        };
        let mut stage = Stage::new(program, service.family.model);
        let body = json!({
            "model": service.family.model,
            "choices": [{"finish_reason": "stop", "message": {"content": content}}],
        });
        let response = RawResponse::json(body.to_string()).delivered(delivery);
        let server = ModelServer::start_with(Script::Raw(response)).expect("a server");
        stage.set(service.base_url_variable, format!("{}/v1", server.url()));
        stage.set(service.key.variable, "sk-sp-planted");
        stage.plant("sk-sp-planted");
        let checkout = Checkout::new(&mut stage, program, &service.family, service.family.model, effort);
        Self { stage, server, service, checkout }
    }

    fn words(&mut self, more: &[&str]) -> (Vec<OsString>, String) {
        let (manifest, sha256) = self.checkout.publish(&mut self.stage, &self.service.family);
        let manifest = manifest.into_os_string().into_string().expect("UTF-8");
        let words = [&["--evaluation", "--evaluation-manifest", &manifest][..], more].concat();
        (self.stage.words("policy-annotation", &words), sha256)
    }

    fn run(&mut self, more: &[&str]) -> (Finished, String) {
        let (words, sha256) = self.words(more);
        (self.stage.run(&words), sha256)
    }

    fn refused(&mut self, words: &str) {
        let (finished, _) = self.run(&[]);
        finished.refused(78, words);
        assert!(self.server.requests().is_empty());
        assert_eq!(self.stage.outputs(), Vec::<String>::new());
    }
}

fn both(content: &str) -> [Evaluation; 2] {
    [&QWEN, &DEEPSEEK].map(|service| Evaluation::new(service, content, Delivery::Whole))
}

#[test]
fn a_success_leaves_receipt_and_marker() {
    for mut evaluation in both("annotated") {
        evaluation.checkout.change("timeout_seconds", 900.into());
        let (finished, sha256) = evaluation.run(&[]);
        assert_eq!((finished.code, finished.stdout.as_str(), finished.stderr.as_str()), (0, "", ""));
        let names = ["answer.txt", "answer.txt.commit.json", "answer.txt.metrics.json"];
        assert_eq!(evaluation.stage.outputs(), names);
        let digest = |name: &str| {
            let path = evaluation.stage.path("out").join(name);
            Sha256Digest::of(&fs::read(path).expect("readable")).to_string()
        };
        let manifest = evaluation.checkout.manifest();
        assert_eq!(
            evaluation.stage.metrics()["evaluation_receipt"],
            json!({
                "schema_version": "delegation_policy_annotation_attempt_receipt_v1",
                "evaluation_manifest_sha256": sha256,
                "prompt_sha256": manifest["prompt_sha256"],
                "runner_source_commit": manifest["runner_source_commit"],
                "runner_sha256": manifest["runner_sha256"],
                "raw_output_sha256": digest("answer.txt"),
                "provider_attempts": 1,
                "post_observation_retries": 0,
            })
        );
        assert_eq!(
            evaluation.stage.json("answer.txt.commit.json").expect("a marker"),
            json!({
                "schema_version": "delegation_policy_annotation_publication_commit_v1",
                "raw_output_sha256": digest("answer.txt"),
                "metrics_sha256": digest("answer.txt.metrics.json"),
                "evaluation_manifest_sha256": sha256,
            })
        );
        let [seen] = evaluation.server.requests().try_into().expect("one request");
        let body: Value = serde_json::from_slice(&seen.body).expect("JSON");
        assert_eq!(body["max_tokens"], 16384);
    }
}

#[test]
fn a_preflight_sends_and_leaves_nothing() {
    for mut evaluation in both("annotated") {
        let (finished, sha256) = evaluation.run(&["--preflight-only"]);
        assert_eq!((finished.code, finished.stderr.as_str()), (0, ""), "{finished:?}");
        let receipt: Value = serde_json::from_str(&finished.stdout).expect("JSON");
        let manifest = evaluation.checkout.manifest();
        assert_eq!(
            receipt,
            json!({
                "schema_version": "delegation_policy_annotation_preflight_receipt_v1",
                "status": "READY_NO_PROVIDER_CALL",
                "profile": manifest["profile"],
                "model": manifest["model"],
                "backend": manifest["backend"],
                "effort": manifest["effort"],
                "lane": "policy-annotation",
                "evaluation_manifest_sha256": sha256,
                "prompt_sha256": manifest["prompt_sha256"],
                "runner_source_commit": manifest["runner_source_commit"],
                "runner_sha256": manifest["runner_sha256"],
                "contract_sha256": manifest["contract_sha256"],
                "output_schema_sha256": manifest["output_schema_sha256"],
                "provider_dispatch_started": false,
                "provider_attempts": 0,
                "post_observation_retries": 0,
            })
        );
        assert!(evaluation.server.requests().is_empty());
        assert_eq!(evaluation.stage.outputs(), Vec::<String>::new());
    }
}

#[test]
fn a_manifest_that_does_not_bind_this_run_is_refused() {
    let zeros = "0".repeat(64);
    for (key, value, said) in [
        ("schema", json!("delegation_policy_annotation_evaluation_v2"), "schema"),
        ("profile", json!("another"), "profile"),
        ("lane", json!("builder"), "lane"),
        ("model", json!("another"), "model"),
        ("backend", json!("another"), "backend"),
        ("effort", json!("low"), "effort"),
        ("effort", Value::Null, "effort is no text"),
        ("prompt_sha256", json!(zeros), "prompt_sha256 is not that"),
        ("prompt_sha256", json!("zz"), "no SHA-256"),
        ("runner_sha256", json!(zeros), "runner_sha256"),
        ("contract_sha256", json!(zeros), "contract_sha256"),
        ("contract_path", json!("../prompt.md"), "contract_path"),
        ("contract_path", json!("/etc/passwd"), "contract_path"),
        ("contract_path", json!("missing.md"), "contract_path"),
        ("contract_path", json!(""), "contract_path"),
        ("output_schema_path", json!("linked.json"), "output_schema_path"),
        ("output_schema_path", json!("bin"), "output_schema_path"),
        ("output_schema_sha256", json!(zeros), "output_schema_sha256"),
        ("runner_source_commit", json!("HEAD"), "runner_source_commit"),
        ("runner_source_commit", json!("0".repeat(40)), "no ancestor"),
        ("timeout_seconds", json!(0), "timeout_seconds"),
        ("timeout_seconds", json!(901), "timeout_seconds"),
        ("timeout_seconds", json!(1.5), "timeout_seconds"),
        ("timeout_seconds", json!("60"), "timeout_seconds"),
        ("max_output_chars", json!(65537), "max_output_chars"),
        ("further", json!(1), "unknown key further"),
    ] {
        let mut evaluation = Evaluation::new(&QWEN, "annotated", Delivery::Whole);
        if key == "output_schema_path" {
            std::os::unix::fs::symlink("schema.json", evaluation.checkout.root().join("linked.json"))
                .expect("a link");
            git(evaluation.checkout.root(), &["add", "."]);
            git(evaluation.checkout.root(), &["commit", "-q", "-m", "second"]);
        }
        evaluation.checkout.change(key, value);
        evaluation.refused(said);
    }
}

#[test]
fn a_manifest_must_be_whole_regular_and_named_by_both_gates() {
    for mut evaluation in both("annotated") {
        let (words, _) = evaluation.words(&[]);
        let manifest = evaluation.stage.path("manifest.json");
        let text = fs::read_to_string(&manifest).expect("readable");
        for (bad, said) in
            [("{", "evaluation manifest"), ("[]", "no JSON object"), ("{}", "schema is missing")]
        {
            fs::write(&manifest, bad).expect("written");
            evaluation.stage.run(&words).refused(78, said);
        }
        // Another digest than the gates name, with the same meaning.
        fs::write(&manifest, format!("{text}\n")).expect("written");
        evaluation.stage.run(&words).refused(78, "not named by both gates");
        fs::write(evaluation.stage.path("elsewhere.json"), &text).expect("written");
        fs::remove_file(&manifest).expect("removed");
        std::os::unix::fs::symlink(evaluation.stage.path("elsewhere.json"), &manifest).expect("a link");
        evaluation.stage.run(&words).refused(78, "no regular file");
        assert!(evaluation.server.requests().is_empty());
    }
}

#[test]
fn the_checkout_must_be_clean() {
    for change in ["untracked.md", "contract.md"] {
        let mut evaluation = Evaluation::new(&DEEPSEEK, "annotated", Delivery::Whole);
        fs::write(evaluation.checkout.root().join(change), "changed").expect("written");
        evaluation.refused("has changes");
        git(evaluation.checkout.root(), &["add", "."]);
        evaluation.refused("has changes");
    }
    let mut evaluation = Evaluation::new(&DEEPSEEK, "annotated", Delivery::Whole);
    fs::remove_dir_all(evaluation.checkout.root().join(".git")).expect("removed");
    evaluation.refused("no usable git checkout");
    // A checkout around the root is not the runner's own.
    git(evaluation.checkout.root().parent().expect("a parent"), &["init", "-q", "."]);
    evaluation.refused("checkout of its own");
}

#[test]
fn a_later_commit_keeps_the_manifest_and_is_named_by_the_receipt() {
    let mut evaluation = Evaluation::new(&QWEN, "annotated", Delivery::Whole);
    git(evaluation.checkout.root(), &["commit", "-q", "--allow-empty", "-m", "second"]);
    let (finished, _) = evaluation.run(&["--preflight-only"]);
    let receipt: Value = serde_json::from_str(&finished.stdout).expect("JSON");
    assert_eq!(receipt["runner_source_commit"], git(evaluation.checkout.root(), &["rev-parse", "HEAD"]));
}

#[test]
fn an_answer_that_is_too_long_is_not_published() {
    for mut evaluation in both("ééééé") {
        evaluation.checkout.change("max_output_chars", 4.into());
        evaluation.run(&[]).0.refused(70, "output_limit_exceeded");
        assert_eq!(evaluation.stage.outputs(), ["answer.txt.error.json"]);
        assert_eq!(evaluation.stage.diagnostic()["phase"], "extract");
        assert_eq!(evaluation.stage.diagnostic()["lane"], "policy-annotation");
    }
    for mut evaluation in both("ééééé") {
        evaluation.checkout.change("max_output_chars", 5.into());
        assert_eq!(evaluation.run(&[]).0.code, 0);
    }
}

#[test]
fn the_manifest_sets_the_deadline() {
    let mut evaluation = Evaluation::new(&QWEN, "annotated", Delivery::Held);
    evaluation.stage.set("DELEGATION_TIMEOUT", "1000");
    evaluation.checkout.change("timeout_seconds", 1.into());
    evaluation.run(&[]).0.refused(75, "deadline_exceeded");
}

#[test]
fn a_marker_that_can_not_be_published_takes_everything_back() {
    for (name, reason) in [
        ("answer.txt", "output_publish_failed"),
        ("answer.txt.metrics.json", "metrics_publish_failed"),
        ("answer.txt.commit.json", "commit_publish_failed"),
    ] {
        let mut evaluation = Evaluation::new(&DEEPSEEK, "annotated", Delivery::Held);
        let (words, _) = evaluation.words(&[]);
        let started = evaluation.stage.start(&words);
        let _ = evaluation.server.wait_for_requests(1);
        fs::write(evaluation.stage.path("out").join(name), "theirs").expect("written");
        evaluation.server.release();
        evaluation.stage.finish(started).refused(70, reason);
        let mut expected = [name, "answer.txt.error.json"];
        expected.sort_unstable();
        assert_eq!(evaluation.stage.outputs(), expected);
        assert_eq!(fs::read(evaluation.stage.path("out").join(name)).expect("readable"), b"theirs");
    }
}

#[test]
fn the_marker_has_a_place_of_its_own() {
    let mut evaluation = Evaluation::new(&QWEN, "annotated", Delivery::Whole);
    let marker = evaluation.stage.path("out/answer.txt.commit.json");
    let (finished, _) = evaluation.run(&["--metrics", marker.to_str().expect("UTF-8")]);
    finished.refused(64, "are the same file");
    fs::write(&marker, "theirs").expect("written");
    evaluation.run(&[]).0.refused(64, "exists");
    evaluation.run(&["--preflight-only"]).0.refused(64, "exists");
}

#[test]
fn a_lane_that_was_promoted_is_not_evaluated_any_more() {
    let mut evaluation = Evaluation::new(&QWEN, "annotated", Delivery::Whole);
    let (words, _) = evaluation.words(&[]);
    let model = evaluation.service.family.model;
    support::gate_files::set_status(
        &mut evaluation.stage,
        evaluation.service.family.gate,
        model,
        "policy-annotation",
        "provisional",
        "explicit-only",
    );
    evaluation.stage.run(&words).refused(78, "is not to be evaluated");
}
