//! A checkout to start a runner under evaluation from, and its manifest.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use record::Sha256Digest;
use serde_json::{Value, json};

use super::{Stage, gate_files};

/// A clean checkout in the stage with the program in `bin`, a contract and a schema; the stage runs that program from now on.
pub(crate) struct Checkout {
    root: PathBuf,
    manifest: Value,
}

impl Checkout {
    /// Makes it; the manifest binds the stage's `prompt.md` and the effort and profile given.
    pub(crate) fn new(
        stage: &mut Stage,
        program: &str,
        family: &executors::common::family::Family,
        profile: &str,
        effort: &str,
    ) -> Self {
        let root = stage.path("checkout");
        fs::create_dir_all(root.join("bin")).expect("a directory");
        let copy = root.join("bin").join(family.program);
        // A link would do, were the build folder always on the same file system.
        fs::hard_link(program, &copy).or_else(|_| fs::copy(program, &copy).map(|_| ())).expect("a copy");
        fs::write(root.join(".gitignore"), "/bin/\n").expect("written");
        fs::write(root.join("contract.md"), "Contract.\n").expect("written");
        fs::write(root.join("schema.json"), "{}\n").expect("written");
        git(&root, &["init", "-q", "."]);
        git(&root, &["add", "."]);
        git(&root, &["commit", "-q", "-m", "first"]);
        let digest = |path: &Path| Sha256Digest::of(&fs::read(path).expect("readable")).to_string();
        let manifest = json!({
            "schema": "delegation_policy_annotation_evaluation_v1",
            "profile": profile,
            "lane": "policy-annotation",
            "model": family.model,
            "backend": family.backend(),
            "effort": effort,
            "prompt_sha256": digest(&stage.path("prompt.md")),
            "contract_path": "contract.md",
            "contract_sha256": digest(&root.join("contract.md")),
            "output_schema_path": "schema.json",
            "output_schema_sha256": digest(&root.join("schema.json")),
            "runner_sha256": digest(&copy),
            "runner_source_commit": git(&root, &["rev-parse", "HEAD"]),
            "timeout_seconds": 60,
            "max_output_chars": 100,
        });
        stage.use_program(copy);
        Self { root, manifest }
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn manifest(&self) -> &Value {
        &self.manifest
    }

    /// Changes the manifest.
    pub(crate) fn change(&mut self, key: &str, value: Value) {
        self.manifest[key] = value;
    }

    /// Writes the manifest and lets both gates name it; returns its path and digest.
    pub(crate) fn publish(
        &self,
        stage: &mut Stage,
        family: &executors::common::family::Family,
    ) -> (PathBuf, String) {
        let (text, sha256, profile) = self.text();
        gate_files::allow_manifest(stage, family.gate, &profile, "policy-annotation", &sha256);
        (stage.write("manifest.json", text), sha256)
    }

    /// The same for another lane, which is a candidate then.
    pub(crate) fn publish_lane(
        &self,
        stage: &mut Stage,
        family: &executors::common::family::Family,
        lane: &str,
    ) -> (PathBuf, String) {
        let (text, sha256, profile) = self.text();
        gate_files::allow_candidate(stage, family.gate, &profile, lane, &sha256);
        (stage.write("manifest.json", text), sha256)
    }

    fn text(&self) -> (String, String, String) {
        let text = self.manifest.to_string();
        let sha256 = Sha256Digest::of(text.as_bytes()).to_string();
        (text, sha256, self.manifest["profile"].as_str().expect("a profile").to_owned())
    }
}

/// Runs git in a directory and returns its first line.
pub(crate) fn git(directory: &Path, words: &[&str]) -> String {
    let output = Command::new("git")
        .args(["-c", "user.name=Test", "-c", "user.email=test@example.invalid"])
        .args(words)
        .current_dir(directory)
        .envs([("GIT_CONFIG_NOSYSTEM", "1"), ("GIT_CONFIG_GLOBAL", "/dev/null")])
        .output()
        .expect("git runs");
    assert!(output.status.success(), "git {words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// Demands that an evaluation went well whose answer is `annotated`: a receipt of 8 keys in the metrics, and a commit marker that
/// binds answer, metrics and manifest (runners.md 1.8). Returns the metrics.
pub(crate) fn demand_annotated(stage: &Stage, words: &[OsString], manifest_sha256: &str) -> Value {
    let finished = stage.run(words);
    assert_eq!((finished.code, finished.stderr.as_str()), (0, ""), "{finished:?}");
    let output = stage.answer().expect("an answer");
    assert_eq!(output, b"annotated\n");
    let output = Sha256Digest::of(&output).to_string();
    let receipt = stage.metrics()["evaluation_receipt"].clone();
    assert_eq!(receipt.as_object().expect("an object").len(), 8);
    assert_eq!(receipt["schema_version"], "delegation_policy_annotation_attempt_receipt_v1");
    assert_eq!(receipt["evaluation_manifest_sha256"], manifest_sha256);
    assert_eq!(receipt["raw_output_sha256"], output);
    assert_eq!((&receipt["provider_attempts"], &receipt["post_observation_retries"]), (&json!(1), &json!(0)));
    let metrics = fs::read(stage.path("out/answer.txt.metrics.json")).expect("metrics");
    assert_eq!(
        stage.json("answer.txt.commit.json").expect("a marker"),
        json!({
            "schema_version": "delegation_policy_annotation_publication_commit_v1",
            "raw_output_sha256": output,
            "metrics_sha256": Sha256Digest::of(&metrics).to_string(),
            "evaluation_manifest_sha256": manifest_sha256,
        })
    );
    stage.metrics()
}
